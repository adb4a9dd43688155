package store_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// take tells how many of n at once take the secret that the source waits for.
func (b bundle) take(t *testing.T, source gateway.SourceID, n int) int {
	t.Helper()
	var taken atomic.Int32
	errs := b.wide(t, int32(n)).atOnce(t.Context(), n, func(tx store.Tx, _ int) error {
		did, err := tx.TakeCapture(t.Context(), b.account, source)
		if did {
			taken.Add(1)
		}
		return err
	})
	wantErrors(t, errs, n, nil)
	return int(taken.Load())
}

// Of all that are sent to a source that waits, one is taken; a source that does
// not wait, or not any more, takes none.
func TestCaptureIsTakenOnce(t *testing.T) {
	t.Parallel()
	const n = 20
	b := newBundle(t)
	source := b.newSource(t).ID
	await := func(wait time.Duration) {
		b.in(t, func(tx store.Tx) error { return tx.AwaitCapture(t.Context(), b.account, source, wait) })
	}
	if got := b.take(t, source, n); got != 0 {
		t.Errorf("%d were taken by a source that does not wait", got)
	}
	for round := range 2 {
		await(time.Hour)
		await(time.Hour) // pressed twice, it waits for one
		if got := b.take(t, source, n); got != 1 {
			t.Errorf("round %d: %d were taken, want 1", round, got)
		}
	}
	await(-time.Second)
	if got := b.take(t, source, n); got != 0 {
		t.Errorf("%d were taken too late", got)
	}
}

// What was taken by a transaction that rolls back can be taken by another.
func TestCaptureOfARollBack(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	b.in(t, func(tx store.Tx) error { return tx.AwaitCapture(t.Context(), b.account, source, time.Hour) })
	err := b.InTx(t.Context(), func(tx store.Tx) error {
		if did, err := tx.TakeCapture(t.Context(), b.account, source); !did || err != nil {
			t.Errorf("taken %v, %v", did, err)
		}
		return errRollBack
	})
	if got := b.take(t, source, 2); got != 1 || !errors.Is(err, errRollBack) {
		t.Errorf("%d were taken, %v; want 1", got, err)
	}
}

func TestADeletedSourceTakesNoSecret(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	b.in(t, func(tx store.Tx) error {
		return errors.Join(tx.AwaitCapture(t.Context(), b.account, source, time.Hour), tx.DeleteSource(t.Context(), b.account, source))
	})
	if got := b.take(t, source, 1); got != 0 {
		t.Error("a deleted source took a secret")
	}
	err := b.InTx(t.Context(), func(tx store.Tx) error { return tx.AwaitCapture(t.Context(), b.account, source, time.Hour) })
	if !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("wait: %v, want ErrNotFound", err)
	}
}
