package deliver

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Running tells whether Run has begun and not ended: Wake does nothing before.
func (s *Service) Running() bool { return s.runs() }

// FreeSlots is how many sends this node has room for.
func (s *Service) FreeSlots() int {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	return s.slots.free
}

// LogSuccess logs an attempt as most are.
func (s *Service) LogSuccess(ctx context.Context) {
	s.logAttempt(ctx, &sent{eventType: "order.created", Result: store.Result{Status: gateway.DeliveryDelivered, Attempt: gateway.Attempt{
		N: 1, Trigger: gateway.TriggerAuto, Outcome: gateway.OutcomeSucceeded, StatusCode: 200, Duration: 1234 * time.Microsecond,
		Timing: gateway.Timing{FirstByte: time.Millisecond},
	}}})
}
