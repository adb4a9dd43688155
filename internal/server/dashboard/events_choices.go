package dashboard

import (
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// eventFilter is what an index of events leads to, but for statuses; not ok when
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

// eventViews are the statuses that are looked at most, and the views that the
// person has saved.
func (v *visit) eventViews(l listing, view *page.Events) error {
	views := []struct {
		text     string
		statuses []string
	}{
		{"All events", nil},
		{"Failed", []string{string(gateway.ProgressFailed)}},
		{"Retrying", []string{string(gateway.ProgressRetrying)}},
		{"Needs attention", []string{string(gateway.EventRuleError), string(gateway.EventUnresolved)}},
		{"No endpoints", []string{string(gateway.EventNoEndpoints)}},
		{heldAtSource, []string{string(gateway.EventHeld)}},
		{"Being decided", []string{string(gateway.EventAccepted)}},
	}
	saved, err := v.savedViews(l, view)
	if err != nil {
		return err
	}
	for _, one := range views {
		view.Views = append(view.Views, component.Choice{
			Text: one.text, Href: l.with(paramStatus, one.statuses...),
			Current: view.Saved == "" && slices.Equal(one.statuses, l.query[paramStatus]),
		})
	}
	view.Views = append(view.Views, saved...)
	return nil
}

// eventChoices adds what the filters offer, and what an empty page says.
func (v *visit) eventChoices(l listing, view *page.Events) error {
	if err := v.eventViews(l, view); err != nil {
		return err
	}
	view.Statuses, view.StatusText = l.pick(paramStatus, statusOptions())
	sources, err := v.sourceOptions()
	if err != nil {
		return err
	}
	view.Sources, view.SourceText = l.pick(paramSource, sources)
	view.Sources = orAny(view.Sources)
	endpoints, err := v.endpointOptions()
	if err != nil {
		return err
	}
	view.Endpoints, view.EndpointText = l.pick(paramEndpoint, endpoints)
	view.Endpoints = orAny(view.Endpoints)
	view.Type = l.text("Type", "type", "The whole type, such as order.created.")
	view.Type.Suggestions = typesOf(view.Rows)
	view.Subject = l.text("Subject", "subject", "What the event is about, exactly.")
	view.Key = l.text("Key", "key", "The idempotency key, exactly.")
	if len(view.Rows) > 0 || view.Filtered {
		return nil
	}
	first, err := v.d.Store.Events(v.ctx(), v.account(), store.EventFilter{}, store.Page[gateway.EventID]{Limit: 1})
	view.None = len(first) == 0
	view.NewSource, view.NewEndpoint = v.addHref("sources"), v.addHref("endpoints")
	view.Curl = publishCommand(v.d.BaseURL)
	return err
}

// statusOptions are how far events got, and then what was decided of those that
// went nowhere.
func statusOptions() (options []component.Option) {
	for _, p := range gateway.Progresses {
		options = append(options, component.Option{Value: string(p), Label: component.Word(p)})
	}
	for _, status := range gateway.EventStatuses {
		o := component.Option{Value: string(status), Label: component.Word(status)}
		if status == gateway.EventHeld { // and not its deliveries
			o.Label = heldAtSource
		}
		options = append(options, o)
	}
	return options
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

const (
	// dayMarks is up to which length marks below a chart are times of the day.
	dayMarks = 36 * time.Hour
	// eventMarks is into how many parts they divide it.
	eventMarks = 4
)

// eventChart draws when the events of the list came in; nil where that is not
// known. Each bar leads to the events of its time.
func (v *visit) eventChart(l listing, q explore.Query) (*page.EventChart, error) {
	h, err := v.d.Explore.Histogram(v.ctx(), v.account(), q)
	if err != nil || h == nil || len(h.Bins) < 2 {
		return nil, err
	}
	chart := &page.EventChart{Names: component.SeriesNames{OK: "Events", Plain: true}, Title: "Events over this time"}
	if h.Attempts {
		chart.Names, chart.Title = component.SeriesNames{}, "Attempts to the endpoint over this time"
	}
	since, until := h.Bins[0].At, h.Bins[len(h.Bins)-1].At.Add(h.Step)
	label, mark := "2 Jan, 15:04 UTC", "2 Jan"
	if until.Sub(since) <= dayMarks {
		label, mark = "15:04 UTC", "15:04"
	}
	for _, b := range h.Bins {
		chart.Bins = append(chart.Bins, component.Bin{
			Label: b.At.UTC().Format(label), OK: int(b.Events), Retry: int(b.Retried), Bad: int(b.GaveUp),
			Href: l.between(b.At, b.At.Add(h.Step)),
		})
	}
	chart.Marks = marksOf(since, until, eventMarks, mark)
	return chart, nil
}

// marksOf are times that divide a length into equal parts.
func marksOf(since, until time.Time, parts int, form string) (marks []string) {
	for i := range parts + 1 {
		at := since.Add(until.Sub(since) * time.Duration(i) / time.Duration(parts))
		marks = append(marks, at.UTC().Format(form))
	}
	return marks
}
