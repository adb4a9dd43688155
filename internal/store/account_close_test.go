package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// states are those of the account's endpoints, in the order of their making.
func (b bundle) states(t *testing.T) (all []string) {
	t.Helper()
	endpoints, err := b.Endpoints(t.Context(), b.account, store.Page[gateway.EndpointID]{Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range endpoints {
		all = append([]string{string(e.State)}, all...)
	}
	return all
}

func (b bundle) wantStates(t *testing.T, when string, want ...string) {
	t.Helper()
	got := b.states(t)
	if len(got) != len(want) {
		t.Fatalf("%s: %v", when, got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
}

// An account that is closed stops; restored, it goes on as it was, and what a
// person had stopped stays so.
func TestClosingAndRestoring(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner, admin := b.newMember(t, b.account, "owner", gateway.RoleOwner), b.newMember(t, b.account, "admin", gateway.RoleAdmin)
	active, paused, disabled := b.newEndpoint(t), b.newEndpoint(t), b.newEndpoint(t)
	source := b.newSource(t)
	b.exec(t, 1, `UPDATE endpoints SET state = 'paused' WHERE id = $1`, paused.ID)
	b.exec(t, 1, `UPDATE endpoints SET state = 'disabled', disabled_reason = 'x' WHERE id = $1`, disabled.ID)
	other := b
	other.account = b.newAccount(t, "other")
	other.newEndpoint(t)

	for _, actor := range []gateway.Actor{by(admin), gateway.Actor(gateway.KeyID(b.clock.NewID()).String()), gateway.ActorRowlock} {
		err := b.InTx(t.Context(), func(tx store.Tx) error {
			_, err := tx.CloseAccount(t.Context(), b.account, actor, time.Hour)
			return err
		})
		if !errors.Is(err, gateway.ErrOwnerNeeded) {
			t.Errorf("%s closes the account: %v", actor, err)
		}
	}
	closed := 0
	for _, err := range b.atOnce(t.Context(), 4, func(tx store.Tx, _ int) error {
		_, err := tx.CloseAccount(t.Context(), b.account, by(owner), time.Hour)
		return err
	}) {
		if err == nil {
			closed++
		} else if !errors.Is(err, gateway.ErrStateChanged) {
			t.Error(err)
		}
	}
	if closed != 1 {
		t.Errorf("closed %d times", closed)
	}
	b.wantStates(t, "closed", "paused", "paused", "disabled")
	other.wantStates(t, "another account", "active")
	if _, ok, err := b.AcquireLane(t.Context(), b.account, active.ID, "n"); ok || err != nil {
		t.Errorf("somebody may send: %t, %v", ok, err)
	}
	if s, err := b.Source(t.Context(), b.account, source.ID); err != nil || s.State != gateway.SourcePaused {
		t.Errorf("the source is %s, %v", s.State, err)
	}
	late := b.newEndpoint(t) // made by who had begun before
	if err := b.StopClosing(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.wantStates(t, "a late one", "paused", "paused", "disabled", "paused")

	for range 2 {
		err := b.InTx(t.Context(), func(tx store.Tx) error { return tx.RestoreAccount(t.Context(), b.account, by(admin)) })
		if !errors.Is(err, gateway.ErrOwnerNeeded) {
			t.Errorf("an admin restores: %v", err)
		}
	}
	b.in(t, func(tx store.Tx) error { return tx.RestoreAccount(t.Context(), b.account, by(owner)) })
	b.wantStates(t, "restored", "active", "paused", "disabled", "active")
	if s, err := b.Source(t.Context(), b.account, source.ID); err != nil || s.State != gateway.SourceActive {
		t.Errorf("the source is %s, %v", s.State, err)
	}
	for _, e := range []gateway.EndpointID{active.ID, late.ID} {
		if n := b.count(t, `SELECT count(*) FROM lanes WHERE endpoint_id = $1 AND wake_at <= now()`, e); n != 1 {
			t.Error("the alarm of what goes on does not ring")
		}
	}
	if n := b.count(t, `SELECT count(*) FROM lanes WHERE endpoint_id = $1 AND wake_at IS NOT NULL`, paused.ID); n != 0 {
		t.Error("what was paused before rings")
	}
	err := b.InTx(t.Context(), func(tx store.Tx) error { return tx.RestoreAccount(t.Context(), b.account, by(owner)) })
	if !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("restored twice: %v", err)
	}
	if err := b.StopClosing(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.wantStates(t, "afterwards", "active", "paused", "disabled", "active")
}
