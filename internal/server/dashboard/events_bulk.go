package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// fieldWhich says which deliveries of events are sent again: those that failed,
	// or whatever is closed.
	fieldWhich = "which"
	whichAll   = "all"
	// paramFormat and paramPayloads say how events are exported.
	paramFormat   = "format"
	paramPayloads = "payloads"
)

// eventBulkFields are what says which events are meant.
var eventBulkFields = append([]string{"id", paramRange, paramSince, paramUntil}, eventParams...)

// addEventBulk lets those who may choose several events, and offers all that the
// list has.
func (v *visit) addEventBulk(l listing, p period, q explore.Query, view *page.Events) {
	all := l.clone()
	all.Del(paramAfter)
	if all.Get(paramRange) == "" && p.preset != "" {
		all.Set(paramRange, p.preset)
	}
	export := listing{path: v.at("events", "export"), query: all}
	view.Bulk.Export = export.path
	for _, e := range []struct{ text, format, payloads string }{
		{"CSV table", string(explore.FormatCSV), ""},
		{"NDJSON", string(explore.FormatNDJSON), ""},
		{"NDJSON with payloads", string(explore.FormatNDJSON), "true"},
	} {
		to := export.clone()
		to.Set(paramFormat, e.format)
		if e.payloads != "" {
			to.Set(paramPayloads, e.payloads)
		}
		view.Bulk.Exports = append(view.Bulk.Exports, component.Choice{Text: e.text, Href: export.address(to)})
	}
	if !v.operates() {
		return
	}
	view.Bulk.Redeliver = v.at("events", "redeliver")
	if _, ok := eventsRequest(q); ok {
		view.Bulk.All = listing{path: view.Bulk.Redeliver}.address(all)
	}
}

// eventsRequest is the operation that sends the deliveries of the events of a
// list again; not ok for lists that no operation can be about.
func eventsRequest(q explore.Query) (r operate.Request, ok bool) {
	r.Kind = gateway.OperationRedeliver
	r.Filter = gateway.OperationFilter{Type: q.Type, Subject: q.Subject, Source: q.Source, Endpoint: q.Endpoint, Since: q.Since, Until: q.Until, Status: gateway.DeliveryFailed}
	switch {
	case q.Key != nil || q.Search.Text() != "" || len(q.Statuses)+len(q.Progress) > 1:
		return r, false
	case len(q.Statuses) == 1:
		r.Filter.EventStatus = q.Statuses[0]
	case len(q.Progress) == 1 && q.Progress[0] != gateway.ProgressFailed:
		return r, false // what is open goes out by itself, and what was delivered is not to be chosen in passing
	}
	return r, true
}

// eventsMeant reads which events a question is about: single ones, or what a
// list is narrowed to.
func (v *visit) eventsMeant(values url.Values) (r operate.Request, ok bool) {
	if ids := eventIDs(values); len(ids) > 0 {
		r = operate.Request{Kind: gateway.OperationRedeliver, Filter: gateway.OperationFilter{Events: ids, Status: gateway.DeliveryFailed}}
		return r, true
	}
	l := listing{query: values, now: v.now()}
	q, ok, wrong := l.eventQuery(l.period(rangeAll))
	if !ok || wrong != nil {
		return r, false
	}
	if r, ok = eventsRequest(q); ok && !q.Search.IsZero() {
		r.Filter.Search = values.Get(paramSearch)
	}
	return r, ok
}

// eventIDs are the single events that were chosen.
func eventIDs(values url.Values) (ids []gateway.EventID) {
	for _, text := range values["id"] {
		if id, err := gateway.ParseID[gateway.EventID](text); err == nil && len(ids) < gateway.MaxOperationIDs && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func askRedeliverEvents(v *visit) error {
	values := v.QueryParams()
	r, ok := v.eventsMeant(values)
	all, err := v.whichMeant(&r, ok, values.Get(fieldWhich))
	if err != nil {
		return err
	}
	n := len(r.Filter.Events)
	q := page.Bulk{
		Action: v.at("events", "redeliver"), Cancel: v.at("events"), Title: "Redeliver events", Verb: "Redeliver", One: "delivery", Many: "deliveries",
		Which: page.WhichOptions(all), Speed: page.SpeedOptions(values.Get(fieldSpeed)), Heading: !v.scripted(),
		Text: []string{
			"Each is sent again to its endpoint, oldest first and behind what comes in, and its retries start from the beginning.",
			"A receiver that has had an event before gets it a second time: it should check webhook-id.",
		},
	}
	if n > 0 {
		q.Title = "Redeliver " + component.Plural(n, "event", "events") + "?"
	}
	if !ok {
		q.Refused = "This list cannot be redelivered as a whole. Choose events, or narrow it by type, source, subject, endpoint or time."
		return v.ask(q.Title, layout.SectionEvents, page.BulkAsk(q))
	}
	q.Hidden = hiddenOf(v.frozenEvents(values, r.Filter), eventBulkFields)
	return v.askMany(http.StatusOK, layout.SectionEvents, r, q)
}

// whichMeant has an operation be about all deliveries that are closed, or about
// those that failed: as is chosen, or where nobody has chosen by whether any of the
// single events failed.
func (v *visit) whichMeant(r *operate.Request, ok bool, chosen string) (all bool, err error) {
	all = chosen == whichAll
	if ok && chosen == "" && len(r.Filter.Events) > 0 {
		n, _, err := v.d.Operate.CountSome(v.ctx(), v.account(), *r)
		if err != nil {
			return false, err
		}
		all = n == 0
	}
	if all {
		r.Filter.Status = ""
	}
	return all, nil
}

// frozenEvents are the values with the times that they mean now: what is
// confirmed is what was counted.
func (v *visit) frozenEvents(values url.Values, f gateway.OperationFilter) url.Values {
	if len(f.Events) > 0 {
		return url.Values{"id": values["id"]}
	}
	return v.frozen(values, f)
}

func redeliverEvents(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	r, ok := v.eventsMeant(f.values)
	if !ok || !f.ok() {
		return v.refused(v.at("events"), "Not sent: choose events, or a list that can be redelivered as a whole.")
	}
	if f.text(fieldWhich) == whichAll {
		r.Filter.Status = ""
	}
	return v.startMany(f, r, v.at("events"))
}

// exportEvents answers with all events of a list, or with those that were
// chosen, as they are read.
func exportEvents(v *visit) error {
	l := v.eventListing()
	q, ok, wrong := l.eventQuery(l.period(l.usualPeriod()))
	if ids := eventIDs(v.QueryParams()); len(ids) > 0 {
		q, ok, wrong = explore.Query{Events: ids}, true, nil
	}
	if !ok || wrong != nil {
		return v.refused(l.address(l.query), "Not exported: nothing can match these filters.")
	}
	format := explore.Format(v.QueryParam(paramFormat))
	if !slices.Contains(explore.Formats, format) {
		format = explore.FormatNDJSON
	}
	export, err := v.d.Explore.Export(v.ctx(), v.account(), q, format, v.QueryParam(paramPayloads) != "")
	if errors.Is(err, gateway.ErrRateLimited) {
		return v.refused(l.address(l.query), "Not exported: another export runs. Try again when it has ended.")
	}
	if err != nil {
		return err
	}
	defer export.Close()
	if err := v.d.Accounts.NoteExport(v.ctx(), v.account(), v.actor(), "events", export.Words()); err != nil {
		return err
	}
	h := v.Response().Header()
	h.Set("Content-Type", export.MediaType())
	h.Set("Content-Disposition", `attachment; filename="`+export.Name()+`"`)
	v.Response().WriteHeader(http.StatusOK)
	if err := export.Write(v.ctx(), body.Outflow(v.Response())); err != nil {
		panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
	}
	return nil
}
