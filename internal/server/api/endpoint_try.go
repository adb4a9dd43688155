package api

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// testSendBody says what to send as a test.
type testSendBody struct {
	Type *string `json:"type,omitempty" nullable:"true" example:"order.created" doc:"The event type to name. Left out: rowlock.test."`
}

func (a *API) testEndpoint(ctx context.Context, who caller, in *endpointPath, body testSendBody) (*objectReply[attemptView], error) {
	id, err := a.endpointID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	eventType := "" // the use case's own
	if body.Type != nil {
		if eventType = *body.Type; !gateway.ValidEventType(eventType) {
			return nil, problem.At("body.type", "want an event type such as order.created")
		}
	}
	attempt, err := a.Deliver.Test(ctx, who.account(), who.actor(), id, eventType)
	return object(attempt, err, viewAttempt)
}
