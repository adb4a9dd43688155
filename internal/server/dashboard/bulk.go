package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// redeliverFields are what says which deliveries are meant.
var redeliverFields = []string{"id", paramStatus, "outcome", "kind", paramCause, "code", paramEndpoint, "event", paramRange, paramSince, paramUntil}

// redeliverRequest reads which deliveries are meant: single ones, or what a
// list is narrowed to. not ok when nothing can match.
func (v *visit) redeliverRequest(values url.Values) (r operate.Request, ok bool) {
	r.Kind = gateway.OperationRedeliver
	f := &r.Filter
	for _, text := range values["id"] {
		if id, err := gateway.ParseID[gateway.DeliveryID](text); err == nil && len(f.Deliveries) < gateway.MaxOperationIDs {
			f.Deliveries = append(f.Deliveries, id)
		}
	}
	if len(f.Deliveries) > 0 {
		return r, true
	}
	l := listing{query: values, now: v.now()}
	p := l.period(rangeAll)
	f.Since, f.Until = p.since, p.until
	filter, ok := l.deliveryFilter()
	f.Status, f.Endpoint, f.Event, f.Outcome = filter.Status, filter.Endpoint, filter.Event, filter.Outcome
	cause := filter.Cause
	if cause == nil {
		cause = parseCause(values.Get("kind"))
	}
	switch {
	case cause == nil:
	case *cause == gateway.Cause{}:
		f.Outcome = gateway.OutcomeUnknown
	default:
		f.ErrorKind, f.StatusCode = cause.ErrorKind, cause.StatusCode
	}
	return r, ok && (f.Status == "" || f.Status.IsClosed())
}

func askRedeliverMany(v *visit) error {
	return v.askRedeliverAll(http.StatusOK, v.QueryParams(), nil)
}

// askRedeliverAll asks before many deliveries are sent again.
func (v *visit) askRedeliverAll(status int, values url.Values, wrong page.Errors) error {
	r, ok := v.redeliverRequest(values)
	q := page.Bulk{
		Action: v.at("deliveries", "redeliver"), Cancel: v.at("deliveries"), Title: "Redeliver many", Verb: "Redeliver", One: "delivery", Many: "deliveries",
		Text: []string{
			"Each is sent again to its endpoint, oldest first and behind what comes in, and its retries start from the beginning.",
			"A receiver that has had an event before gets it a second time: it should check webhook-id.",
		},
		Speed: page.SpeedOptions(values.Get(fieldSpeed)), Heading: !v.scripted(), Errors: wrong,
	}
	if !ok {
		q.Refused = "Nothing can match these filters."
		return v.askAgain(status, q.Title, layout.SectionDeliveries, page.BulkAsk(q))
	}
	q.Hidden = hiddenOf(v.frozen(values, r.Filter), redeliverFields)
	if n := len(r.Filter.Deliveries); n > 0 {
		q.Title = "Redeliver " + component.Plural(n, "delivery", "deliveries") + "?"
	}
	return v.askMany(status, layout.SectionDeliveries, r, q)
}

// askMany counts, and asks.
func (v *visit) askMany(status int, section string, r operate.Request, q page.Bulk) error {
	n, exact, err := v.d.Operate.Count(v.ctx(), v.account(), r)
	if faults := faultsOf(err); len(faults) > 0 {
		q.Refused = advice(faults[0].Detail)
		return v.askAgain(status, q.Title, section, page.BulkAsk(q))
	}
	if isMissing(err) {
		q.Refused = "This endpoint was deleted."
		return v.askAgain(status, q.Title, section, page.BulkAsk(q))
	}
	if err != nil {
		return err
	}
	q.Count, q.More = n, !exact
	name, err := v.filterEndpoint(r.Filter)
	if err != nil {
		return err
	}
	if len(r.Filter.Events) == 0 { // the title says how many they are
		q.About = aboutFilter(r.Filter, name, v.now())
	}
	return v.askAgain(status, q.Title, section, page.BulkAsk(q))
}

// filterEndpoint is what the endpoint of a filter is called.
func (v *visit) filterEndpoint(f gateway.OperationFilter) (string, error) {
	if f.Endpoint == nil {
		return "", nil
	}
	labels, err := v.d.Store.EndpointLabels(v.ctx(), v.account(), []gateway.EndpointID{*f.Endpoint})
	return nameOf(f, labels), err
}

// frozen are the values with the times that they mean now: what is confirmed is
// what was counted.
func (v *visit) frozen(values url.Values, f gateway.OperationFilter) url.Values {
	q := listing{query: values}.clone()
	if len(f.Deliveries) > 0 {
		return url.Values{"id": q["id"]}
	}
	if f.Until.IsZero() {
		f.Until = v.now()
	}
	q.Del(paramRange)
	q.Del(paramSince)
	if !f.Since.IsZero() {
		q.Set(paramSince, f.Since.UTC().Format(time.RFC3339Nano))
	}
	q.Set(paramUntil, f.Until.UTC().Format(time.RFC3339Nano))
	return q
}

// hiddenOf are the values that go with a question's form.
func hiddenOf(values url.Values, names []string) []component.Option {
	var fields []component.Option
	for _, name := range names {
		for _, value := range values[name] {
			if value != "" {
				fields = append(fields, component.Option{Label: name, Value: value})
			}
		}
	}
	return fields
}

func redeliverMany(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	r, ok := v.redeliverRequest(f.values)
	if !ok || !f.ok() {
		return v.refused(v.at("deliveries"), "Not sent: nothing can match these filters.")
	}
	return v.startMany(f, r, v.at("deliveries"))
}

// tooManyOpen is told who starts one operation too many.
const tooManyOpen = "Not started: as many operations run as an account may have. Wait until one has ended, or stop one."

// startMany starts an operation that was asked about, and leads to it.
func (v *visit) startMany(f form, r operate.Request, list string) error {
	if speed := f.text(fieldSpeed); speed != "" {
		n, err := strconv.Atoi(speed)
		if err != nil {
			return v.refused(list, "Not started: the speed is no number.")
		}
		r.PerSecond = n
	}
	o, err := v.d.Operate.Start(v.ctx(), v.account(), v.actor(), r)
	if faults := faultsOf(err); len(faults) > 0 {
		return v.refused(list, "Not started. "+advice(faults[0].Detail))
	}
	if isMissing(err) {
		return v.refused(list, "Not started: the endpoint was deleted.")
	}
	if errors.Is(err, gateway.ErrLimitReached) {
		return v.refused(v.at("operations"), tooManyOpen)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.at("operations", o.ID.String()))
}

// processFields are what says which events are meant.
var processFields = []string{paramStatus, "type", paramSource, paramRange, paramSince, paramUntil}

// processRequest reads which events are meant: those of one status that a list
// is narrowed to.
func (v *visit) processRequest(values url.Values) (r operate.Request, ok bool) {
	l := listing{query: values, now: v.now()}
	filter, ok := l.eventFilter()
	p := l.period(usualRange)
	r.Kind = gateway.OperationReprocess
	r.Filter = gateway.OperationFilter{
		EventStatus: gateway.EventStatus(l.get(paramStatus)), Type: filter.Type, Source: filter.Source, Since: p.since, Until: p.until,
	}
	return r, ok && slices.Contains(gateway.ReprocessableStatuses, r.Filter.EventStatus)
}

// processAll asks about all events that a list is narrowed to; empty where they
// cannot be decided again.
func (v *visit) processAll(l listing) string {
	q := l.clone()
	q.Del(paramAfter)
	if _, ok := v.processRequest(q); !ok || !v.operates() || len(q[paramStatus]) != 1 || l.has("subject", "key", paramEndpoint, paramSearch) {
		return ""
	}
	return listing{path: v.at("events", "process")}.address(q)
}

func askProcessMany(v *visit) error {
	values := v.QueryParams()
	r, ok := v.processRequest(values)
	q := page.Bulk{
		Action: v.at("events", "process"), Cancel: v.at("events"), Title: "Process events again", Verb: "Process", One: "event", Many: "events",
		Text:    []string{"Each is decided again, as if it had just come in: it goes to the endpoints that ask for it now."},
		Heading: !v.scripted(),
	}
	if !ok {
		q.Refused = "Choose one of the states Rule error, Unresolved or No endpoints."
		return v.ask(q.Title, layout.SectionEvents, page.BulkAsk(q))
	}
	q.Hidden = hiddenOf(v.frozen(values, r.Filter), processFields)
	return v.askMany(http.StatusOK, layout.SectionEvents, r, q)
}

func processMany(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	r, ok := v.processRequest(f.values)
	if !ok || !f.ok() {
		return v.refused(v.at("events"), "Not started: choose one of the states Rule error, Unresolved or No endpoints.")
	}
	return v.startMany(f, r, v.at("events"))
}
