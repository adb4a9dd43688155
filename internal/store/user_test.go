package store_test

import (
	"sync/atomic"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func (b bundle) user(email string) store.User {
	return store.User{ID: gateway.UserID(b.clock.NewID()), Email: email, Name: "Ada"}
}

func TestOneAddressOneUser(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	emails := []string{"ada@example.com", "ADA@example.com", "Ada@Example.Com", "ada@EXAMPLE.com"}
	errs := b.atOnce(t.Context(), len(emails), func(tx store.Tx, i int) error {
		return tx.CreateUser(t.Context(), b.user(emails[i]), "")
	})
	wantErrors(t, errs, 1, gateway.ErrEmailTaken)
}

func TestAddMember(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	u := b.user("ada@example.com")
	b.in(t, func(tx store.Tx) error {
		if err := tx.CreateUser(t.Context(), u, "hash"); err != nil {
			return err
		}
		return tx.AddMember(t.Context(), b.account, u.ID, gateway.RoleOwner)
	})
	n := b.count(t, `
		SELECT count(*)
		FROM members m
		JOIN users u ON u.id = m.user_id
		WHERE m.account_id = $1 AND m.role = 'owner' AND u.password_hash = 'hash'`, b.account)
	if n != 1 {
		t.Errorf("%d members, want one owner", n)
	}
}

func TestInstanceHasOneOwner(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	users := []store.User{b.user("a@example.com"), b.user("b@example.com"), b.user("c@example.com"), b.user("d@example.com")}
	var owners atomic.Int32
	errs := b.atOnce(t.Context(), len(users), func(tx store.Tx, i int) error {
		if err := tx.CreateUser(t.Context(), users[i], ""); err != nil {
			return err
		}
		owner, err := tx.ClaimInstance(t.Context(), users[i].ID)
		if owner {
			owners.Add(1)
		}
		return err
	})
	wantErrors(t, errs, len(users), nil)
	if owners.Load() != 1 || b.count(t, `SELECT count(*) FROM instance_owner`) != 1 {
		t.Errorf("%d users own the instance, want 1", owners.Load())
	}
	b.in(t, func(tx store.Tx) error {
		if owner, err := tx.ClaimInstance(t.Context(), users[0].ID); owner || err != nil {
			t.Errorf("claimed a second time: %v, %v", owner, err)
		}
		return nil
	})
}
