package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// turnTimeout bounds one turn's transaction.
const turnTimeout = 10 * time.Second

// turn is one transaction of a hold: it extends the lane, records what came
// back, and takes what there is room for; then the taken are sent.
func (h *hold) turn(ctx context.Context) error {
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), turnTimeout)
	defer cancel()
	want := h.want(ctx)
	defer h.giveBack()
	began := h.service.Clock.Now()
	var t taking
	err := h.inTx(writing, func(tx store.Tx) (err error) {
		t, err = h.transact(writing, tx, want)
		return err
	})
	if err != nil {
		h.uncertain = h.uncertain || want > 0 && store.IsUnknownFate(err)
		return err
	}
	if len(h.unrecorded) > 0 {
		h.service.Meter.Recorded(len(h.unrecorded), h.service.Clock.Now().Sub(began))
	}
	h.unrecorded = nil
	if t.active {
		h.target = t.target
	}
	h.keepPace(t)
	h.owes = t.limit > 0 && t.active && (!t.looked || t.gaveBack())
	if t.looked {
		h.mayHaveMore = t.found == t.limit
		h.fruitless = h.fruitless && t.found == 0
		h.looked()
	}
	h.start(t.taken)
	return nil
}

// taking is what a turn read and took.
type taking struct {
	target store.Target
	active bool
	limit  int
	// looked tells that it was looked for what is due.
	looked bool
	// found is how many were due, taken those of them that may be sent.
	found int
	taken []store.Taken
}

// gaveBack tells that there is room left and may be more to fill it: some of what
// was taken went back, since its claim was not won.
func (t *taking) gaveBack() bool { return t.found == t.limit && len(t.taken) < t.found }

// transact is the inside of a turn's transaction.
func (h *hold) transact(ctx context.Context, tx store.Tx, want int) (t taking, err error) {
	if t.target, t.active, err = h.begin(ctx, tx); err != nil {
		return t, err
	}
	if err = h.record(ctx, tx, t.target.Failures); err != nil {
		return t, err
	}
	if t.limit = min(want, t.target.MaxInFlight-h.inFlight, h.allowed(t.target)); !h.inactive && t.limit > 0 && !h.claims() {
		if t.taken, err = tx.TakeDue(ctx, h.lane, t.limit); err != nil {
			return t, err
		}
		t.looked, t.found = true, len(t.taken)
		if t.taken, err = h.claim(ctx, tx, t.target, t.taken); err != nil {
			return t, err
		}
		if err = h.relay(ctx, tx, t.target, t.taken); err != nil {
			return t, err
		}
	}
	return t, h.failOver(ctx, tx)
}

// begin extends the lane, which is the guard of everything else in the turn,
// and reads the endpoint.
func (h *hold) begin(ctx context.Context, tx store.Tx) (store.Target, bool, error) {
	mine, err := tx.ExtendLane(ctx, h.lane)
	if err != nil {
		return store.Target{}, false, err
	}
	if !mine {
		return store.Target{}, false, errLaneLost
	}
	target, active, err := tx.ReadTarget(ctx, h.lane)
	h.inactive, h.disabled, h.failover = !active, target.State == gateway.EndpointDisabled, target.Failover
	return target, active, err
}

// want is how many deliveries to take: what the lane has room for, and slots.
func (h *hold) want(ctx context.Context) int {
	h.starved = false
	h.lookIfTime()
	if !h.willing(ctx) || !h.mayHaveMore {
		return 0
	}
	room := h.room()
	if missing := room - h.spare; missing > 0 {
		h.spare += h.service.slots.try(h.lane.AccountID, h.slow, missing)
	}
	h.starved = room > 0 && h.spare == 0
	return min(room, h.spare)
}

// takeOver makes pending again what an earlier holder left in the air, and goes on
// waiting for what it gave to a listener.
func (h *hold) takeOver(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	target, err := h.service.Store.EndpointTarget(ctx, h.lane.AccountID, h.lane.EndpointID)
	if err != nil && !errors.Is(err, gateway.ErrNotFound) {
		return err
	}
	var left int64
	var adopted []store.Taken
	err = h.service.Store.InTx(ctx, func(tx store.Tx) error {
		mine, err := tx.ExtendLane(ctx, h.lane)
		if err != nil {
			return err
		}
		if !mine {
			return errLaneLost
		}
		if adopted, err = tx.AdoptRelays(ctx, h.lane); err != nil {
			return err
		}
		left, err = tx.TakeOver(ctx, h.lane)
		if err != nil {
			return err
		}
		return tx.AddTally(ctx, h.lane, h.service.Node, store.Stats{Unknown: left})
	})
	if err != nil {
		return err
	}
	h.service.Meter.Lost(left)
	if left > 0 || len(adopted) > 0 {
		h.service.Log.Info("lane taken over", "endpoint", h.lane.EndpointID, "unknown", left, "adopted", len(adopted))
	}
	h.adopt(target, adopted)
	return nil
}

// settle takes a sender's report: its slot is free, and the lane as wide as
// the answer says. A send that was cancelled is no result.
func (h *hold) settle(r *sent) {
	h.inFlight--
	if !r.relayed {
		h.service.slots.release(h.lane.AccountID, r.slow, 1)
	}
	if r.cancelled {
		// What a listener has is for whoever holds the lane next to wait for.
		h.uncertain = h.uncertain || r.relayed
		return
	}
	h.unrecorded = append(h.unrecorded, r)
	if due := r.NextAttemptAt; !due.IsZero() && (h.nextDue.IsZero() || due.Before(h.nextDue)) {
		h.nextDue = due
	}
	flow := &h.lane.Flow
	switch now := h.service.Clock.Now(); {
	case r.NoAttempt, r.Attempt.Outcome == gateway.OutcomeUnknown:
	case r.Attempt.Outcome == gateway.OutcomeSucceeded:
		flow.Success(h.target.MaxInFlight)
	case r.answer.IsTrouble():
		flow.Trouble(r.Attempt.StartedAt, now, r.Attempt.ErrorKind)
	default:
		flow.Answered()
	}
}

// giveBack returns the slots that a turn did not use; the next one asks anew.
func (h *hold) giveBack() {
	h.service.slots.release(h.lane.AccountID, h.slow, h.spare)
	h.spare, h.slow = 0, h.lane.Flow.TimingOut
}
