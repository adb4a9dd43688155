package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// reserve counts a try; one too many is gateway.ErrRateLimited.
func reserve(t *testing.T, tx store.Tx, y store.Try) error {
	t.Helper()
	err := tx.ReserveTry(t.Context(), y)
	if full, ok := errors.AsType[*store.TryLimitError](err); ok && time.Until(full.Until) > y.Window-time.Minute {
		return gateway.ErrRateLimited
	}
	return err
}

func TestTriesAreCountedBeforeTheyAreMade(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	y := store.Try{Subject: [32]byte{1}, Address: "192.0.2.1", Most: 3, Window: time.Hour}
	try := func(tx store.Tx, _ int) error { return reserve(t, tx, y) }
	wantErrors(t, b.atOnce(t.Context(), poolSize, try), 3, gateway.ErrRateLimited)
	if n := b.count(t, `SELECT tries FROM tries`); n != 3 {
		t.Errorf("%d were counted, want no more than may be made", n)
	}
	for _, other := range []store.Try{
		{Subject: [32]byte{2}, Address: y.Address, Most: 3, Window: time.Hour}, {Subject: y.Subject, Most: 3, Window: time.Hour},
	} {
		b.in(t, func(tx store.Tx) error { return reserve(t, tx, other) })
	}
	b.exec(t, 3, `UPDATE tries SET ends_at = now()`)
	wantErrors(t, b.atOnce(t.Context(), poolSize, try), 3, gateway.ErrRateLimited)
}

// Room that is made in a transaction is there for who waited for it.
func TestForgivenTriesAreRoom(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	y := store.Try{Subject: [32]byte{1}, Address: "192.0.2.1", Most: 1, Window: time.Hour}
	b.in(t, func(tx store.Tx) error { return reserve(t, tx, y) })
	err := b.whileWaiting(t,
		func(tx store.Tx) error { return tx.ForgiveTries(t.Context(), y.Subject, y.Address) },
		func(tx store.Tx) error { return reserve(t, tx, y) },
		func(store.Tx) error { return nil })
	if err != nil {
		t.Error(err)
	}
	b.in(t, func(tx store.Tx) error {
		for range 2 {
			if err := tx.ReturnTry(t.Context(), y.Subject, y.Address); err != nil {
				return err
			}
		}
		return reserve(t, tx, y)
	})
	if n := b.count(t, `SELECT tries FROM tries`); n != 1 {
		t.Errorf("%d tries, want 1: none is returned that was not made", n)
	}
	b.in(t, func(tx store.Tx) error { return tx.ForgiveAllTries(t.Context(), y.Subject) })
	if n := b.count(t, `SELECT count(*) FROM tries`); n != 0 {
		t.Errorf("%d counters are left", n)
	}
}
