package store_test

import (
	"errors"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	got, err := b.Account(t.Context(), b.account)
	if err != nil || got.ID != b.account || got.Slug != "acme" || got.Name != "Account acme" || got.CreatedAt.IsZero() {
		t.Errorf("Account() = %+v, %v", got, err)
	}
	if _, err := b.Account(t.Context(), gateway.AccountID(b.clock.NewID())); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another id: %v, want ErrNotFound", err)
	}
}

func TestTakenSlugLeavesTheTransactionAlive(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	second := gateway.Account{ID: gateway.AccountID(b.clock.NewID()), Name: "Acme", Slug: "acme"}
	b.in(t, func(tx store.Tx) error {
		if err := tx.CreateAccount(t.Context(), second); !errors.Is(err, store.ErrSlugTaken) {
			t.Errorf("CreateAccount with a taken slug = %v, want ErrSlugTaken", err)
		}
		second.Slug = "acme-2"
		return tx.CreateAccount(t.Context(), second)
	})
	if got, err := b.Account(t.Context(), second.ID); err != nil || got.Slug != "acme-2" {
		t.Errorf("Account() = %+v, %v", got, err)
	}
}

func TestOneSlugOneAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	errs := b.atOnce(t.Context(), 10, func(tx store.Tx, _ int) error {
		return tx.CreateAccount(t.Context(), gateway.Account{ID: gateway.AccountID(b.clock.NewID()), Name: "N", Slug: "new"})
	})
	wantErrors(t, errs, 1, store.ErrSlugTaken)
}
