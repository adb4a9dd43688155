// Package deliver sends deliveries out. Each endpoint has a lane, which one
// drain at a time holds: it takes what is due, sends it with no transaction
// open, and records the results in groups. Who may send, and what is recorded,
// is decided by the lane's fence in the database; everything in memory is an
// accelerator.
package deliver

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Options are what a Service is made of.
type Options struct {
	Store  *store.Store
	Clock  *clock.Clock
	Log    *slog.Logger
	Egress *egress.Client
	// Node names this process; it must be new at each start.
	Node string
	// Workers is how many sends may be under way at once on this node.
	Workers int
	// Schedule and Timeout hold for endpoints without their own.
	Schedule []time.Duration
	Timeout  time.Duration
	// DisableAfter is how many counted failures in a row disable an endpoint.
	DisableAfter int
	// UserAgent is what receivers see.
	UserAgent string
	// Meter is told what happens, to be counted.
	Meter Meter
	// Trace begins the span of an attempt at an event that is traced, below the one
	// that accepted it, and returns it with what ends it. nil: attempts have no spans,
	// and receivers are told of the one that accepted the event.
	Trace func(accepted gateway.Span, began time.Time) (gateway.Span, func(*gateway.Attempt))
}

// shutdownGrace is how long sends in flight may go on after a stop.
const shutdownGrace = 20 * time.Second

// Service sends deliveries, and lets people redeliver, cancel and test.
type Service struct {
	Options

	slots *slots
	ears  ears

	// turns is how far claims were looked over, one look at a time.
	turnsMu sync.Mutex
	turns   store.TurnCursor

	mu      sync.Mutex
	running bool
	drains  map[gateway.EndpointID]*drain
	alarms  map[gateway.EndpointID]alarm
	all     sync.WaitGroup
	// stop ends when lanes are to be handed over, abort when sends are to end.
	stop, abort context.Context
}

// New makes a Service. It sends nothing before Run.
func New(o Options) *Service {
	o.Meter.complete()
	return &Service{Options: o, slots: newSlots(o.Workers), drains: map[gateway.EndpointID]*drain{}, alarms: map[gateway.EndpointID]alarm{}}
}

// Run lets lanes be drained until ctx ends; then it takes nothing more, lets
// the sends in flight finish, records them, hands the lanes over, and returns.
func (s *Service) Run(ctx context.Context) {
	abort, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.mu.Lock()
	s.running, s.stop, s.abort = true, ctx, abort
	s.mu.Unlock()
	<-ctx.Done()
	timer := time.AfterFunc(shutdownGrace, cancel)
	defer timer.Stop()
	s.mu.Lock()
	s.running = false
	for _, a := range s.alarms {
		a.timer.Stop()
	}
	s.mu.Unlock()
	s.all.Wait()
}

// runs tells whether Run has begun and is not about to end: Wake does nothing else.
func (s *Service) runs() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// Wake has the lanes drained by this node, if nobody else is at it. It does
// not block, and does nothing on a node that does not run.
func (s *Service) Wake(lanes []store.LaneRef) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running {
		return
	}
	for _, lane := range lanes {
		if d := s.drains[lane.EndpointID]; d != nil {
			d.poke()
			continue
		}
		d := newDrain(s, lane)
		s.drains[lane.EndpointID] = d
		s.all.Go(func() { d.run(s.stop) })
	}
}

// ended forgets a drain, unless it was poked since it looked last.
func (s *Service) ended(d *drain) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running && d.poked() {
		return false
	}
	delete(s.drains, d.ref.EndpointID)
	return true
}
