package dashboard

import (
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
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
	events, err := v.events(l, p)
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Events", layout.SectionEvents)
	if err != nil {
		return err
	}
	frame.Live = v.live()
	view := page.Events{
		Frame: frame, Now: v.now(), Path: l.path, Views: l.eventViews(),
		Period: l.filter(p, "Received", l.usualPeriod()), Wider: l.wider(p),
		Filtered: l.has(eventParams...), Clear: l.cleared(),
	}
	view.Process = v.processAll(l)
	events, view.Newest, view.Older = shown(l, events, func(e gateway.Event) string { return e.ID.String() })
	if view.Rows, err = v.eventRows(events); err != nil {
		return err
	}
	if err := v.eventChoices(l, &view); err != nil {
		return err
	}
	return v.page(page.EventsPage(view))
}

// eventParams are what a list of events is narrowed by, besides time.
var eventParams = []string{paramStatus, "type", paramSource, "subject", "key"}

const (
	paramStatus = "status"
	paramSource = "source"
	// heldAtSource is what an event's own status held is called, where that of
	// its deliveries could be taken for it.
	heldAtSource = "Held at source"
)

// eventListing reads the address of a list of events. Only what is a status or
// a source's id stays in it.
func (v *visit) eventListing() listing {
	l := v.listing(v.at("events"), eventParams...)
	l.query[paramStatus] = slices.DeleteFunc(l.query[paramStatus], func(status string) bool {
		return !slices.Contains(gateway.EventStatuses, gateway.EventStatus(status))
	})
	slices.Sort(l.query[paramStatus])
	l.query[paramStatus] = slices.Compact(l.query[paramStatus])
	return l
}

// usualPeriod is all time where one thing is asked for by its name, and the
// last day where the list is to be read.
func (l listing) usualPeriod() string {
	if l.has("subject", "key") {
		return rangeAll
	}
	return usualRange
}

// events reads a page of events, and one more. Of several statuses each is
// asked for by itself, with an index that has it in order.
func (v *visit) events(l listing, p period) ([]gateway.Event, error) {
	filter, ok := l.eventFilter()
	if !ok {
		return nil, nil
	}
	pg := asked[gateway.EventID](l)
	pg.Since, pg.Until = p.since, p.until
	statuses := l.query[paramStatus]
	if len(statuses) == 0 {
		statuses = []string{""}
	}
	var events []gateway.Event
	for _, status := range statuses {
		filter.Status = gateway.EventStatus(status)
		some, err := v.d.Store.Events(v.ctx(), v.account(), filter, pg)
		if err != nil {
			return nil, err
		}
		events = append(events, some...)
	}
	if len(statuses) > 1 {
		slices.SortFunc(events, func(a, b gateway.Event) int { return b.ID.Compare(a.ID) })
	}
	return events[:min(len(events), pg.Limit)], nil
}

// eventFilter is what the list is narrowed by, but for statuses; not ok when
// nothing can match.
func (l listing) eventFilter() (f store.EventFilter, ok bool) {
	f = store.EventFilter{Type: l.get("type"), Subject: l.get("subject")}
	if key := l.query.Get("key"); key != "" {
		f.Key = []byte(key)
	}
	if l.has(paramSource) {
		id, err := gateway.ParseID[gateway.SourceID](l.get(paramSource))
		if err != nil {
			return f, false
		}
		f.Source = &id
	}
	readable := (f.Type != "") == l.has("type") && (f.Subject != "") == l.has("subject")
	return f, readable
}

// eventViews are the statuses that are looked at most.
func (l listing) eventViews() []component.Choice {
	views := []struct {
		text     string
		statuses []gateway.EventStatus
	}{
		{"All events", nil},
		{"Needs attention", []gateway.EventStatus{gateway.EventRuleError, gateway.EventUnresolved}},
		{"No endpoints", []gateway.EventStatus{gateway.EventNoEndpoints}},
		{heldAtSource, []gateway.EventStatus{gateway.EventHeld}},
		{"Being decided", []gateway.EventStatus{gateway.EventAccepted}},
	}
	choices := make([]component.Choice, len(views))
	for i, view := range views {
		names := make([]string, len(view.statuses))
		for n, status := range view.statuses {
			names[n] = string(status)
		}
		choices[i] = component.Choice{
			Text: view.text, Href: l.with(paramStatus, names...), Current: slices.Equal(names, l.query[paramStatus]),
		}
	}
	return choices
}

// eventChoices adds what the filters offer, and what an empty page says.
func (v *visit) eventChoices(l listing, view *page.Events) error {
	statuses := make([]component.Option, len(gateway.EventStatuses))
	for i, status := range gateway.EventStatuses {
		statuses[i] = component.Option{Value: string(status), Label: component.Word(status)}
		if status == gateway.EventHeld { // and not its deliveries
			statuses[i].Label = heldAtSource
		}
	}
	view.Statuses, view.StatusText = l.pick(paramStatus, statuses)
	sources, err := v.sourceOptions()
	if err != nil {
		return err
	}
	view.Sources, view.SourceText = l.pick(paramSource, sources)
	view.Sources = orAny(view.Sources)
	view.Type = l.text("Type", "type", "The whole type, such as order.created.")
	view.Type.Suggestions = typesOf(view.Rows)
	view.Subject = l.text("Subject", "subject", "What the event is about, exactly.")
	view.Key = l.text("Key", "key", "The idempotency key, exactly.")
	if len(view.Rows) > 0 {
		return nil
	}
	first, err := v.d.Store.Events(v.ctx(), v.account(), store.EventFilter{}, store.Page[gateway.EventID]{Limit: 1})
	view.None = len(first) == 0
	view.NewSource, view.NewEndpoint = v.addHref("sources"), v.addHref("endpoints")
	view.Curl = publishCommand(v.d.BaseURL)
	return err
}

// typesOf lists the types of a page, each once.
func typesOf(rows []page.EventRow) []string {
	var types []string
	for _, row := range rows {
		types = append(types, row.Type)
	}
	slices.Sort(types)
	return slices.Compact(types)
}
