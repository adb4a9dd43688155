package store_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const testLease = time.Minute

// newOperation stores an operation and claims it.
func (b bundle) newOperation(t *testing.T, kind gateway.OperationKind, f gateway.OperationFilter) store.OperationRun {
	t.Helper()
	o := gateway.Operation{ID: gateway.OperationID(b.clock.NewID()), Kind: kind, Filter: f, Actor: gateway.ActorRowlock}
	b.in(t, func(tx store.Tx) (err error) {
		o, err = tx.CreateOperation(t.Context(), b.account, o, b.clock.Now().Add(time.Second))
		return err
	})
	run, ok, err := b.ClaimOperation(t.Context(), b.account, o.ID, testLease)
	if err != nil || !ok {
		t.Fatalf("claim the operation: %t, %v", ok, err)
	}
	return run
}

// running has an operation counted.
func (b bundle) running(t *testing.T, run store.OperationRun, total int) store.OperationRun {
	t.Helper()
	step := store.OperationStep{Counted: run.Counted, Cursor: run.Cursor, Total: total, State: gateway.OperationRunning}
	b.in(t, func(tx store.Tx) (err error) {
		run, err = tx.MoveOperation(t.Context(), run, step)
		return err
	})
	return run
}

// close closes deliveries with a status.
func (b bundle) close(t *testing.T, status gateway.DeliveryStatus, ids ...gateway.DeliveryID) {
	t.Helper()
	b.exec(t, int64(len(ids)), `UPDATE deliveries SET status = $2, closed_at = now(), next_attempt_at = NULL, attempts = 8, step = 8, priority = 1 WHERE id = ANY ($1)`, ids, string(status))
}

func TestOperationIsKept(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, since := b.newEndpoint(t), b.clock.Now().Add(-time.Hour).Truncate(time.Microsecond)
	want := gateway.Operation{
		ID: gateway.OperationID(b.clock.NewID()), AccountID: b.account, Kind: gateway.OperationRedeliver, State: gateway.OperationCounting,
		Filter: gateway.OperationFilter{
			Endpoint: &e.ID, Status: gateway.DeliveryFailed, ErrorKind: gateway.ErrorTimeout, StatusCode: 503, Since: since,
			Deliveries: []gateway.DeliveryID{{1}, {2}},
		},
		PerSecond: 7, Actor: "usr_1",
	}
	b.in(t, func(tx store.Tx) (err error) {
		made, err := tx.CreateOperation(t.Context(), b.account, want, b.clock.Now())
		want.CreatedAt = made.CreatedAt
		if diff := cmp.Diff(want, made); diff != "" {
			t.Error(diff)
		}
		return err
	})
	got, err := b.Operation(t.Context(), b.account, want.ID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	other := b.newAccount(t, "other")
	if _, err := b.Operation(t.Context(), other, want.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account's: %v", err)
	}
	list, err := b.Operations(t.Context(), b.account, store.Page[gateway.OperationID]{Limit: 9})
	if err != nil || len(list) != 1 || list[0].ID != want.ID {
		t.Errorf("list %+v, %v", list, err)
	}
	if list, _ := b.Operations(t.Context(), other, store.Page[gateway.OperationID]{Limit: 9}); len(list) != 0 {
		t.Errorf("another account's list %+v", list)
	}
}

// One node at a time works on an operation, until it leaves it or dies.
func TestClaimOperation(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	run := b.newOperation(t, gateway.OperationRedeliver, gateway.OperationFilter{})
	claim := func() bool {
		_, ok, err := b.ClaimOperation(t.Context(), b.account, run.ID, testLease)
		if err != nil {
			t.Error(err)
		}
		return ok
	}
	if claim() {
		t.Error("claimed twice")
	}
	b.exec(t, 1, `UPDATE operations SET leased_until = now() - interval '1 s'`)
	var got atomic.Int32
	errs := b.atOnce(t.Context(), 5, func(store.Tx, int) error {
		if claim() {
			got.Add(1)
		}
		return nil
	})
	wantErrors(t, errs, 5, nil)
	if got.Load() != 1 {
		t.Errorf("%d claimed it after its node had died", got.Load())
	}
	b.in(t, func(tx store.Tx) error {
		more, err := tx.LeaveOperation(t.Context(), b.account, run.ID, 0)
		if !more {
			t.Error("nothing was left")
		}
		return err
	})
	if !claim() {
		t.Error("not claimed after it was left")
	}
}

func TestRingOperations(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	run := b.newOperation(t, gateway.OperationRedeliver, gateway.OperationFilter{})
	ring := func() (due []store.OperationRef) {
		b.in(t, func(tx store.Tx) (err error) {
			due, err = tx.RingOperations(t.Context(), 9)
			return err
		})
		return due
	}
	if due := ring(); len(due) != 0 {
		t.Errorf("one that is worked on rang: %v", due)
	}
	b.exec(t, 1, `UPDATE operations SET next_run_at = now()`)
	if due := ring(); !slices.Equal(due, []store.OperationRef{{AccountID: b.account, OperationID: run.ID}}) {
		t.Errorf("rang: %v", due)
	}
	if due := ring(); len(due) != 0 {
		t.Errorf("rang twice: %v", due)
	}
}

// Of many who make the same step, one does.
func TestStepIsMadeOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	run := b.running(t, b.newOperation(t, gateway.OperationRedeliver, gateway.OperationFilter{}), 10)
	step := store.OperationStep{Counted: run.Counted, Cursor: [16]byte{1}, Done: 3, Failed: 1, State: gateway.OperationRunning}
	lost := errors.New("lost")
	make1 := func(tx store.Tx, _ int) error {
		mine, err := tx.HoldOperation(t.Context(), run, testLease)
		if err != nil || !mine {
			return errors.Join(lost, err)
		}
		_, err = tx.MoveOperation(t.Context(), run, step)
		return err
	}
	wantErrors(t, b.atOnce(t.Context(), 10, make1), 1, lost)
	wantErrors(t, b.atOnce(t.Context(), 1, make1), 0, lost)
	got, err := b.Operation(t.Context(), b.account, run.ID)
	if err != nil || got.Total != 10 || got.Done != 3 || got.Failed != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.MoveOperation(t.Context(), run, step)
		if !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("moved from where it is not: %v", err)
		}
		return nil
	})
}

// A stop works once, waits for the batch under way, and lets none begin.
func TestCancelOperation(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	run := b.running(t, b.newOperation(t, gateway.OperationRedeliver, gateway.OperationFilter{}), 10)
	var stopped atomic.Int32
	cancel := func(tx store.Tx, _ int) error {
		did, err := tx.CancelOperation(t.Context(), b.account, run.ID)
		if did {
			stopped.Add(1)
		}
		return err
	}
	other := b.newAccount(t, "other")
	b.in(t, func(tx store.Tx) error {
		if did, err := tx.CancelOperation(t.Context(), other, run.ID); did || err != nil {
			t.Errorf("another account stopped it: %t, %v", did, err)
		}
		return nil
	})
	err := b.whileWaiting(t,
		func(tx store.Tx) error { _, err := tx.HoldOperation(t.Context(), run, testLease); return err },
		func(tx store.Tx) error { return cancel(tx, 0) },
		func(tx store.Tx) error {
			next, err := tx.MoveOperation(t.Context(), run, store.OperationStep{Cursor: [16]byte{1}, Done: 1, State: gateway.OperationRunning})
			run = next
			return err
		})
	if err != nil || stopped.Load() != 1 {
		t.Errorf("stop: %v, %d", err, stopped.Load())
	}
	wantErrors(t, b.atOnce(t.Context(), 5, cancel), 5, nil)
	if stopped.Load() != 1 {
		t.Errorf("stopped %d times", stopped.Load())
	}
	b.in(t, func(tx store.Tx) error {
		if mine, err := tx.HoldOperation(t.Context(), run, testLease); mine || err != nil {
			t.Errorf("a batch begins after the stop: %t, %v", mine, err)
		}
		return nil
	})
	got, err := b.Operation(t.Context(), b.account, run.ID)
	if err != nil || got.State != gateway.OperationCancelled || got.Done != 1 || got.FinishedAt == nil || got.SettledAt != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAnEndedOperationHasNoAlarm(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	run := b.running(t, b.newOperation(t, gateway.OperationRedeliver, gateway.OperationFilter{}), 1)
	b.in(t, func(tx store.Tx) error {
		_, err := tx.MoveOperation(t.Context(), run, store.OperationStep{Counted: run.Counted, State: gateway.OperationDone, Settled: true})
		if err != nil {
			return err
		}
		more, err := tx.LeaveOperation(t.Context(), b.account, run.ID, 0)
		if more {
			t.Error("it was left for more")
		}
		return err
	})
	if n := b.count(t, `SELECT count(*) FROM operations WHERE next_run_at IS NULL AND leased_until IS NULL AND finished_at IS NOT NULL`); n != 1 {
		t.Error("the alarm is still set")
	}
	if _, ok, err := b.ClaimOperation(t.Context(), b.account, run.ID, testLease); ok || err != nil {
		t.Errorf("claimed: %t, %v", ok, err)
	}
}

// What was being closed when it was counted adds to the total when its turn
// comes: an operation is never done with more than all.
func TestTotalGrows(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	run := b.running(t, b.newOperation(t, gateway.OperationRedeliver, gateway.OperationFilter{}), 3)
	b.in(t, func(tx store.Tx) (err error) {
		step := store.OperationStep{Counted: run.Counted, Cursor: run.Cursor, Done: 3, Failed: 2, State: gateway.OperationRunning}
		run, err = tx.MoveOperation(t.Context(), run, step)
		return err
	})
	if run.Total != 5 {
		t.Errorf("%d done and %d failed of %d", run.Done, run.Failed, run.Total)
	}
}

// An account has so many open operations and no more, whoever makes them at
// once; those that have ended and those of others do not count.
func TestOpenOperationsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	create := func(tx store.Tx, account gateway.AccountID) error {
		_, err := tx.CreateOperation(t.Context(), account, gateway.Operation{
			ID: gateway.OperationID(b.clock.NewID()), Kind: gateway.OperationRedeliver, Actor: gateway.ActorRowlock,
		}, b.clock.Now())
		return err
	}
	b.in(t, func(tx store.Tx) error {
		for range gateway.MaxOpenOperations - 2 {
			if err := create(tx, b.account); err != nil {
				return err
			}
		}
		return nil
	})
	errs := b.atOnce(t.Context(), 5, func(tx store.Tx, _ int) error { return create(tx, b.account) })
	wantErrors(t, errs, 2, gateway.ErrLimitReached)
	other := b.newAccount(t, "other")
	b.in(t, func(tx store.Tx) error { return create(tx, other) })
	b.exec(t, 1, `UPDATE operations SET state = 'done', next_run_at = NULL WHERE id = (SELECT id FROM operations WHERE account_id = $1 LIMIT 1)`, b.account)
	b.in(t, func(tx store.Tx) error { return create(tx, b.account) })
}
