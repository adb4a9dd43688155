package api

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const deliveryList = "deliveries"

// DeliveryView is one event on its way to one endpoint.
type DeliveryView struct {
	ID             gateway.DeliveryID     `json:"id" example:"dlv_06h1m3v9c8x7k2q5n4t6w8y0za"`
	EventID        gateway.EventID        `json:"event_id"`
	EndpointID     gateway.EndpointID     `json:"endpoint_id"`
	Status         gateway.DeliveryStatus `json:"status" enum:"pending,sending,held,delivered,failed,suppressed,cancelled,expired" doc:"How far it got. Held is open, and its endpoint is not active."`
	AttemptCount   int                    `json:"attempt_count"`
	LastOutcome    *gateway.Outcome       `json:"last_outcome,omitempty" enum:"succeeded,rejected,unreachable,unknown"`
	LastErrorKind  *gateway.ErrorKind     `json:"last_error_kind,omitempty" enum:"dns,connect,tls,timeout,reset,blocked,too_large,protocol,disabled" doc:"Why the last attempt got no answer. Disabled: none was made, since the endpoint was disabled and its failover got the event."`
	LastStatusCode *int                   `json:"last_status_code,omitempty" doc:"What the last attempt was answered."`
	NextAttemptAt  *timestamp             `json:"next_attempt_at,omitempty" doc:"When the next attempt is due."`
	CreatedAt      timestamp              `json:"created_at"`
	ClosedAt       *timestamp             `json:"closed_at,omitempty" doc:"When it was delivered or given up."`
	FailoverOf     *gateway.EndpointID    `json:"failover_of,omitempty" doc:"The endpoint that could not be given the event, when this delivery was made in its place."`
	ClaimID        *gateway.ClaimID       `json:"claim_id,omitempty" doc:"The claim under which it goes out, of a single-fire type."`
	WaitingOn      *gateway.ClaimID       `json:"waiting_on,omitempty" doc:"The same, while another delivery of the fact holds it."`
	FailoverTo     *gateway.EndpointID    `json:"failover_to,omitempty" doc:"The endpoint that has got the event since this delivery failed, or had it already."`
}

// deliveryDetailView is a delivery with its attempts.
type deliveryDetailView struct {
	DeliveryView

	Attempts []attemptView `json:"attempts" nullable:"false" doc:"Oldest first."`
}

func viewDelivery(d gateway.Delivery) DeliveryView {
	return DeliveryView{
		ID: d.ID, EventID: d.EventID, EndpointID: d.EndpointID, Status: d.Status,
		AttemptCount: d.Attempts, LastOutcome: d.LastOutcome,
		LastErrorKind: optional(d.LastCause.ErrorKind), LastStatusCode: optional(d.LastCause.StatusCode), NextAttemptAt: optionalTime(d.NextAttemptAt),
		CreatedAt: timestamp(d.CreatedAt), ClosedAt: optionalTime(d.ClosedAt), FailoverOf: d.FailoverOf, FailoverTo: d.FailoverTo,
		ClaimID: d.ClaimID, WaitingOn: d.WaitingOn,
	}
}

// deliveryPath is the path of an operation on one delivery.
type deliveryPath struct {
	ID string `path:"id" doc:"The delivery's id."`
}

// EventTimeQuery is TimeQuery for a list that goes by the time of the event: a
// delivery's id carries it, and created_at can be later.
type EventTimeQuery struct {
	Since moment `query:"since" doc:"Of events accepted from this time on (RFC 3339)."`
	Until moment `query:"until" doc:"Of events accepted before this time (RFC 3339)."`
}

type listDeliveriesInput struct {
	PageQuery
	EventTimeQuery

	Endpoint string `query:"endpoint" doc:"Only to this endpoint, by id or uid."`
	Event    string `query:"event" doc:"Only of this event."`
	Status   string `query:"status" enum:"pending,sending,held,delivered,failed,suppressed,cancelled,expired" doc:"Only in this status. Pending leaves held ones out."`
	Outcome  string `query:"outcome" enum:"succeeded,rejected,unreachable,unknown" doc:"Only those whose last attempt ended so."`

	Operation string `query:"operation" doc:"Only those that this bulk operation opened last."`
}

func (a *API) listDeliveries(ctx context.Context, who caller, in *listDeliveriesInput) (*listReply[DeliveryView], error) {
	p, err := page[gateway.DeliveryID](deliveryList, in.PageQuery, TimeQuery(in.EventTimeQuery))
	if err != nil {
		return nil, err
	}
	filter := store.DeliveryFilter{Status: gateway.DeliveryStatus(in.Status), Outcome: gateway.Outcome(in.Outcome)}
	if filter.Event, err = filterID[gateway.EventID](in.Event, "event"); err != nil {
		return nil, err
	}
	if filter.Endpoint, err = a.endpointFilter(ctx, who, in.Endpoint); err != nil {
		return nil, err
	}
	if filter.Operation, err = filterID[gateway.OperationID](in.Operation, "operation"); err != nil {
		return nil, err
	}
	deliveries, err := a.Store.Deliveries(ctx, who.account(), filter, p)
	if err != nil {
		return nil, err
	}
	position := func(d gateway.Delivery) []byte { return idCursor(d.ID) }
	return reply(deliveryList, in.PageQuery, deliveries, position, viewDelivery), nil
}

func (a *API) getDelivery(ctx context.Context, who caller, in *deliveryPath) (*objectReply[deliveryDetailView], error) {
	id, err := pathID[gateway.DeliveryID](in.ID)
	if err != nil {
		return nil, err
	}
	delivery, err := a.Store.Delivery(ctx, who.account(), id)
	if err != nil {
		return nil, err
	}
	attempts, err := a.Store.DeliveryAttempts(ctx, who.account(), id)
	if err != nil {
		return nil, err
	}
	detail := deliveryDetailView{DeliveryView: viewDelivery(delivery), Attempts: make([]attemptView, 0, len(attempts))}
	for _, attempt := range attempts {
		detail.Attempts = append(detail.Attempts, viewAttempt(attempt))
	}
	return &objectReply[deliveryDetailView]{detail}, nil
}

// redeliverBody guards a redelivery by what its caller saw.
type redeliverBody struct {
	OverrideClaim string `json:"override_claim,omitempty" nullable:"true" maxLength:"1000" doc:"Of a single-fire type: why a fact that the endpoint has confirmed is to be sent all the same. It gets it a second time." example:"The receiver lost it in a restore."`
	IfAttempts    *int   `json:"if_attempts,omitempty" nullable:"true" minimum:"0" maximum:"65535" doc:"Only if the delivery has had this many attempts, so that a repeated call does nothing." example:"8"`
}

func (a *API) redeliver(ctx context.Context, who caller, in *deliveryPath, body redeliverBody) (*objectReply[DeliveryView], error) {
	id, err := pathID[gateway.DeliveryID](in.ID)
	if err != nil {
		return nil, err
	}
	delivery, err := a.Deliver.Redeliver(ctx, who.account(), who.actor(), id, body.IfAttempts, body.OverrideClaim)
	return object(delivery, err, viewDelivery)
}

func (a *API) cancelDelivery(ctx context.Context, who caller, in *deliveryPath, _ nothingBody) (*objectReply[DeliveryView], error) {
	id, err := pathID[gateway.DeliveryID](in.ID)
	if err != nil {
		return nil, err
	}
	delivery, err := a.Deliver.Cancel(ctx, who.account(), who.actor(), id)
	return object(delivery, err, viewDelivery)
}
