package deliver

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// handOnAtOnce is how many waiting deliveries a disabled endpoint gives to its
// failover in one transaction: tens of milliseconds.
const handOnAtOnce = 500

// inTx runs a transaction of the hold, and wakes who got work by it: the next
// endpoint of the chain.
func (h *hold) inTx(ctx context.Context, do func(store.Tx) error) error {
	h.heir, h.failed = nil, nil
	err := h.service.Store.InTx(ctx, do)
	if err == nil && h.heir != nil {
		h.service.Wake([]store.LaneRef{*h.heir})
	}
	return err
}

// noteFailed remembers what this transaction recorded as failed for good.
func (h *hold) noteFailed(results []store.Result, changed map[gateway.AttemptID]bool) {
	for i := range results {
		a := &results[i].Attempt
		if results[i].Status == gateway.DeliveryFailed && changed[a.ID()] {
			h.failed = append(h.failed, a.EventID)
		}
	}
}

// failOver gives to the next endpoint of the chain what has failed here for
// good, and what waits here if the endpoint is disabled, at most handOnAtOnce
// of it: the release finds that there is more. What is in the air follows when
// its answer is recorded, if that is a failure. It comes last: the endpoint was
// judged, whose row is locked before the next one's.
func (h *hold) failOver(ctx context.Context, tx store.Tx) error {
	h.handsOn = false
	if h.failover == nil || !h.disabled && len(h.failed) == 0 {
		return nil
	}
	limit := handOnAtOnce
	if h.claims() {
		limit = 0 // closing what waits locks claims; this turn holds some
	}
	waited, heir, err := tx.FailOver(ctx, h.lane, h.failed, limit)
	if err != nil || heir == nil {
		return err
	}
	h.handsOn = h.disabled
	h.fruitless = h.fruitless && waited == 0
	if waited > 0 || len(h.failed) > 0 {
		h.heir = heir
	}
	return nil
}

// leaveHandingOn readies the lane of an endpoint that hands on what it gets to
// be taken at once for whatever comes next: it sends nothing, so it neither
// sleeps nor queues among those that time out.
func (h *hold) leaveHandingOn() {
	h.lane.Flow.Answered()
}

// mayHandOnMore tells, after the lane of an endpoint that hands on was given
// back, whether something waits there. When this node stops it is left to
// others.
func (h *hold) mayHandOnMore(ctx context.Context, stopping bool) (bool, error) {
	more, err := h.service.Store.HandsOn(ctx, h.lane.AccountID, h.lane.EndpointID)
	if err != nil || !more || !stopping {
		return more || err != nil && !stopping, err
	}
	return false, h.service.leaveToOthers(ctx, h.drain.ref)
}

// HandOnStalled wakes disabled endpoints that have something to hand on and
// nobody at it: a process ended in the middle, or a job was lost.
func (s *Service) HandOnStalled(ctx context.Context) error {
	stalled, err := s.Store.StalledHeads(ctx, alarmLimit)
	if err == nil {
		s.Wake(stalled)
	}
	return err
}
