package api

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
)

const eventList = "events"

// EventView is an event as a list shows it.
type EventView struct {
	ID   gateway.EventID `json:"id" example:"evt_06h1m3v9c8x7k2q5n4t6w8y0za"`
	Type string          `json:"type" example:"order.created" doc:"What it is told as."`
	// ReceivedType is left out where no rule gave it another type.
	ReceivedType *string             `json:"received_type,omitempty" doc:"What came in, where the source's rule emits it as another type."`
	Subject      *string             `json:"subject,omitempty" doc:"What the event is about, if its publisher or its source's rule said so."`
	State        *string             `json:"state,omitempty" doc:"What it reports of its subject."`
	FactID       *gateway.FactID     `json:"fact_id,omitempty" doc:"The fact that it set. Left out: it told nothing new."`
	Key          *string             `json:"key,omitempty" doc:"The idempotency key that it came with."`
	Status       gateway.EventStatus `json:"status" enum:"accepted,processed,ignored,duplicate_fact,stale_fact,rule_error,unresolved,no_endpoints,held" doc:"What became of it."`
	Decision     string              `json:"decision,omitempty" doc:"Why the status is what it is, in words."`
	SourceID     gateway.SourceID    `json:"source_id" doc:"Where it came from."`
	SecretID     *gateway.SecretID   `json:"secret_id,omitempty" doc:"The source's secret that verified it."`
	RequestID    *gateway.RequestID  `json:"request_id,omitempty" doc:"The request that it came in, where that brought several events or was refused at first."`
	TraceID      string              `json:"trace_id,omitempty" example:"4bf92f3577b34da6a3ce929d0e0e4736" doc:"The distributed trace that accepted it. Left out: it is in none."`
	BodySize     int                 `json:"body_size" doc:"The payload's size in bytes."`
	OccurredAt   *timestamp          `json:"occurred_at,omitempty" doc:"When it happened, if its publisher said so."`
	CreatedAt    timestamp           `json:"created_at" doc:"When it was accepted."`
	// WaitUntil is left out where it was never put off.
	WaitUntil *timestamp `json:"wait_until,omitempty" doc:"When its subject is looked for again, or was, where it is not told before something else told of it."`
	// PayloadDeletedAt is left out while the payload is there.
	PayloadDeletedAt *timestamp `json:"payload_deleted_at,omitempty" doc:"When the payload was deleted."`
}

// eventDetailView is an event with what came with it and what it led to.
type eventDetailView struct {
	EventView

	Method     string                         `json:"method,omitempty" doc:"The HTTP method that it came with."`
	Path       string                         `json:"path,omitempty" doc:"What followed the token in the ingest address."`
	Query      string                         `json:"query,omitempty" doc:"The query that it came with."`
	Headers    headerView                     `json:"headers,omitempty" doc:"The headers that it came with, secrets left out."`
	Deliveries map[gateway.DeliveryStatus]int `json:"deliveries" doc:"How many of its deliveries have which status."`
}

func viewEvent(e gateway.Event) EventView {
	v := EventView{
		ID: e.ID, Type: e.Type, ReceivedType: e.ReceivedType, Subject: e.Subject, State: e.State, FactID: e.FactID,
		Status: e.Status, Decision: e.Decision, WaitUntil: optionalTime(e.WaitUntil),
		SourceID: e.SourceID, SecretID: e.SecretID, RequestID: e.RequestID, TraceID: e.Span.TraceID(), BodySize: e.BodySize,
		OccurredAt: optionalTime(e.OccurredAt), CreatedAt: timestamp(e.ID.Time()),
		PayloadDeletedAt: optionalTime(e.PayloadDeletedAt),
	}
	if e.Key != nil {
		key := printable(string(e.Key))
		v.Key = &key
	}
	return v
}

// eventPath is the path of an operation on one event.
type eventPath struct {
	ID string `path:"id" doc:"The event's id."`
}

func (a *API) getEvent(ctx context.Context, who caller, in *eventPath) (*objectReply[eventDetailView], error) {
	event, err := a.findEvent(ctx, who, in)
	if err != nil {
		return nil, err
	}
	deliveries, err := a.Store.DeliverySummary(ctx, who.account(), event.ID)
	if err != nil {
		return nil, err
	}
	arrived, err := a.Store.Body(ctx, who.account(), event.ID)
	if err != nil && !errors.Is(err, gateway.ErrPayloadGone) {
		return nil, err
	}
	return &objectReply[eventDetailView]{eventDetailView{
		EventView: viewEvent(event),
		Method:    arrived.Method, Path: printable(string(arrived.Path)), Query: printable(string(arrived.Query)),
		Headers: headers(arrived.Headers), Deliveries: deliveries,
	}}, nil
}

func (a *API) findEvent(ctx context.Context, who caller, in *eventPath) (gateway.Event, error) {
	id, err := pathID[gateway.EventID](in.ID)
	if err != nil {
		return gateway.Event{}, err
	}
	return a.Store.Event(ctx, who.account(), id)
}
