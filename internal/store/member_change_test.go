package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// by is a person as they act.
func by(user gateway.UserID) gateway.Actor { return gateway.Actor(user.String()) }

// roleOf is what a person is in the account; empty is no member.
func (b bundle) roleOf(t *testing.T, user gateway.UserID) gateway.Role {
	t.Helper()
	m, err := b.MemberByID(t.Context(), b.account, user)
	if errors.Is(err, gateway.ErrNotFound) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return m.Role
}

// Who may change whom, with the errors that say why not.
func TestWhoChangesMembers(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner, second := b.newMember(t, b.account, "owner", gateway.RoleOwner), b.newMember(t, b.account, "second", gateway.RoleOwner)
	admin, viewer := b.newMember(t, b.account, "admin", gateway.RoleAdmin), b.newMember(t, b.account, "viewer", gateway.RoleViewer)
	operator, other := b.newMember(t, b.account, "operator", gateway.RoleOperator), b.newAccount(t, "other")
	stranger := b.newMember(t, other, "stranger", gateway.RoleOwner)
	key := gateway.Actor(gateway.KeyID(b.clock.NewID()).String())
	for name, c := range map[string]struct {
		by      gateway.Actor
		whom    gateway.UserID
		to      gateway.Role
		changed bool
		err     error
	}{
		"an owner makes an admin an owner":  {by(owner), admin, gateway.RoleOwner, true, nil},
		"an owner makes an owner an admin":  {by(owner), second, gateway.RoleAdmin, true, nil},
		"an owner stops being one":          {by(owner), owner, gateway.RoleViewer, true, nil},
		"nothing changes":                   {by(owner), viewer, gateway.RoleViewer, false, nil},
		"an admin makes a viewer an admin":  {by(admin), viewer, gateway.RoleAdmin, true, nil},
		"an admin steps back":               {by(admin), admin, gateway.RoleViewer, true, nil},
		"an admin makes no owner":           {by(admin), viewer, gateway.RoleOwner, false, gateway.ErrOwnerNeeded},
		"an admin makes nobody of an owner": {by(admin), owner, gateway.RoleViewer, false, gateway.ErrOwnerNeeded},
		"an operator changes nobody":        {by(operator), viewer, gateway.RoleOperator, false, gateway.ErrOwnerNeeded},
		"a stranger changes nobody":         {by(stranger), viewer, gateway.RoleOperator, false, gateway.ErrOwnerNeeded},
		"a stranger is changed by nobody":   {by(owner), stranger, gateway.RoleViewer, false, gateway.ErrNotFound},
		"a key makes an operator":           {key, viewer, gateway.RoleOperator, true, nil},
		"a key makes no owner":              {key, viewer, gateway.RoleOwner, false, gateway.ErrOwnerNeeded},
		"a key changes no owner":            {key, owner, gateway.RoleViewer, false, gateway.ErrOwnerNeeded},
	} {
		err := b.InTx(t.Context(), func(tx store.Tx) error {
			changed, err := tx.SetRole(t.Context(), b.account, c.by, c.whom, c.to)
			if changed != c.changed || !errors.Is(err, c.err) {
				t.Errorf("%s: %t, %v; want %t, %v", name, changed, err, c.changed, c.err)
			}
			return errUndo
		})
		if !errors.Is(err, errUndo) {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		by   gateway.Actor
		whom gateway.UserID
		err  error
	}{
		"an owner removes an owner":       {by(owner), second, nil},
		"an owner leaves":                 {by(owner), owner, nil},
		"an admin removes an operator":    {by(admin), operator, nil},
		"a viewer leaves":                 {by(viewer), viewer, nil},
		"a key removes a viewer":          {key, viewer, nil},
		"an admin removes no owner":       {by(admin), owner, gateway.ErrOwnerNeeded},
		"a key removes no owner":          {key, owner, gateway.ErrOwnerNeeded},
		"an operator removes nobody":      {by(operator), viewer, gateway.ErrOwnerNeeded},
		"a stranger removes nobody":       {by(stranger), viewer, gateway.ErrOwnerNeeded},
		"a stranger is removed by nobody": {by(owner), stranger, gateway.ErrNotFound},
	} {
		err := b.InTx(t.Context(), func(tx store.Tx) error {
			if err := tx.RemoveMember(t.Context(), b.account, c.by, c.whom); !errors.Is(err, c.err) {
				t.Errorf("%s: %v, want %v", name, err, c.err)
			}
			return errUndo
		})
		if !errors.Is(err, errUndo) {
			t.Fatal(err)
		}
	}
}

// The last owner stays one, whoever asks, and however often.
func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner := b.newMember(t, b.account, "owner", gateway.RoleOwner)
	b.newMember(t, b.newAccount(t, "other"), "stranger", gateway.RoleOwner) // another account's owner is none here
	for range 2 {
		err := b.InTx(t.Context(), func(tx store.Tx) error { return tx.RemoveMember(t.Context(), b.account, by(owner), owner) })
		if !errors.Is(err, gateway.ErrLastOwner) {
			t.Errorf("leaves: %v", err)
		}
		err = b.InTx(t.Context(), func(tx store.Tx) error {
			_, err := tx.SetRole(t.Context(), b.account, by(owner), owner, gateway.RoleAdmin)
			return err
		})
		if !errors.Is(err, gateway.ErrLastOwner) {
			t.Errorf("steps back: %v", err)
		}
	}
	if got := b.roleOf(t, owner); got != gateway.RoleOwner {
		t.Errorf("the last owner is %q", got)
	}
}

// Owners who all leave at once, step back, or throw one another out: one stays.
func TestOwnersWhoGoAtOnce(t *testing.T) {
	t.Parallel()
	const owners = 4
	ways := map[string]func(ctx context.Context, b bundle, tx store.Tx, all []gateway.UserID, i int) error{
		"leave": func(ctx context.Context, b bundle, tx store.Tx, all []gateway.UserID, i int) error {
			return tx.RemoveMember(ctx, b.account, by(all[i]), all[i])
		},
		"step back": func(ctx context.Context, b bundle, tx store.Tx, all []gateway.UserID, i int) error {
			_, err := tx.SetRole(ctx, b.account, by(all[i]), all[i], gateway.RoleViewer)
			return err
		},
		"remove the next": func(ctx context.Context, b bundle, tx store.Tx, all []gateway.UserID, i int) error {
			return tx.RemoveMember(ctx, b.account, by(all[i]), all[(i+1)%owners])
		},
		"demote the next": func(ctx context.Context, b bundle, tx store.Tx, all []gateway.UserID, i int) error {
			_, err := tx.SetRole(ctx, b.account, by(all[i]), all[(i+1)%owners], gateway.RoleAdmin)
			return err
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			var all []gateway.UserID
			for i := range owners {
				all = append(all, b.newMember(t, b.account, fmt.Sprint("owner", i), gateway.RoleOwner))
			}
			for range 5 {
				for _, err := range b.atOnce(t.Context(), owners, func(tx store.Tx, i int) error { return way(t.Context(), b, tx, all, i) }) {
					known := errors.Is(err, gateway.ErrLastOwner) || errors.Is(err, gateway.ErrOwnerNeeded) || errors.Is(err, gateway.ErrNotFound)
					if err != nil && !known {
						t.Error(err)
					}
				}
				if n := b.count(t, `SELECT count(*) FROM members WHERE account_id = $1 AND role = 'owner'`, b.account); n < 1 {
					t.Fatal("the account has no owner")
				}
				b.exec(t, owners, `
					INSERT INTO members (account_id, user_id, role)
					SELECT $1, unnest($2::uuid[]), 'owner'
					ON CONFLICT (account_id, user_id) DO UPDATE SET role = 'owner'`, b.account, all)
			}
		})
	}
}

// An account that is handed over twice at once has one new owner.
func TestHandingOver(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner := b.newMember(t, b.account, "owner", gateway.RoleOwner)
	heirs := []gateway.UserID{b.newMember(t, b.account, "ada", gateway.RoleViewer), b.newMember(t, b.account, "bob", gateway.RoleAdmin)}
	stranger := b.newMember(t, b.newAccount(t, "other"), "stranger", gateway.RoleOwner)
	for name, c := range map[string]struct {
		from, to gateway.UserID
		err      error
	}{
		"to a stranger":   {owner, stranger, gateway.ErrNotFound},
		"by a stranger":   {stranger, owner, gateway.ErrOwnerNeeded},
		"by an admin":     {heirs[1], heirs[0], gateway.ErrOwnerNeeded},
		"to who is admin": {heirs[0], heirs[1], gateway.ErrOwnerNeeded},
	} {
		err := b.InTx(t.Context(), func(tx store.Tx) error { return tx.HandOver(t.Context(), b.account, c.from, c.to) })
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", name, err, c.err)
		}
	}
	done := 0
	for _, err := range b.atOnce(t.Context(), len(heirs), func(tx store.Tx, i int) error {
		return tx.HandOver(t.Context(), b.account, owner, heirs[i])
	}) {
		if err == nil {
			done++
		} else if !errors.Is(err, gateway.ErrOwnerNeeded) {
			t.Error(err)
		}
	}
	owners := b.count(t, `SELECT count(*) FROM members WHERE account_id = $1 AND role = 'owner'`, b.account)
	if done != 1 || owners != 1 || b.roleOf(t, owner) != gateway.RoleAdmin {
		t.Errorf("handed over %d times, %d owners, and who was one is %q", done, owners, b.roleOf(t, owner))
	}
}

// What a member chose goes with them.
func TestAMemberIsNotWrittenToAfterwards(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner := b.newMember(t, b.account, "owner", gateway.RoleOwner)
	gone := b.newMember(t, b.account, "gone", gateway.RoleViewer)
	b.choose(t, b.account, gone, gateway.AlertEndpointDisabled)
	b.in(t, func(tx store.Tx) error { return tx.RemoveMember(t.Context(), b.account, by(owner), gone) })
	b.wantRecipients(t, gateway.AlertEndpointDisabled, "owner")
	if n := b.count(t, `SELECT count(*) FROM alert_choices`); n != 0 {
		t.Errorf("%d choices of somebody who is gone", n)
	}
}

// Of many pages at once one notes that its reader is there.
func TestSeeingAMember(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newMember(t, b.account, "ada", gateway.RoleViewer)
	seen := func() *time.Time {
		m, err := b.MemberByID(t.Context(), b.account, user)
		if err != nil {
			t.Fatal(err)
		}
		return m.SeenAt
	}
	for _, step := range []struct {
		every time.Duration
		moves bool
	}{{time.Hour, true}, {time.Hour, false}, {0, true}} {
		before := seen()
		if err := b.SeeMember(t.Context(), b.account, user, step.every); err != nil {
			t.Fatal(err)
		}
		after := seen()
		if moved := before == nil || !after.Equal(*before); moved != step.moves {
			t.Errorf("every %s: from %v to %v", step.every, before, after)
		}
	}
}
