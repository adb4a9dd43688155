package store_test

import (
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// won turns a guard that says no into the error that it stands for.
func won(ok bool, err error) error {
	if err == nil && !ok {
		return gateway.ErrStateChanged
	}
	return err
}

func TestASetupTokenIsUsedOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	token := [32]byte{1}
	if made, err := b.CreateSetupToken(t.Context(), token); !made || err != nil {
		t.Fatalf("create: %v, %v", made, err)
	}
	errs := b.atOnce(t.Context(), 4, func(tx store.Tx, _ int) error { return won(tx.UseSetupToken(t.Context(), token)) })
	wantErrors(t, errs, 1, gateway.ErrStateChanged)
	b.in(t, func(tx store.Tx) error {
		if used, err := tx.UseSetupToken(t.Context(), token); used || err != nil {
			t.Errorf("used again: %v, %v", used, err)
		}
		return nil
	})
}

func TestNoSetupTokenWithAnOwner(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newUser(t, "ada@example.com").ID
	b.in(t, func(tx store.Tx) error { return won(tx.ClaimInstance(t.Context(), user)) })
	if made, err := b.CreateSetupToken(t.Context(), [32]byte{1}); made || err != nil {
		t.Errorf("create: %v, %v", made, err)
	}
	hasOwner, open, err := b.SetupTokenOpen(t.Context(), [32]byte{1})
	if !hasOwner || open || err != nil {
		t.Errorf("owner %v, open %v, %v", hasOwner, open, err)
	}
	b.in(t, func(tx store.Tx) error {
		for who, owns := range map[gateway.UserID]bool{user: true, {}: false} {
			if got, err := tx.OwnsInstance(t.Context(), who); got != owns || err != nil {
				t.Errorf("%s owns: %v, %v", who, got, err)
			}
		}
		return nil
	})
}
