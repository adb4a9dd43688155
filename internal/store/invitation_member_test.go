package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// asked is an invitation into the account that waits, with the hash of its token.
func (b bundle) asked(t *testing.T, who gateway.UserID, email string, hash byte) gateway.InvitationID {
	t.Helper()
	id := gateway.InvitationID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		return tx.InviteMember(t.Context(), b.account, by(who), store.Invitation{ID: id, Email: email, Role: gateway.RoleOperator}, [32]byte{hash}, time.Hour)
	})
	return id
}

func TestWhoInvites(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner, admin := b.newMember(t, b.account, "owner", gateway.RoleOwner), b.newMember(t, b.account, "admin", gateway.RoleAdmin)
	operator := b.newMember(t, b.account, "operator", gateway.RoleOperator)
	other := b.newAccount(t, "other")
	stranger := b.newMember(t, other, "stranger", gateway.RoleOwner)
	key := gateway.Actor(gateway.KeyID(b.clock.NewID()).String())
	b.asked(t, owner, "ada@example.com", 1)
	for name, c := range map[string]struct {
		by    gateway.Actor
		email string
		role  gateway.Role
		err   error
	}{
		"an admin, anybody":                  {by(admin), "", gateway.RoleViewer, nil},
		"an admin, an admin":                 {by(admin), "bob@example.com", gateway.RoleAdmin, nil},
		"an owner, an owner":                 {by(owner), "", gateway.RoleOwner, nil},
		"a key, an admin":                    {key, "", gateway.RoleAdmin, nil},
		"somebody of another account":        {by(admin), "stranger@example.com", gateway.RoleAdmin, nil},
		"an admin, an owner":                 {by(admin), "", gateway.RoleOwner, gateway.ErrOwnerNeeded},
		"a key, an owner":                    {key, "", gateway.RoleOwner, gateway.ErrOwnerNeeded},
		"an operator, a viewer":              {by(operator), "", gateway.RoleViewer, gateway.ErrOwnerNeeded},
		"a stranger, a viewer":               {by(stranger), "", gateway.RoleViewer, gateway.ErrOwnerNeeded},
		"a member":                           {by(admin), "Operator@Example.com", gateway.RoleViewer, gateway.ErrMember},
		"somebody who was invited":           {by(admin), "ada@example.com", gateway.RoleViewer, gateway.ErrInvited},
		"an operator, one who was invited":   {by(operator), "ada@example.com", gateway.RoleViewer, gateway.ErrOwnerNeeded},
		"somebody who is invited by another": {by(owner), "ada@example.com", gateway.RoleOwner, gateway.ErrInvited},
	} {
		err := b.InTx(t.Context(), func(tx store.Tx) error {
			i := store.Invitation{ID: gateway.InvitationID(b.clock.NewID()), Email: c.email, Role: c.role}
			if err := tx.InviteMember(t.Context(), b.account, c.by, i, [32]byte{2}, time.Hour); !errors.Is(err, c.err) {
				t.Errorf("%s: %v, want %v", name, err, c.err)
			}
			return errUndo
		})
		if !errors.Is(err, errUndo) {
			t.Fatal(err)
		}
	}
}

// An invitation that many use at once lets one in; of many that one person uses
// at once one counts.
func TestJoiningAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner := b.newMember(t, b.account, "owner", gateway.RoleOwner)
	other := b.newAccount(t, "other")
	var people []gateway.UserID
	for _, name := range []string{"ada", "bob", "cyd", "dan"} {
		people = append(people, b.newMember(t, other, name, gateway.RoleOwner))
	}
	id := b.asked(t, owner, "", 1)
	joined := 0
	for _, err := range b.atOnce(t.Context(), len(people), func(tx store.Tx, i int) error {
		_, _, err := tx.Join(t.Context(), [32]byte{1}, people[i], "x@example.com")
		return err
	}) {
		if err == nil {
			joined++
		} else if !errors.Is(err, gateway.ErrNotFound) {
			t.Error(err)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM members WHERE account_id = $1 AND role = 'operator'`, b.account); joined != 1 || n != 1 {
		t.Errorf("%d joined, %d are members", joined, n)
	}
	if _, err := b.MemberInvitation(t.Context(), other, id); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account reads the invitation: %v", err)
	}

	b.account = other
	var hashes []byte
	late := b.newMember(t, b.newAccount(t, "third"), "late", gateway.RoleViewer)
	for hash := range byte(4) {
		b.asked(t, people[0], "", 10+hash)
		hashes = append(hashes, 10+hash)
	}
	for _, err := range b.atOnce(t.Context(), len(hashes), func(tx store.Tx, i int) error {
		_, _, err := tx.Join(t.Context(), [32]byte{hashes[i]}, late, "late@example.com")
		return err
	}) {
		if err != nil && !errors.Is(err, gateway.ErrMember) {
			t.Error(err)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM invitations WHERE account_id = $1 AND used_by = $2`, other, late); n != 1 {
		t.Errorf("%d invitations were used up for one membership", n)
	}
}

// What an invitation is not good for.
func TestInvitationsThatLetNobodyIn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner := b.newMember(t, b.account, "owner", gateway.RoleOwner)
	ada := b.newMember(t, b.newAccount(t, "other"), "ada", gateway.RoleViewer)
	named, revoked, renewed, over := b.asked(t, owner, "bob@example.com", 1), b.asked(t, owner, "", 2), b.asked(t, owner, "", 3), b.asked(t, owner, "", 4)
	b.in(t, func(tx store.Tx) error {
		_, err := tx.RenewInvitation(t.Context(), b.account, by(owner), renewed, [32]byte{5}, time.Hour)
		return errors.Join(err, tx.RevokeInvitation(t.Context(), b.account, by(owner), revoked))
	})
	b.exec(t, 1, `UPDATE invitations SET ends_at = now() WHERE id = $1`, over)
	b.exec(t, 1, `INSERT INTO instance_owner (user_id) VALUES ($1)`, owner)
	b.in(t, func(tx store.Tx) error { // one to sign up leads into no account
		return tx.CreateInvitation(t.Context(), store.Invitation{ID: gateway.InvitationID(b.clock.NewID()), CreatedBy: &owner}, [32]byte{6}, time.Hour)
	})
	for name, hash := range map[string]byte{"another's": 1, "a revoked one": 2, "the former link": 3, "one whose time is over": 4, "one to sign up": 6, "none": 7} {
		err := b.InTx(t.Context(), func(tx store.Tx) error {
			_, _, err := tx.Join(t.Context(), [32]byte{hash}, ada, "ada@example.com")
			return err
		})
		if !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
		if hash == 6 {
			continue
		}
		err = b.InTx(t.Context(), func(tx store.Tx) error { // and none of them is good to sign up with
			used, err := tx.UseInvitation(t.Context(), [32]byte{hash}, ada, "bob@example.com")
			if used {
				t.Errorf("%s lets somebody sign up", name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	for name, change := range map[string]func(context.Context, store.Tx) error{
		"revoke": func(ctx context.Context, tx store.Tx) error {
			return tx.RevokeInvitation(ctx, b.account, by(owner), revoked)
		},
		"renew": func(ctx context.Context, tx store.Tx) error {
			_, err := tx.RenewInvitation(ctx, b.account, by(owner), revoked, [32]byte{8}, time.Hour)
			return err
		},
	} {
		err := b.InTx(t.Context(), func(tx store.Tx) error { return change(t.Context(), tx) })
		if !errors.Is(err, gateway.ErrStateChanged) {
			t.Errorf("%s what is revoked: %v", name, err)
		}
	}
	for _, id := range []gateway.InvitationID{named, renewed} {
		err := b.InTx(t.Context(), func(tx store.Tx) error { return tx.RevokeInvitation(t.Context(), b.account, by(ada), id) })
		if !errors.Is(err, gateway.ErrOwnerNeeded) {
			t.Errorf("a stranger revokes: %v", err)
		}
	}
	if _, _, err := joinAs(t, b, 5, ada); err != nil {
		t.Errorf("the new link: %v", err)
	}
	list, err := b.MemberInvitations(t.Context(), b.account, store.Page[gateway.InvitationID]{Limit: 9})
	if err != nil || len(list) != 2 { // the named one, and the one whose time is over
		t.Errorf("%d invitations wait, %v", len(list), err)
	}
}

func joinAs(t *testing.T, b bundle, hash byte, user gateway.UserID) (account gateway.AccountID, role gateway.Role, err error) {
	t.Helper()
	err = b.InTx(t.Context(), func(tx store.Tx) error {
		account, role, err = tx.Join(t.Context(), [32]byte{hash}, user, "ada@example.com")
		return err
	})
	return account, role, err
}

// Who joins while the account is closed waits for that, and is not let in.
func TestNobodySlipsInWhileItIsClosed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner := b.newMember(t, b.account, "owner", gateway.RoleOwner)
	ada := b.newMember(t, b.newAccount(t, "other"), "ada", gateway.RoleViewer)
	b.asked(t, owner, "", 1)
	err := b.whileWaiting(t, func(tx store.Tx) error {
		_, err := tx.CloseAccount(t.Context(), b.account, by(owner), time.Hour)
		return err
	}, func(tx store.Tx) error {
		_, _, err := tx.Join(t.Context(), [32]byte{1}, ada, "ada@example.com")
		return err
	}, func(store.Tx) error { return nil })
	if !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
	i, err := b.InvitationByHash(t.Context(), [32]byte{1})
	if err != nil || i.UsedBy != nil || !i.AccountClosing {
		t.Errorf("the invitation is %+v, %v", i, err)
	}
}

// What somebody has invited ends where they could not do so now, in that account
// alone.
func TestEndingInvitationsOfSomebody(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	admin, owner := b.newMember(t, b.account, "admin", gateway.RoleAdmin), b.newMember(t, b.account, "owner", gateway.RoleOwner)
	theirs, others := b.asked(t, admin, "", 1), b.asked(t, owner, "", 2)
	other := b.newAccount(t, "other")
	end := func() (ended []gateway.InvitationID) {
		b.in(t, func(tx store.Tx) (err error) {
			for _, account := range []gateway.AccountID{other, b.account} {
				ids, endErr := tx.EndInvitationsOf(t.Context(), account, by(admin))
				ended, err = append(ended, ids...), errors.Join(err, endErr)
			}
			return err
		})
		return ended
	}
	if ended := end(); len(ended) != 0 {
		t.Errorf("%v ended of who may invite", ended)
	}
	b.in(t, func(tx store.Tx) error {
		if ids, err := tx.EndInvitationsOf(t.Context(), other, by(admin)); err != nil || len(ids) != 0 {
			t.Errorf("of another account: %v, %v", ids, err)
		}
		return tx.RemoveMember(t.Context(), b.account, by(owner), admin)
	})
	if ended := end(); len(ended) != 1 || ended[0] != theirs {
		t.Errorf("%v ended, want %s and not %s", ended, theirs, others)
	}
	if ended := end(); len(ended) != 0 {
		t.Errorf("%v ended twice", ended)
	}
}
