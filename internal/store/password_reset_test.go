package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestAPasswordResetIsUsedOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newUser(t, "ada@example.com").ID
	token := [32]byte{1}
	b.in(t, func(tx store.Tx) error { return tx.CreatePasswordReset(t.Context(), user, token, time.Hour) })
	use := func(tx store.Tx, _ int) error {
		got, err := tx.UsePasswordReset(t.Context(), token)
		if err == nil && got != user {
			err = errors.New("another person's")
		}
		return err
	}
	wantErrors(t, b.atOnce(t.Context(), 4, use), 1, gateway.ErrNotFound)
	wantErrors(t, b.atOnce(t.Context(), 1, use), 0, gateway.ErrNotFound)
}

func TestAnOldPasswordResetIsOfNoUse(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newUser(t, "ada@example.com").ID
	b.in(t, func(tx store.Tx) error { return tx.CreatePasswordReset(t.Context(), user, [32]byte{1}, 0) })
	errs := b.atOnce(t.Context(), 1, func(tx store.Tx, _ int) error {
		_, err := tx.UsePasswordReset(t.Context(), [32]byte{1})
		return err
	})
	wantErrors(t, errs, 0, gateway.ErrNotFound)
}

// Two links of one person at once: one is used, and ends the other. Neither
// waits for the other in a circle.
func TestPasswordResetsOfOnePersonAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newUser(t, "ada@example.com").ID
	b.in(t, func(tx store.Tx) error {
		return errors.Join(tx.CreatePasswordReset(t.Context(), user, [32]byte{1}, time.Hour), tx.CreatePasswordReset(t.Context(), user, [32]byte{2}, time.Hour))
	})
	use := func(hash byte) func(store.Tx) error {
		return func(tx store.Tx) error {
			_, err := tx.UsePasswordReset(t.Context(), [32]byte{hash})
			return err
		}
	}
	err := b.whileWaiting(t, use(1), use(2), func(tx store.Tx) error {
		if _, err := tx.ResetPassword(t.Context(), user, "new"); err != nil {
			return err
		}
		return tx.EndPasswordResets(t.Context(), user)
	})
	if !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("the second link: %v, want ErrNotFound", err)
	}
}
