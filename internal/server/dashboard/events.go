package dashboard

import (
	"errors"
	"slices"

	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/search"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// listEvents is the page of what came in.
func listEvents(v *visit) error {
	l := v.eventListing()
	if l.untidy {
		return v.redirect(l.address(l.query))
	}
	p := l.period(l.usualPeriod())
	frame, _, err := v.frame("Events", layout.SectionEvents)
	if err != nil {
		return err
	}
	frame.Live = v.live()
	view := page.Events{
		Frame: frame, Now: v.now(), Path: l.path,
		Period: l.filter(p, "Received", l.usualPeriod()), Wider: l.wider(p),
		Filtered: l.has(eventParams...), Clear: l.cleared(),
	}
	view.Process = v.processAll(l)
	if err := v.fillEvents(l, p, &view); err != nil {
		return err
	}
	if err := v.eventChoices(l, &view); err != nil {
		return err
	}
	return v.page(page.EventsPage(view))
}

// fillEvents adds what was found, or why nothing was looked for.
func (v *visit) fillEvents(l listing, p period, view *page.Events) error {
	q, ok, wrong := l.eventQuery(p)
	view.Search = page.SearchField{Value: l.get(paramSearch)}
	if wrong != nil {
		view.Search.Error = sentence(wrong.Error())
		return nil
	}
	var part explore.Part
	if ok {
		err := atOnce(
			func() (err error) {
				part, err = v.d.Explore.Find(v.ctx(), v.account(), q, after[gateway.EventID](l), pageRows)
				return err
			},
			func() (err error) { view.Chart, err = v.eventChart(l, q); return err },
		)
		if errors.Is(err, gateway.ErrRateLimited) {
			view.Search.Error, view.Chart = "Several searches of this account run already. Try again in a moment.", nil
			return nil
		}
		if err != nil {
			return err
		}
	}
	view.Newest = l.newest()
	if part.Next != nil {
		view.Older = l.older(part.Next.String())
	}
	if part.Stopped {
		view.Looked = &page.Looked{Events: part.Looked, Until: part.Next.Time()}
	}
	var err error
	if view.Rows, err = v.eventRows(part.Events); err != nil {
		return err
	}
	v.addEventBulk(l, p, q, view)
	if len(view.Rows) == 0 && !part.Stopped {
		return v.lookWider(l, p, q, view)
	}
	return nil
}

const (
	paramStatus = "status"
	paramSource = "source"
	// paramSearch is what was typed to find events by.
	paramSearch = "q"
	// heldAtSource is what an event's own status held is called, where that of
	// its deliveries could be taken for it.
	heldAtSource = "Held at source"
)

// eventParams are what a list of events is narrowed by, besides time.
var eventParams = []string{paramSearch, paramStatus, "type", paramSource, paramEndpoint, "subject", "key"}

// eventListing reads the address of a list of events. Only what is a status, or
// how far an event can get, stays in it as one.
func (v *visit) eventListing() listing {
	l := v.listing(v.at("events"), eventParams...)
	l.query[paramStatus] = slices.DeleteFunc(l.query[paramStatus], func(status string) bool {
		return !slices.Contains(gateway.EventStatuses, gateway.EventStatus(status)) && !slices.Contains(gateway.Progresses, gateway.Progress(status))
	})
	slices.Sort(l.query[paramStatus])
	l.query[paramStatus] = slices.Compact(l.query[paramStatus])
	return l
}

// usualPeriod is all time where something is looked for by what it is called, and
// the last day where the list is to be read.
func (l listing) usualPeriod() string {
	if l.has("subject", "key", paramSearch) {
		return rangeAll
	}
	return usualRange
}

// eventQuery is what a list of events is narrowed to. It is not ok when nothing
// can match; wrong is what is wrong with what was typed.
func (l listing) eventQuery(p period) (q explore.Query, ok bool, wrong error) {
	filter, ok := l.eventFilter()
	q = explore.Query{Type: filter.Type, Subject: filter.Subject, Key: filter.Key, Source: filter.Source, Since: p.since, Until: p.until}
	for _, status := range l.query[paramStatus] {
		if progress := gateway.Progress(status); slices.Contains(gateway.Progresses, progress) {
			q.Progress = append(q.Progress, progress)
		} else {
			q.Statuses = append(q.Statuses, gateway.EventStatus(status))
		}
	}
	if l.has(paramEndpoint) {
		id, err := gateway.ParseID[gateway.EndpointID](l.get(paramEndpoint))
		q.Endpoint, ok = &id, ok && err == nil
	}
	q.Search, wrong = search.Parse(l.query.Get(paramSearch))
	return q, ok, wrong
}

// lookWider offers the next longer time in which there is something, and says how
// much.
func (v *visit) lookWider(l listing, p period, q explore.Query, view *page.Events) error {
	for next, ok := l.nextPeriod(p); ok; next, ok = l.nextPeriod(next) {
		q.Since, q.Until = next.since, next.until
		part, err := v.d.Explore.Find(v.ctx(), v.account(), q, nil, pageRows)
		if errors.Is(err, gateway.ErrRateLimited) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(part.Events) > 0 {
			view.Wider = l.choiceOf(next)
			view.WiderText = page.WiderText(len(part.Events), part.Next != nil, next.text())
			return nil
		}
		if part.Stopped {
			return nil
		}
	}
	return nil
}
