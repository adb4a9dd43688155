package api

import (
	"context"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// PaceBody is what every start of an operation may say. It is exported for the
// library, which sees no others.
type PaceBody struct {
	DryRun    *bool `json:"dry_run,omitempty" nullable:"true" doc:"Only count: nothing is opened."`
	PerSecond *int  `json:"per_second,omitempty" nullable:"true" minimum:"1" maximum:"10000" example:"50" doc:"How many to open a second at the most. Left out: as fast as they go out."`
}

// SpanBody bounds when the events came in.
type SpanBody struct {
	Since *string `json:"since,omitempty" nullable:"true" format:"date-time" example:"2026-07-01T12:00:00Z" doc:"Of events accepted from this time on (RFC 3339)."`
	Until *string `json:"until,omitempty" nullable:"true" format:"date-time" example:"2026-07-01T13:00:00Z" doc:"Of events accepted before this time (RFC 3339). Left out: until now."`
}

// recoverBody says what to recover at an endpoint.
type recoverBody struct {
	SpanBody
	PaceBody

	Only *string `json:"only,omitempty" nullable:"true" enum:"failed,missing" doc:"failed: deliveries that have failed. missing: events that the endpoint asks for and that were never made into a delivery for it. Left out: failed. Two calls do both."`
}

// redeliverManyBody says which closed deliveries to deliver again.
type redeliverManyBody struct {
	SpanBody
	PaceBody

	Endpoint   *string  `json:"endpoint,omitempty" nullable:"true" doc:"Only to this endpoint, by id or uid." example:"billing"`
	Event      *string  `json:"event,omitempty" nullable:"true" doc:"Only of this event."`
	Status     *string  `json:"status,omitempty" nullable:"true" enum:"delivered,failed,suppressed,cancelled,expired" doc:"Only in this status. Left out: whatever is closed."`
	Outcome    *string  `json:"outcome,omitempty" nullable:"true" enum:"succeeded,rejected,unreachable,unknown" doc:"Only those whose last attempt ended so."`
	ErrorKind  *string  `json:"error_kind,omitempty" nullable:"true" enum:"dns,connect,tls,timeout,reset,blocked,too_large,protocol,disabled" doc:"Only those whose last attempt got no answer for this reason. Disabled: those that were never sent, since the endpoint was disabled and its failover got the event." example:"timeout"`
	StatusCode *int     `json:"status_code,omitempty" nullable:"true" minimum:"100" maximum:"999" doc:"Only those whose last answer had this status." example:"503"`
	IDs        []string `json:"ids,omitempty" nullable:"true" maxItems:"1000" doc:"Only these deliveries."`
	Type       *string  `json:"type,omitempty" nullable:"true" doc:"Only of events of this type." example:"order.created"`
	Subject    *string  `json:"subject,omitempty" nullable:"true" doc:"Only of events about this subject."`
	Source     *string  `json:"source,omitempty" nullable:"true" doc:"Only of events from this source, by id or uid."`
	Search     *string  `json:"search,omitempty" nullable:"true" maxLength:"1024" doc:"Only of events that came in with this: as q of the list of events, a text in a header or the body, or what stands at a place." example:"$.data.id = 123"`
	Events     []string `json:"events,omitempty" nullable:"true" maxItems:"1000" doc:"Only of these events."`
}

// processManyBody says which events to decide again.
type processManyBody struct {
	SpanBody
	PaceBody

	Status *string `json:"status,omitempty" nullable:"true" enum:"rule_error,unresolved,no_endpoints" doc:"In this status." example:"no_endpoints"`
	Type   *string `json:"type,omitempty" nullable:"true" doc:"Only this type."`
	Source *string `json:"source,omitempty" nullable:"true" doc:"Only from this source, by id or uid."`
}

func (a *API) recoverEndpoint(ctx context.Context, who caller, in *endpointPath, body recoverBody) (*objectReply[OperationView], error) {
	id, err := a.endpointID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	r := body.request(gateway.OperationRecoverFailed)
	switch value(body.Only) {
	case "", "failed":
	case "missing":
		r.Kind = gateway.OperationRecoverMissing
	default:
		return nil, problem.At("body.only", "want failed or missing")
	}
	r.Filter.Endpoint = &id
	return a.start(ctx, who, r, body.SpanBody)
}

func (a *API) redeliverMany(ctx context.Context, who caller, _ *nothing, body redeliverManyBody) (*objectReply[OperationView], error) {
	r := body.request(gateway.OperationRedeliver)
	f := &r.Filter
	f.Status, f.Outcome = gateway.DeliveryStatus(value(body.Status)), gateway.Outcome(value(body.Outcome))
	f.ErrorKind, f.StatusCode = gateway.ErrorKind(value(body.ErrorKind)), value(body.StatusCode)
	var err error
	if f.Endpoint, err = named(body.Endpoint, "endpoint", "want an endpoint's id or uid", func(text string) (gateway.EndpointID, error) {
		return a.endpointID(ctx, who, text)
	}); err != nil {
		return nil, err
	}
	if f.Event, err = named(body.Event, "event", "want an event's id", pathID[gateway.EventID]); err != nil {
		return nil, err
	}
	for _, text := range body.IDs {
		id, err := named(&text, "ids", "want ids that begin with dlv_", pathID[gateway.DeliveryID])
		if err != nil {
			return nil, err
		}
		f.Deliveries = append(f.Deliveries, *id)
	}
	if err := a.ofEvents(ctx, who, f, body); err != nil {
		return nil, err
	}
	out, err := a.start(ctx, who, r, body.SpanBody)
	if errors.Is(err, gateway.ErrNotFound) {
		err = problem.At("body.endpoint", "names no endpoint of this account")
	}
	return out, err
}

// ofEvents reads what the events of deliveries are to be.
func (a *API) ofEvents(ctx context.Context, who caller, f *gateway.OperationFilter, body redeliverManyBody) (err error) {
	f.Type, f.Subject, f.Search = value(body.Type), value(body.Subject), value(body.Search)
	if f.Source, err = named(body.Source, "source", "want a source's id or uid", func(text string) (gateway.SourceID, error) {
		return a.sourceID(ctx, who, text)
	}); err != nil {
		return err
	}
	for _, text := range body.Events {
		id, err := named(&text, "events", "want ids that begin with evt_", pathID[gateway.EventID])
		if err != nil {
			return err
		}
		f.Events = append(f.Events, *id)
	}
	return nil
}

func (a *API) processMany(ctx context.Context, who caller, _ *nothing, body processManyBody) (*objectReply[OperationView], error) {
	r := body.request(gateway.OperationReprocess)
	r.Filter.EventStatus, r.Filter.Type = gateway.EventStatus(value(body.Status)), value(body.Type)
	var err error
	if r.Filter.Source, err = named(body.Source, "source", "want a source's id or uid", func(text string) (gateway.SourceID, error) {
		return a.sourceID(ctx, who, text)
	}); err != nil {
		return nil, err
	}
	return a.start(ctx, who, r, body.SpanBody)
}

// named reads a field that names an object; left out, it is nil.
func named[I any](text *string, field, wanted string, find func(string) (I, error)) (*I, error) {
	if text == nil {
		return nil, nil //nolint:nilnil // no filter is no fault
	}
	id, err := find(*text)
	if errors.Is(err, gateway.ErrNotFound) {
		return nil, problem.At("body."+field, "%s", wanted)
	}
	return &id, err
}

// request begins a request of a kind.
func (b PaceBody) request(kind gateway.OperationKind) operate.Request {
	return operate.Request{Kind: kind, DryRun: value(b.DryRun), PerSecond: value(b.PerSecond)}
}

// start adds the times, and has the operation begin.
func (a *API) start(ctx context.Context, who caller, r operate.Request, span SpanBody) (*objectReply[OperationView], error) {
	var err error
	if r.Filter.Since, err = bodyMoment(span.Since, "since"); err != nil {
		return nil, err
	}
	if r.Filter.Until, err = bodyMoment(span.Until, "until"); err != nil {
		return nil, err
	}
	o, err := a.Operate.Start(ctx, who.account(), who.actor(), r)
	return object(o, err, viewOperation)
}

// bodyMoment reads a time of a body; left out, it is zero.
func bodyMoment(text *string, name string) (time.Time, error) {
	if text == nil {
		return time.Time{}, nil
	}
	at, err := parseMoment(*text)
	if err != nil {
		return at, problem.At("body."+name, "%s", err)
	}
	return at, nil
}

// value is what a field holds; zero when it was left out.
func value[T any](field *T) (v T) {
	if field != nil {
		v = *field
	}
	return v
}
