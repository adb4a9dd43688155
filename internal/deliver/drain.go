package deliver

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// retryPause is how long a drain waits after the database refused, before
	// it tries again.
	retryPause = 500 * time.Millisecond
	// fruitlessPause keeps a drain that is told of work and finds none from
	// asking on and on.
	fruitlessPause = 100 * time.Millisecond
	// nearAlarm is how soon a lane's next alarm must be for this node to keep
	// a timer for it, so that it is served to the millisecond and not only by
	// the next look at all alarms.
	nearAlarm = time.Minute
)

// drain keeps one lane empty on this node: it holds the lane while there is
// work, and ends when there is none.
type drain struct {
	service *Service
	ref     store.LaneRef
	// work is signalled when something may have become due.
	work chan struct{}
	// slow remembers how the lane was left, to queue among its like.
	slow bool
}

func newDrain(s *Service, ref store.LaneRef) *drain {
	return &drain{service: s, ref: ref, work: make(chan struct{}, 1)}
}

func (d *drain) poke() {
	select {
	case d.work <- struct{}{}:
	default:
	}
}

func (d *drain) poked() bool {
	select {
	case <-d.work:
		return true
	default:
		return false
	}
}

// run holds the lane as often as there is something to do. A slot comes
// before the lane, so that a lane that waits for this node's slots is free for
// other nodes.
func (d *drain) run(ctx context.Context) {
	s := d.service
	for {
		again, err := d.once(ctx)
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("draining a lane", "endpoint", d.ref.EndpointID, "error", err)
			_ = clock.Sleep(ctx, retryPause) // whether ctx has ended is asked below
		}
		if again && ctx.Err() == nil {
			continue
		}
		if s.ended(d) {
			return
		}
	}
}

// once waits for a slot, holds the lane until nothing is due, and gives it
// back. again tells that there is more to do.
func (d *drain) once(ctx context.Context) (again bool, err error) {
	s := d.service
	slot := s.slots.wait(d.ref.AccountID, d.slow)
	select {
	case <-slot.granted:
	case <-ctx.Done():
		s.slots.drop(slot)
		return false, nil
	}
	lane, ok, err := d.acquire(ctx)
	if err != nil || !ok {
		s.slots.release(d.ref.AccountID, d.slow, 1)
		return err != nil, err
	}
	if !d.countSlow(lane) {
		s.slots.release(d.ref.AccountID, false, 1)
		return true, s.Store.AbandonLane(ctx, lane)
	}
	h := newHold(d, lane) //nolint:contextcheck // what a hold waits for outlives the stop that ends ctx
	again, err = h.run(ctx)
	d.slow = h.lane.Flow.TimingOut
	if again && err == nil && h.fruitless {
		_ = clock.Sleep(ctx, fruitlessPause) // run asks whether ctx has ended
	}
	return again, err
}

func (d *drain) acquire(ctx context.Context) (store.Lane, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	return d.service.Store.AcquireLane(ctx, d.ref.AccountID, d.ref.EndpointID, d.service.Node)
}

// countSlow has the drain's slot counted as slow when the lane was left timing
// out. false means that the slow ones hold their share already: the drain is
// to queue among its like, and the lane to be free meanwhile.
func (d *drain) countSlow(lane store.Lane) bool {
	if d.slow || !lane.Flow.TimingOut {
		return true
	}
	d.slow = true
	return d.service.slots.slowDown()
}
