package dashboard

import (
	"net/url"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	paramGroup = "group"
	paramState = "state"
	// paramCause narrows a list to one cause.
	paramCause = "cause"
)

// failureRange is a time of events that the page can be narrowed to.
type failureRange struct {
	name, text string
	// length is zero for all time.
	length time.Duration
}

var failureRanges = []failureRange{
	{"24h", "24 hours", 24 * time.Hour},
	{"7d", "7 days", 7 * 24 * time.Hour},
	{"", "All time", 0},
}

// failureView is what the address of the page asks for.
type failureView struct {
	listing

	state, group string
	span         failureRange
}

func (v *visit) failureView() failureView {
	f := failureView{listing: v.listing(v.at("failures"), paramGroup, paramState)}
	f.state = f.oneOf(paramState, page.FailuresOpen, page.FailuresRetrying, page.FailuresDismissed)
	f.group = f.oneOf(paramGroup, page.ByEndpoint, page.ByCause, page.Ungrouped)
	for _, f.span = range failureRanges {
		if f.span.name == f.get(paramSince) {
			break
		}
	}
	return f
}

// oneOf is a parameter that has few values, of which the first is the usual one.
func (l listing) oneOf(name string, values ...string) string {
	for _, value := range values {
		if l.get(name) == value {
			return value
		}
	}
	return values[0]
}

// filter is what is grouped.
func (f failureView) filter() store.FailureFilter {
	filter := store.FailureFilter{Step: trendStep}
	if f.span.length > 0 {
		filter.Since = f.now.Add(-f.span.length)
	}
	return filter
}

// showFailures is the page of what failed, grouped by endpoint or cause.
func showFailures(v *visit) error {
	f := v.failureView()
	var failed, retrying []store.FailureGroup
	var failedMore, retryingMore bool
	err := atOnce(
		func() (err error) {
			failed, failedMore, err = v.d.Store.Failures(v.ctx(), v.account(), f.filter())
			return err
		},
		func() (err error) {
			retrying, retryingMore, err = v.d.Store.Retrying(v.ctx(), v.account(), f.filter())
			return err
		},
	)
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Failures", layout.SectionFailures)
	if err != nil {
		return err
	}
	frame.Live = v.live()
	view := page.Failures{
		Frame: frame, Now: v.now(), State: f.state, Group: f.group, Manages: v.operates(),
		Narrowed: f.span.length > 0, Wider: f.with(paramSince),
	}
	view.Numbers = failureNumbers(failed, retrying)
	view.Numbers.FailedMore, view.Numbers.RetryingMore = failedMore, retryingMore
	f.addFailureViews(&view)
	groups := retrying
	if f.state != page.FailuresRetrying {
		groups = dismissedOrNot(failed, f.state == page.FailuresDismissed)
	}
	if view.Cards, view.Hidden, err = v.failureCards(f, groups); err != nil {
		return err
	}
	if len(view.Cards) == 0 {
		day, err := v.d.Store.Totals(v.ctx(), v.account(), nil, store.LastSteps(v.now(), 96, 15*time.Minute))
		if view.Sent = day.Succeeded; err != nil {
			return err
		}
	}
	return v.page(page.FailuresPage(view))
}

// dismissedOrNot are the groups that are dismissed, or those that are not.
func dismissedOrNot(groups []store.FailureGroup, dismissed bool) (some []store.FailureGroup) {
	for _, g := range groups {
		if g.Dismissed() == dismissed {
			some = append(some, g)
		}
	}
	return some
}

// failureNumbers adds the numbers of all groups together.
func failureNumbers(failed, retrying []store.FailureGroup) (n page.FailureNumbers) {
	affected := map[gateway.EndpointID]bool{}
	for i := range failed {
		g := &failed[i]
		if g.Dismissed() {
			n.Dismissed += g.Count
			continue
		}
		n.Open += g.Count
		affected[g.EndpointID] = true
		if n.Newest == nil || g.Last.After(*n.Newest) {
			n.Newest = &g.Last
		}
	}
	for _, g := range retrying {
		n.Retrying += g.Count
		affected[g.EndpointID] = true
		if g.Endpoint.State != gateway.EndpointActive {
			n.Held += g.Count // it is due perhaps, but nothing is sent
			continue
		}
		if n.Next == nil || g.NextAttemptAt != nil && g.NextAttemptAt.Before(*n.Next) {
			n.Next = g.NextAttemptAt
		}
	}
	n.Affected = len(affected)
	return n
}

// addFailureViews adds the links that choose, group and narrow.
func (f failureView) addFailureViews(view *page.Failures) {
	n := view.Numbers
	choice := func(name, usual, value, now, text string) component.Choice {
		c := component.Choice{Text: text, Href: f.with(name, value), Current: value == now}
		if value == usual {
			c.Href = f.with(name)
		}
		return c
	}
	state := func(value, text string, count int, tone component.Tone) {
		c := choice(paramState, page.FailuresOpen, value, f.state, text)
		c.Count = component.Number(count)
		if count > 0 {
			c.Tone = tone
		}
		view.States = append(view.States, c)
	}
	state(page.FailuresOpen, "Open", n.Open, component.ToneBad)
	state(page.FailuresRetrying, "Retrying", n.Retrying, "")
	state(page.FailuresDismissed, "Dismissed", n.Dismissed, "")
	view.Groups = []component.Choice{
		choice(paramGroup, page.ByEndpoint, page.ByEndpoint, f.group, "By endpoint"),
		choice(paramGroup, page.ByEndpoint, page.ByCause, f.group, "By cause"),
		choice(paramGroup, page.ByEndpoint, page.Ungrouped, f.group, "Ungrouped"),
	}
	for _, r := range failureRanges {
		view.Ranges = append(view.Ranges, choice(paramSince, "", r.name, f.span.name, r.text))
	}
}

// withAll is an address with the parameters that have a value.
func withAll(at string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return at
	}
	return at + "?" + q.Encode()
}
