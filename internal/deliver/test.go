package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// testData is what a test send says.
type testData struct {
	Message    string             `json:"message"`
	EndpointID gateway.EndpointID `json:"endpoint_id"`
	SentAt     time.Time          `json:"sent_at"`
}

// Test sends an event to one endpoint, once and now, whatever its state, and
// returns the attempt. The event is a real one that is shown among the others;
// nobody else gets it. An empty type is gateway.TypeTest. Where an endpoint is
// listened for, the listener makes the attempt: gateway.ErrNobodyListens.
func (s *Service) Test(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID, eventType string) (gateway.Attempt, error) {
	if eventType == "" {
		eventType = gateway.TypeTest
	} else if err := gateway.CheckPublishedType(eventType); err != nil {
		return gateway.Attempt{}, err
	}
	target, err := s.Store.EndpointTarget(ctx, account, id)
	if err != nil {
		return gateway.Attempt{}, err
	}
	if target.Kind == gateway.EndpointListen && !target.Listened {
		return gateway.Attempt{}, gateway.ErrNobodyListens
	}
	event, err := s.insertTest(ctx, account, actor, id, eventType)
	if err != nil {
		return gateway.Attempt{}, err
	}
	in := attemptInput{
		delivery: gateway.DeriveDeliveryID(event.Event.ID, id), event: event.Event.ID, n: 1,
		eventType: eventType, headers: event.Body.Headers, body: event.Body.Data,
	}
	if target.Kind == gateway.EndpointListen {
		return s.relayTest(ctx, store.Lane{AccountID: account, EndpointID: id}, target, in)
	}
	attempt, answer, cancelled := s.attempt(ctx, target, in)
	attempt.AccountID, attempt.EndpointID, attempt.Trigger = account, id, gateway.TriggerTest
	status, _ := gateway.RetryPolicy{}.Next(answer, 1, s.Clock.Now(), 0)
	s.attempted(ctx, &sent{Result: store.Result{Attempt: attempt, Status: status}, eventType: eventType, cancelled: cancelled})
	writing := context.WithoutCancel(ctx)
	return attempt, s.Store.InTx(writing, func(tx store.Tx) error { return tx.InsertTested(writing, attempt, status) })
}

// insertTest stores the event, decided already, before anything is sent.
func (s *Service) insertTest(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID, eventType string) (store.NewEvent, error) {
	data, err := json.Marshal(testData{Message: "This is a test.", EndpointID: id, SentAt: s.Clock.Now()})
	if err != nil {
		return store.NewEvent{}, fmt.Errorf("write test event: %w", err)
	}
	event := store.NewEvent{
		Event: gateway.Event{
			ID: gateway.EventID(s.Clock.NewID()), AccountID: account, Type: eventType,
			Status: gateway.EventProcessed, Decision: "a test of " + strings.ToLower(id.String()),
		},
		Body: gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: data},
	}
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		if event.Event.SourceID, err = tx.APISource(ctx, account); err != nil {
			return err
		}
		if err := tx.InsertEvents(ctx, []store.NewEvent{event}); err != nil {
			return err
		}
		return tx.Audit(ctx, account, actor, "endpoint.test", id.String(), eventType, s.Clock.NewID())
	})
	return event, err
}
