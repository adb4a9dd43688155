package dashboard

import (
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// addOperationRoutes adds what is done to many at once.
func addOperationRoutes(r router) {
	const one = "/operations/:id"
	r.within(get, "/operations", listOperations)
	r.within(get, one, showOperation)
	r.operated(get, one+"/stop", askStopOperation)
	r.operated(post, one+"/stop", stopOperation)
	r.operated(get, "/endpoints/:id/recover", askRecover)
	r.operated(post, "/endpoints/:id/recover", recoverEndpoint)
	r.operated(get, "/deliveries/redeliver", askRedeliverMany)
	r.operated(post, "/deliveries/redeliver", redeliverMany)
	r.operated(get, "/events/process", askProcessMany)
	r.operated(post, "/events/process", processMany)
}

// listOperations is the page of bulk operations.
func listOperations(v *visit) error {
	l := v.listing(v.at("operations"))
	rows, err := v.d.Store.Operations(v.ctx(), v.account(), asked[gateway.OperationID](l))
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Operations", layout.SectionOperations)
	if err != nil {
		return err
	}
	frame.Live = v.live()
	view := page.Operations{Frame: frame, Now: v.now(), Failures: v.at("failures"), Deliveries: v.at("deliveries")}
	rows, view.Newest, view.Older = shown(l, rows, func(o gateway.Operation) string { return o.ID.String() })
	if view.Rows, err = v.operationRows(rows); err != nil {
		return err
	}
	return v.page(page.OperationsPage(view))
}

// operationRows shows operations as lines, with what endpoints and people are
// called.
func (v *visit) operationRows(operations []gateway.Operation) ([]page.OperationRow, error) {
	var endpoints []gateway.EndpointID
	actors := make([]gateway.Actor, len(operations))
	for i, o := range operations {
		actors[i] = o.Actor
		if o.Filter.Endpoint != nil {
			endpoints = append(endpoints, *o.Filter.Endpoint)
		}
	}
	labels, err := v.d.Store.EndpointLabels(v.ctx(), v.account(), endpoints)
	if err != nil {
		return nil, err
	}
	names, err := v.d.Store.ActorNames(v.ctx(), v.account(), actors)
	rows := make([]page.OperationRow, len(operations))
	for i, o := range operations {
		rows[i] = page.OperationRow{
			Href: v.at("operations", o.ID.String()), What: operationName(o), About: aboutOperation(o, nameOf(o.Filter, labels), v.now()),
			State: o.State, DryRun: o.DryRun, Total: o.Total, Done: o.Done, Failed: o.Failed,
			Who: actorName(gateway.AuditEntry{Actor: o.Actor, ActorName: names[o.Actor]}), CreatedAt: o.CreatedAt,
		}
	}
	return rows, err
}

// nameOf is what the endpoint of a filter is called; empty for no endpoint.
func nameOf(f gateway.OperationFilter, labels map[gateway.EndpointID]store.EndpointLabel) string {
	if f.Endpoint == nil {
		return ""
	}
	return called(labels[*f.Endpoint])
}

// operation reads the operation that the address names.
func (v *visit) operation() (gateway.Operation, error) {
	id, err := gateway.ParseID[gateway.OperationID](v.Param("id"))
	if err != nil {
		return gateway.Operation{}, err
	}
	return v.d.Store.Operation(v.ctx(), v.account(), id)
}

// showOperation is the page of one bulk operation.
func showOperation(v *visit) error {
	o, err := v.operation()
	if err != nil {
		return err
	}
	rows, err := v.operationRows([]gateway.Operation{o})
	if err != nil {
		return err
	}
	frame, _, err := v.frame(rows[0].What, layout.SectionOperations)
	if err != nil {
		return err
	}
	frame.Live = v.liveOfOperation(o.ID)
	view := page.Operation{
		Frame: frame, Now: v.now(), What: rows[0].What, About: rows[0].About, Who: rows[0].Who, Operation: o,
		List: v.at("operations"), Stop: v.at("operations", o.ID.String(), "stop"), Manages: v.operates(),
	}
	view.PerSecond, view.Left = operationPace(o, view.Now)
	if err := v.addFared(&view); err != nil {
		return err
	}
	if err := v.addOperationEndpoint(&view); err != nil {
		return err
	}
	if view.StoppedBy, err = v.whoStopped(o); err != nil {
		return err
	}
	return v.page(page.OperationPage(view))
}

// operationPace is how many a second an operation has handled, and how long
// the rest takes at that pace.
func operationPace(o gateway.Operation, now time.Time) (perSecond float64, left time.Duration) {
	if o.StartedAt == nil || o.State != gateway.OperationRunning {
		return 0, 0
	}
	handled, took := o.Done+o.Failed, now.Sub(*o.StartedAt).Seconds()
	if handled == 0 || took < 1 {
		return 0, 0
	}
	perSecond = float64(handled) / took
	return perSecond, time.Duration(float64(max(o.Total-handled, 0)) / perSecond * float64(time.Second)).Round(time.Second)
}

// addFared adds how what was opened did since. Events that are decided again
// lead to deliveries of their own.
func (v *visit) addFared(view *page.Operation) error {
	o := view.Operation
	if o.Kind == gateway.OperationReprocess || o.DryRun {
		return nil
	}
	counts, err := v.d.Store.OperationCounts(v.ctx(), v.account(), o)
	if err != nil {
		return err
	}
	fared := page.OperationFared{More: counts.More}
	for status, n := range counts.ByStatus {
		switch status {
		case gateway.DeliveryDelivered:
			fared.Delivered += n
		case gateway.DeliveryFailed:
			fared.FailedAgain += n
		case gateway.DeliveryPending, gateway.DeliverySending, gateway.DeliveryHeld:
			fared.Waiting += n
		case gateway.DeliverySuppressed, gateway.DeliveryCancelled, gateway.DeliveryExpired:
			fared.Other += n
		}
	}
	view.Fared = &fared
	all := v.at("deliveries") + "?operation=" + o.ID.String() + "&" + paramRange + "=" + rangeAll
	view.All, view.Failed = all, all+"&"+paramStatus+"="+string(gateway.DeliveryFailed)
	return nil
}

// addOperationEndpoint adds the endpoint that an operation is about, if it is
// about one that is still there.
func (v *visit) addOperationEndpoint(view *page.Operation) error {
	if view.Operation.Filter.Endpoint == nil {
		return nil
	}
	e, err := v.d.Store.Endpoint(v.ctx(), v.account(), *view.Operation.Filter.Endpoint)
	switch {
	case isMissing(err):
		return nil
	case err != nil:
		return err
	}
	view.Endpoint, view.EndpointName = v.atEndpoint(e), endpointName(e)
	if e.State != gateway.EndpointActive {
		view.Held = string(e.State)
	}
	if view.Operation.State == gateway.OperationCancelled {
		view.Rest = v.recoverRest(view.Operation)
	}
	return nil
}

// recoverRest asks whether an endpoint's recovery that was stopped is to go on
// with what it left; empty for other operations.
func (v *visit) recoverRest(o gateway.Operation) string {
	f := o.Filter
	switch o.Kind {
	case gateway.OperationRecoverFailed:
		cause := f.Cause()
		if f.Outcome == gateway.OutcomeUnknown {
			cause = &gateway.Cause{}
		}
		return v.recoverFailed(failed{endpoint: f.Endpoint, cause: cause, since: f.Since})
	case gateway.OperationRecoverMissing:
		return withAll(v.at("endpoints", f.Endpoint.String(), "recover"), "what", recoverMissing, paramSince, sinceParam(f.Since))
	case gateway.OperationRedeliver, gateway.OperationReprocess, gateway.OperationReconcile:
	}
	return ""
}

// whoStopped names who stopped an operation; empty for one that nobody did.
func (v *visit) whoStopped(o gateway.Operation) (string, error) {
	if o.State != gateway.OperationCancelled {
		return "", nil
	}
	entries, err := v.d.Store.AuditOf(v.ctx(), v.account(), []string{o.ID.String()}, 2)
	for _, e := range entries {
		if e.Action == "operation.cancel" {
			return actorName(e), err
		}
	}
	return "", err
}

func askStopOperation(v *visit) error {
	o, err := v.operation()
	if err != nil {
		return err
	}
	path := v.at("operations", o.ID.String())
	if !o.State.IsOpen() {
		return v.redirect(path)
	}
	untried, err := v.d.Store.CountUntried(v.ctx(), store.NewOperationRun(o, v.now()), mostWaiting)
	if err != nil {
		return err
	}
	return v.ask("Stop the operation", layout.SectionOperations, page.StopOperationAsk(page.StopOperation{
		Action: path + "/stop", Cancel: path, Operation: o, Waiting: untried, WaitingMore: untried >= mostWaiting, Heading: !v.scripted(),
	}))
}

// mostWaiting is how much of an operation is counted at the most that waits.
const mostWaiting = 5000

func stopOperation(v *visit) error {
	o, err := v.operation()
	if err != nil {
		return err
	}
	path := v.at("operations", o.ID.String())
	now, err := v.d.Operate.Cancel(v.ctx(), v.account(), v.actor(), o.ID)
	if errors.Is(err, gateway.ErrStateChanged) {
		return v.refused(path, "Not stopped: it had ended before.")
	}
	if err != nil {
		return err
	}
	return v.done(v.at("operations", now.ID.String()), "Stopped. What nobody has tried yet is put back.")
}
