package deliver

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Meter is told what happens, by whoever does it: its functions must not block.
// Each may be nil.
type Meter struct {
	// Attempted is told of each attempt that ended, and what its delivery is then.
	Attempted func(a *gateway.Attempt, status gateway.DeliveryStatus)
	// Lost is told of attempts whose end nobody knows: who made them is gone.
	Lost func(attempts int64)
	// Recorded is told of each transaction that recorded results: how many, and
	// how long it took.
	Recorded func(results int, took time.Duration)
}

// complete sets what is nil to do nothing.
func (m *Meter) complete() {
	if m.Attempted == nil {
		m.Attempted = func(*gateway.Attempt, gateway.DeliveryStatus) {}
	}
	if m.Lost == nil {
		m.Lost = func(int64) {}
	}
	if m.Recorded == nil {
		m.Recorded = func(int, time.Duration) {}
	}
}

// Busy is how much this node has under way.
type Busy struct {
	// Sends are slots that are held, of as many as Workers; what a listener sends
	// holds none. Waiting are lanes that have work and wait for a slot.
	Sends, Waiting int
	// Drains are lanes that this node drains or wants to.
	Drains int
}

// Busy tells how much this node has under way.
func (s *Service) Busy() Busy {
	s.mu.Lock()
	drains := len(s.drains)
	s.mu.Unlock()
	sends, waiting := s.slots.held()
	return Busy{Sends: sends, Waiting: waiting, Drains: drains}
}

// attempted counts and logs an attempt that ended, and ends its span. One that we
// stopped ourselves did not end.
func (s *Service) attempted(ctx context.Context, r *sent) {
	if r.cancelled || r.NoAttempt {
		return
	}
	s.Meter.Attempted(&r.Attempt, r.Status)
	s.logAttempt(ctx, r)
	if r.endSpan != nil {
		r.endSpan(&r.Attempt)
	}
}
