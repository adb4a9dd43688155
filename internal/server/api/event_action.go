package api

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// redeliverEventBody says where to deliver again.
type redeliverEventBody struct {
	Endpoint *string `json:"endpoint,omitempty" nullable:"true" doc:"Only to this endpoint, by id or uid; left out: wherever the event went." example:"ep_06h1m3v9c8x7k2q5n4t6w8y0za"`
}

// redeliveredView is a delivery of an event that was to be sent again.
type redeliveredView struct {
	DeliveryView

	Reopened  bool          `json:"reopened" doc:"Whether it goes again, or now if it was still to go. Otherwise it was left alone."`
	LeftAlone *problem.Code `json:"left_alone,omitempty" enum:"delivery_in_flight,claim_done,claim_in_progress,attempts_used_up,endpoint_inactive,delivery_changed" doc:"Why it was left alone: the code with which its own redelivery is refused."`
}

func viewRedelivered(d deliver.Redelivered) redeliveredView {
	v := redeliveredView{DeliveryView: viewDelivery(d.Delivery), Reopened: d.Left == nil}
	if d.Left != nil {
		v.LeftAlone = &problem.From(d.Left).Code
	}
	return v
}

func (a *API) redeliverEvent(ctx context.Context, who caller, in *eventPath, body redeliverEventBody) (*listReply[redeliveredView], error) {
	event, err := pathID[gateway.EventID](in.ID)
	if err != nil {
		return nil, err
	}
	var only *gateway.EndpointID
	if body.Endpoint != nil {
		id, err := a.endpointID(ctx, who, *body.Endpoint)
		if errors.Is(err, gateway.ErrNotFound) {
			return nil, problem.At("body.endpoint", "want an endpoint's id or uid")
		}
		if err != nil {
			return nil, err
		}
		only = &id
	}
	deliveries, err := a.Deliver.RedeliverEvent(ctx, who.account(), who.actor(), event, only)
	if err != nil {
		return nil, err
	}
	return whole(deliveries, viewRedelivered), nil
}

func (a *API) processEvent(ctx context.Context, who caller, in *eventPath, _ nothingBody) (*objectReply[EventView], error) {
	id, err := pathID[gateway.EventID](in.ID)
	if err != nil {
		return nil, err
	}
	if err := a.Decide.Reprocess(ctx, who.account(), who.actor(), id); err != nil {
		return nil, err
	}
	event, err := a.Store.Event(ctx, who.account(), id)
	return object(event, err, viewEvent)
}
