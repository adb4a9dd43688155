package api

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
)

const operationList = "operations"

// OperationView is one press that acts on many.
type OperationView struct {
	ID         gateway.OperationID    `json:"id" example:"op_06h1m3v9c8x7k2q5n4t6w8y0za"`
	Kind       gateway.OperationKind  `json:"kind" enum:"recover_failed,recover_missing,redeliver,reprocess,reconcile" doc:"What it does: sends what failed at an endpoint again, makes what an endpoint never got, sends closed deliveries again, has events decided again, or sends what a reconciliation found missing."`
	Filter     operationFilterView    `json:"filter" doc:"What it is about. What is left out narrows nothing."`
	State      gateway.OperationState `json:"state" enum:"counting,running,done,cancelled" doc:"It counts what it is about, and then acts. Done: it has been over all of it. What it opened may still be on its way."`
	DryRun     bool                   `json:"dry_run" doc:"It only counts."`
	PerSecond  *int                   `json:"per_second,omitempty" doc:"How many it opens a second at the most."`
	Total      int                    `json:"total" doc:"How many it is about, as far as it has counted."`
	Done       int                    `json:"done" doc:"How many it has opened, made or put back to be decided."`
	Failed     int                    `json:"failed" doc:"How many could not be: their payload or endpoint was deleted, or their attempts are used up."`
	Restored   int                    `json:"restored" doc:"How many of done were put back when it was stopped, since nobody had tried them."`
	CreatedAt  timestamp              `json:"created_at" doc:"When it was started. It is about what was there then."`
	StartedAt  *timestamp             `json:"started_at,omitempty" doc:"When it had counted and began to act."`
	FinishedAt *timestamp             `json:"finished_at,omitempty" doc:"When it was done or stopped."`
}

// operationFilterView is what an operation is about.
type operationFilterView struct {
	Endpoint   *gateway.EndpointID  `json:"endpoint,omitempty" doc:"Deliveries to this endpoint."`
	Event      *gateway.EventID     `json:"event,omitempty" doc:"Deliveries of this event."`
	Status     string               `json:"status,omitempty" doc:"Of deliveries, or of events for the kind reprocess."`
	Outcome    gateway.Outcome      `json:"outcome,omitempty" enum:"succeeded,rejected,unreachable,unknown" doc:"Of the last attempt."`
	ErrorKind  gateway.ErrorKind    `json:"error_kind,omitempty" enum:"dns,connect,tls,timeout,reset,blocked,too_large,protocol,disabled" doc:"Why the last attempt got no answer."`
	StatusCode int                  `json:"status_code,omitempty" doc:"Of the last answer."`
	IDs        []gateway.DeliveryID `json:"ids,omitempty" doc:"These deliveries."`
	Type       string               `json:"type,omitempty" doc:"Events of this type."`
	Source     *gateway.SourceID    `json:"source,omitempty" doc:"Events from this source."`
	Subject    string               `json:"subject,omitempty" doc:"Events about this subject."`
	Search     string               `json:"search,omitempty" doc:"Events that came in with this."`
	Events     []gateway.EventID    `json:"events,omitempty" doc:"These events."`

	Reconciliation *gateway.ReconciliationID `json:"reconciliation,omitempty" doc:"What this reconciliation found missing."`

	Since *timestamp `json:"since,omitempty" doc:"Of events accepted from this time on."`
	Until *timestamp `json:"until,omitempty" doc:"Of events accepted before this time."`
}

func viewOperation(o gateway.Operation) OperationView {
	f := o.Filter
	v := OperationView{
		ID: o.ID, Kind: o.Kind, State: o.State, DryRun: o.DryRun, PerSecond: optional(o.PerSecond),
		Total: o.Total, Done: o.Done, Failed: o.Failed, Restored: o.Restored,
		CreatedAt: timestamp(o.CreatedAt), StartedAt: optionalTime(o.StartedAt), FinishedAt: optionalTime(o.FinishedAt),
		Filter: operationFilterView{
			Endpoint: f.Endpoint, Event: f.Event, Status: string(f.Status), Outcome: f.Outcome, ErrorKind: f.ErrorKind, StatusCode: f.StatusCode,
			IDs: f.Deliveries, Type: f.Type, Source: f.Source, Subject: f.Subject, Search: f.Search, Events: f.Events, Reconciliation: f.Reconciliation,
			Since: optionalTime(optional(f.Since)), Until: optionalTime(optional(f.Until)),
		},
	}
	if o.Kind == gateway.OperationReprocess {
		v.Filter.Status = string(f.EventStatus)
	}
	return v
}

// operationPath is the path of an operation on one bulk operation.
type operationPath struct {
	ID string `path:"id" doc:"The operation's id."`
}

type listOperationsInput struct {
	PageQuery
}

func (a *API) listOperations(ctx context.Context, who caller, in *listOperationsInput) (*listReply[OperationView], error) {
	p, err := page[gateway.OperationID](operationList, in.PageQuery, TimeQuery{})
	if err != nil {
		return nil, err
	}
	operations, err := a.Store.Operations(ctx, who.account(), p)
	if err != nil {
		return nil, err
	}
	position := func(o gateway.Operation) []byte { return idCursor(o.ID) }
	return reply(operationList, in.PageQuery, operations, position, viewOperation), nil
}

func (a *API) getOperation(ctx context.Context, who caller, in *operationPath) (*objectReply[OperationView], error) {
	id, err := pathID[gateway.OperationID](in.ID)
	if err != nil {
		return nil, err
	}
	o, err := a.Store.Operation(ctx, who.account(), id)
	return object(o, err, viewOperation)
}

func (a *API) cancelOperation(ctx context.Context, who caller, in *operationPath, _ nothingBody) (*objectReply[OperationView], error) {
	id, err := pathID[gateway.OperationID](in.ID)
	if err != nil {
		return nil, err
	}
	o, err := a.Operate.Cancel(ctx, who.account(), who.actor(), id)
	return object(o, err, viewOperation)
}
