package store_test

import (
	"sync/atomic"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// countAtOnce has a failure counted ten times at the same moment and returns
// how often the endpoint was disabled by it.
func countAtOnce(t *testing.T, b bundle, lane store.Lane, limit int) int {
	t.Helper()
	var disabled atomic.Int32
	errs := b.atOnce(t.Context(), 10, func(tx store.Tx, _ int) error {
		counted, err := tx.CountFailure(t.Context(), lane, limit)
		if counted.Disabled {
			disabled.Add(1)
		}
		return err
	})
	wantErrors(t, errs, 10, nil)
	return int(disabled.Load())
}

func TestCountFailure(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	const limit = 3
	for round := 1; round <= limit; round++ {
		disabled := countAtOnce(t, b, lane, limit)
		e, err := b.Endpoint(t.Context(), b.account, lane.EndpointID)
		if err != nil || e.ConsecutiveFailures != round {
			t.Fatalf("round %d: %d failures, %v", round, e.ConsecutiveFailures, err)
		}
		if last := round == limit; (disabled == 1) != last || (e.State == gateway.EndpointDisabled) != last || (e.DisabledReason == "3 failures in a row") != last {
			t.Errorf("round %d: disabled %d times, %s %q", round, disabled, e.State, e.DisabledReason)
		}
		b.exec(t, 1, `UPDATE endpoints SET failure_counted_at = failure_counted_at - interval '1 s' WHERE id = $1`, lane.EndpointID)
	}
	if n := countAtOnce(t, b, lane, limit); n != 0 {
		t.Errorf("a disabled endpoint was disabled %d times more", n)
	}
}

func TestCountFailureIsForActiveEndpoints(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	b.exec(t, 1, `UPDATE endpoints SET state = 'paused' WHERE id = $1`, lane.EndpointID)
	if n := countAtOnce(t, b, lane, 1); n != 0 {
		t.Errorf("a paused endpoint was disabled %d times", n)
	}
	if e, err := b.Endpoint(t.Context(), b.account, lane.EndpointID); err != nil || e.State != gateway.EndpointPaused || e.ConsecutiveFailures != 0 {
		t.Errorf("endpoint %+v, %v", e, err)
	}
}

func TestResetFailures(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	other := b.acquire(t, b.newEndpoint(t).ID, "n")
	countAtOnce(t, b, lane, 9)
	countAtOnce(t, b, other, 9)
	b.in(t, func(tx store.Tx) error { return tx.ResetFailures(t.Context(), lane) })
	if n := b.count(t, `SELECT count(*) FROM endpoints WHERE consecutive_failures = 0 AND failure_counted_at IS NULL AND id = $1`, lane.EndpointID); n != 1 {
		t.Error("failures are left")
	}
	if n := b.count(t, `SELECT count(*) FROM endpoints WHERE consecutive_failures = 1`); n != 1 {
		t.Error("another endpoint was touched")
	}
	// The next failure counts at once, however soon it comes.
	if n := countAtOnce(t, b, lane, 1); n != 1 {
		t.Errorf("disabled %d times", n)
	}
}

func TestDisableEndpoint(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	var disabled atomic.Int32
	errs := b.atOnce(t.Context(), 10, func(tx store.Tx, _ int) error {
		did, err := tx.DisableEndpoint(t.Context(), lane, "gone")
		if did {
			disabled.Add(1)
		}
		return err
	})
	wantErrors(t, errs, 10, nil)
	e, err := b.Endpoint(t.Context(), b.account, lane.EndpointID)
	if err != nil || disabled.Load() != 1 || e.State != gateway.EndpointDisabled || e.DisabledReason != "gone" {
		t.Errorf("disabled %d times: %+v, %v", disabled.Load(), e, err)
	}
	b.exec(t, 1, `UPDATE endpoints SET state = 'paused', disabled_reason = '' WHERE id = $1`, lane.EndpointID)
	b.in(t, func(tx store.Tx) error {
		did, err := tx.DisableEndpoint(t.Context(), lane, "gone")
		if did {
			t.Error("what a person paused was disabled")
		}
		return err
	})
}
