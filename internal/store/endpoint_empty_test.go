package store_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// longBacklog is more than a deletion cancels by itself.
const longBacklog = 1200

// deletedWithBacklog is a deleted endpoint that still has open deliveries, one
// of them in the air, and what was taken with the lane that it was taken for.
func (b bundle) deletedWithBacklog(t *testing.T) (gateway.EndpointID, store.Lane, store.Taken) {
	t.Helper()
	id := b.newEndpoint(t).ID
	b.queued(t, id, longBacklog)
	lane := b.acquire(t, id, "node")
	taken := b.takeDue(t, lane, 1)[0]
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, id) })
	return id, lane, taken
}

const stillOpen = `SELECT count(*) FROM deliveries WHERE status IN ('pending', 'sending')`

func (b bundle) wantLeaving(t *testing.T, want ...store.LaneRef) {
	t.Helper()
	got, err := b.LeavingEndpoints(t.Context(), 9)
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 || err != nil {
		t.Errorf("leaving: %v, %s", err, diff)
	}
}

// A deletion leaves the end of a long backlog to others; any number of them at
// once cancel each delivery once.
func TestCancelOpenAtOnce(t *testing.T) {
	t.Parallel()
	const n, batch = 8, 20
	b := newBundle(t)
	id, _, _ := b.deletedWithBacklog(t)
	left := b.count(t, stillOpen)
	if left == 0 || left > longBacklog {
		t.Fatalf("%d deliveries are open after the deletion", left)
	}
	b.wantLeaving(t, store.LaneRef{AccountID: b.account, EndpointID: id})
	var cancelled atomic.Int64
	for range longBacklog / batch {
		errs := b.atOnce(t.Context(), n, func(tx store.Tx, _ int) error {
			did, err := tx.CancelOpen(t.Context(), b.account, id, batch)
			cancelled.Add(int64(did))
			return err
		})
		wantErrors(t, errs, n, nil)
	}
	if cancelled.Load() != int64(left) {
		t.Errorf("%d deliveries were cancelled, %d were open", cancelled.Load(), left)
	}
	b.wantLeaving(t)
	b.wantNothingToSend(t, id)
	if lane := b.lane(t, id); lane.Alarm {
		t.Error("a deleted endpoint's lane has an alarm")
	}
	wrong := b.count(t, `SELECT count(*) FROM deliveries WHERE closed_at IS NULL OR next_attempt_at IS NOT NULL`)
	if wrong != 0 {
		t.Errorf("%d cancelled deliveries look open", wrong)
	}
}

// Nothing is cancelled at an endpoint that is there, whatever its state.
func TestCancelOpenLeavesTheLivingAlone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.newEndpoint(t).ID
	b.queued(t, id, 2)
	for _, state := range []string{"active", "paused", "disabled"} {
		b.exec(t, 1, `UPDATE endpoints SET state = $2 WHERE id = $1`, id, state)
		b.in(t, func(tx store.Tx) error {
			if n, err := tx.CancelOpen(t.Context(), b.account, id, 9); n != 0 || err != nil {
				t.Errorf("%s: %d cancelled, %v", state, n, err)
			}
			return nil
		})
	}
	other := b.newAccount(t, "other")
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, b.newEndpoint(t).ID) })
	b.exec(t, 1, `UPDATE endpoints SET deleted_at = now() WHERE id = $1`, id)
	b.in(t, func(tx store.Tx) error {
		if n, err := tx.CancelOpen(t.Context(), other, id, 9); n != 0 || err != nil {
			t.Errorf("another account: %d cancelled, %v", n, err)
		}
		return nil
	})
	if n := b.count(t, stillOpen); n != 2 {
		t.Errorf("%d are open, want both", n)
	}
}

// While a backlog is being cancelled, deciding goes on, and does not see the
// endpoint.
func TestDecidingGoesOnWhileABacklogIsCancelled(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id, _, _ := b.deletedWithBacklog(t)
	stays := b.newEndpoint(t)
	b.in(t, func(tx store.Tx) error {
		if n, err := tx.CancelOpen(t.Context(), b.account, id, longBacklog); n == 0 || err != nil {
			return errors.Join(errors.New("nothing was cancelled"), err)
		}
		return b.InTx(t.Context(), func(tx store.Tx) error { // would wait for a lock in vain
			found, err := tx.Candidates(t.Context(), []gateway.AccountID{b.account}, []string{"a"})
			if len(found) != 1 || found[0].ID != stays.ID {
				t.Errorf("candidates %+v", found)
			}
			return err
		})
	})
}

// A result that comes after the deletion is kept as an attempt. Its delivery is
// closed in the end: by the result, or by whoever finds it pending again.
func TestResultsRaceWithCancelOpen(t *testing.T) {
	t.Parallel()
	for _, status := range []gateway.DeliveryStatus{gateway.DeliveryPending, gateway.DeliveryFailed} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			id, lane, taken := b.deletedWithBacklog(t)
			// As if there had been too many in the air for the deletion itself.
			b.exec(t, 1, `UPDATE deliveries SET status = 'sending', closed_at = NULL WHERE id = $1`, taken.ID)
			result := b.answered(taken, gateway.OutcomeRejected, status)
			ended := b.whileWaiting(t, func(tx store.Tx) error {
				if mine, err := tx.ExtendLane(t.Context(), lane); !mine {
					return errors.Join(errors.New("the lane is lost"), err)
				}
				_, err := tx.Record(t.Context(), lane, []store.Result{result})
				return err
			}, func(tx store.Tx) error {
				_, err := tx.CancelOpen(t.Context(), b.account, id, 2*longBacklog)
				return err
			}, func(store.Tx) error { return nil })
			if ended != nil {
				t.Fatal(ended)
			}
			want := status
			if want == gateway.DeliveryPending {
				want = gateway.DeliveryCancelled
			}
			if got := b.row(t, taken.ID); got.Status != string(want) || !got.Closed {
				t.Errorf("delivery %+v", got)
			}
			if n := b.count(t, `SELECT count(*) FROM attempts WHERE delivery_id = $1`, taken.ID); n != 1 {
				t.Errorf("%d attempts are kept", n)
			}
			b.wantLeaving(t)
			b.wantNothingToSend(t, id)
		})
	}
}

// wantNothingToSend fails if a deleted endpoint's lane can be taken, or
// anything is open there.
func (b bundle) wantNothingToSend(t *testing.T, id gateway.EndpointID) {
	t.Helper()
	if n := b.count(t, stillOpen); n != 0 {
		t.Errorf("%d deliveries are open", n)
	}
	if _, ok, err := b.AcquireLane(t.Context(), b.account, id, "node"); ok || err != nil {
		t.Errorf("a deleted endpoint's lane: %t, %v", ok, err)
	}
}
