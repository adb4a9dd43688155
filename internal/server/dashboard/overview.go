package dashboard

import (
	"fmt"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// troubledRows and activityRows are how many of them the overview shows: of
	// endpoints and claims that need somebody, and of what was done.
	troubledRows = 5
	activityRows = 8
	// calmEndpoints is how many endpoints are looked at when none is troubled.
	calmEndpoints = 100
	// trendPoints is how many points a line of a few pixels has at the most.
	trendPoints = 24
	// maxCounted bounds what is counted rather than added up.
	maxCounted = 10_000
)

func showOverview(v *visit) error {
	l := v.figures()
	chosen := l.chartSpan()
	view := page.Overview{Now: v.now(), Range: chosen.words, Per: chosen.per}
	firsts, err := v.d.Store.Firsts(v.ctx(), v.account())
	if err != nil {
		return err
	}
	if !firsts.Delivered {
		if view.Start, err = v.firstSteps(firsts); err != nil {
			return err
		}
	}
	if view.Frame, _, err = v.frame("Overview", layout.SectionOverview); err != nil {
		return err
	}
	view.Live = v.live()
	if view.StuckClaims, err = v.longestStuck(view.Stuck); err != nil {
		return err
	}
	view.Quiet = !firsts.Event && !firsts.Delivered
	if !view.Quiet {
		view.Calm.Sent = firsts.Delivered
		if err := v.fillOverview(&view, l); err != nil {
			return err
		}
	}
	return v.page(page.OverviewPage(view))
}

// longestStuck are the claims that need somebody for longest, of so many.
func (v *visit) longestStuck(n int) ([]page.ClaimRow, error) {
	if n == 0 {
		return nil, nil
	}
	claims, err := v.d.Store.LongestStuck(v.ctx(), v.account(), troubledRows)
	if err != nil {
		return nil, err
	}
	return v.claimRows(claims)
}

// fillOverview adds what there is once something has happened. Whatever does not
// need the others is read at the same time.
func (v *visit) fillOverview(view *page.Overview, l listing) error {
	chosen := l.chartSpan()
	w := store.LastSteps(view.Now, chosen.steps, chosen.step)
	err := atOnce(
		func() error { return v.addNumbers(view, l, w) },
		func() (err error) { view.Troubled, err = v.troubled(w); return err },
		func() error { return v.addBusiest(view, chosen) },
		func() (err error) { view.Activity, err = v.activity(activityRows); return err },
	)
	if err != nil {
		return err
	}
	view.Numbers.Failed, view.Numbers.FailedMore = view.Failed, view.FailedMore
	if len(view.Troubled) > troubledRows {
		view.Troubled, view.MoreTroubled = view.Troubled[:troubledRows], true
	}
	if len(view.Troubled) > 0 {
		return nil
	}
	view.Calm.Sent = view.Calm.Sent || view.Numbers.Attempts > 0
	return v.calm(&view.Calm)
}

// addNumbers adds the chart of a window, and its numbers.
func (v *visit) addNumbers(view *page.Overview, l listing, w store.Window) error {
	bins, err := v.d.Store.Series(v.ctx(), v.account(), nil, w)
	if err != nil {
		return err
	}
	view.Chart = l.chart(w, bins, v.eventsBetween)
	view.Numbers, err = v.overviewNumbers(w, bins)
	return err
}

// eventsBetween is the list of the events of a bar's time.
func (v *visit) eventsBetween(since, until time.Time) string {
	return listing{path: v.at("events")}.between(since, until)
}

// calm looks at the endpoints when none of them is troubled.
func (v *visit) calm(c *page.Calm) error {
	endpoints, err := v.d.Store.Endpoints(v.ctx(), v.account(), store.Page[gateway.EndpointID]{Limit: calmEndpoints + 1})
	if err != nil {
		return err
	}
	if len(endpoints) > calmEndpoints {
		endpoints, c.More = endpoints[:calmEndpoints], true
	}
	c.Endpoints = len(endpoints)
	for _, e := range endpoints {
		if e.State == gateway.EndpointPaused {
			c.Paused++
		}
		c.Resumed = c.Resumed || !e.StateChangedAt.Equal(e.CreatedAt)
	}
	return nil
}

// firstSteps is the checklist of an account to which nothing was delivered yet.
func (v *visit) firstSteps(f store.Firsts) (*page.Start, error) {
	first, _, _ := strings.Cut(v.person().Name, " ")
	start := &page.Start{
		Source: f.Source, Endpoint: f.Endpoint, Event: f.Event, Delivered: f.Delivered,
		Person: component.Shorten(first, 40), Manages: v.manages(), Publish: publishCommand(v.d.BaseURL),
	}
	if f.Event {
		return start, v.firstEvents(start)
	}
	if !f.Source || !v.may(gateway.PermReveal) { // the address is a secret where nothing is signed
		return start, nil
	}
	newest, err := v.d.Store.Sources(v.ctx(), v.account(), store.Page[gateway.SourceID]{Limit: 1})
	if err != nil || len(newest) == 0 || newest[0].Kind == gateway.SourceKindAPI {
		return start, err
	}
	s := newest[0]
	start.Ingest = page.StartSource{
		Name: s.Name, Kind: s.Kind, URL: v.d.BaseURL + gateway.IngestPath + s.Token, Path: v.at("sources", s.ID.String()),
	}
	return start, nil
}

// firstEvents finds the newest event, and the newest that no endpoint asked for.
func (v *visit) firstEvents(start *page.Start) error {
	for _, look := range []struct {
		status gateway.EventStatus
		path   *string
	}{{"", &start.Newest}, {gateway.EventNoEndpoints, &start.Unasked}} {
		events, err := v.d.Store.Events(v.ctx(), v.account(), store.EventFilter{Status: look.status}, store.Page[gateway.EventID]{Limit: 1})
		if err != nil {
			return err
		}
		if len(events) > 0 {
			*look.path = v.at("events", events[0].ID.String())
		}
	}
	return nil
}

// publishCommand sends an event in, as it is pasted: a second later it is
// another one.
func publishCommand(baseURL string) string {
	return fmt.Sprintf(`curl %s/api/v1/events \
  -H "Authorization: Bearer $ROWLOCK_API_KEY" \
  -H "Content-Type: application/json" \
  -H "Idempotency-Key: hello-$(date +%%s)" \
  -d '{"type":"demo.hello","data":{"n":1}}'`, baseURL)
}
