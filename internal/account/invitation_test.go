package account_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// invited is an instance whose owner invites.
func invited(t *testing.T) (bundle, gateway.UserID) {
	t.Helper()
	b := newBundle(t).as(config.SignupInvite)
	return b, b.create(t, "Acme", "owner@example.com").UserID
}

func (b bundle) invite(t *testing.T, by gateway.UserID, email string) string {
	t.Helper()
	token, err := b.Invite(t.Context(), by, email)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (b bundle) come(t *testing.T, name, invite string) error {
	t.Helper()
	in := person(name)
	in.Invite = invite
	_, err := b.SignUp(t.Context(), in)
	return err
}

func (b bundle) invitations(t *testing.T) []account.Invitation {
	t.Helper()
	all, err := b.Invitations(t.Context(), store.Page[gateway.InvitationID]{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAnInvitationWorksOnce(t *testing.T) {
	t.Parallel()
	b, owner := invited(t)
	token := b.invite(t, owner, "")
	if i, err := b.InvitationOpen(t.Context(), token); err != nil || *i.CreatedBy != owner || i.Email != "" {
		t.Errorf("invitation %+v, %v", i, err)
	}
	if err := b.come(t, "ada", token); err != nil {
		t.Fatal(err)
	}
	if err := b.come(t, "bob", token); !errors.Is(err, account.ErrInviteNeeded) {
		t.Errorf("a second time: %v, want ErrInviteNeeded", err)
	}
	if _, err := b.InvitationOpen(t.Context(), token); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("a used invitation: %v, want ErrNotFound", err)
	}
	if all := b.invitations(t); len(all) != 1 || all[0].UsedByEmail != "ada@example.com" || all[0].UsedAt == nil {
		t.Errorf("invitations %+v", all)
	}
}

func TestAnInvitationWorksForOneOfMany(t *testing.T) {
	t.Parallel()
	b, owner := invited(t)
	token := b.invite(t, owner, "")
	errs := atOnce(6, func(i int) error { return b.come(t, fmt.Sprintf("ada%d", i), token) })
	if diff := cmp.Diff(map[error]int{nil: 1, account.ErrInviteNeeded: 5}, tally(errs, account.ErrInviteNeeded)); diff != "" {
		t.Error(diff)
	}
	if got := b.rows(t); got != "2 2 2 2 1 1" {
		t.Errorf("rows: %s, want those of two people", got)
	}
}

func TestAnInvitationForAnAddress(t *testing.T) {
	t.Parallel()
	b, owner := invited(t)
	token := b.invite(t, owner, " Ada@Example.com ")
	if mailed, n := b.mailed(t, "ada@example.com"); mailed != token || n != 1 {
		t.Errorf("%d mails, with the token: %v", n, mailed == token)
	}
	if err := b.come(t, "bob", token); !errors.Is(err, account.ErrInviteNeeded) {
		t.Errorf("another address: %v, want ErrInviteNeeded", err)
	}
	if err := b.come(t, "ada", token); err != nil {
		t.Errorf("its address: %v", err)
	}
}

func TestInvitationsEnd(t *testing.T) {
	t.Parallel()
	b, owner := invited(t)
	ended, old := b.invite(t, owner, ""), b.invite(t, owner, "")
	all := b.invitations(t)
	if err := b.EndInvitation(t.Context(), owner, all[1].ID); err != nil {
		t.Fatal(err)
	}
	if err := b.EndInvitation(t.Context(), owner, all[1].ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("ended twice: %v, want ErrNotFound", err)
	}
	b.exec(t, `UPDATE invitations SET ends_at = now() WHERE id = $1`, all[0].ID)
	for _, token := range []string{ended, old, "", "wrong"} {
		if err := b.come(t, "ada", token); !errors.Is(err, account.ErrInviteNeeded) {
			t.Errorf("%v, want ErrInviteNeeded", err)
		}
		if _, err := b.InvitationOpen(t.Context(), token); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%v, want ErrNotFound", err)
		}
	}
}

func TestOnlyTheOwnerInvites(t *testing.T) {
	t.Parallel()
	b, _ := invited(t)
	other := b.create(t, "Other", "other@example.com").UserID
	if _, err := b.Invite(t.Context(), other, ""); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
	if _, err := b.Invite(t.Context(), other, "nobody"); err == nil || errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("no address: %v, want InvalidError", err)
	}
	if all := b.invitations(t); len(all) != 0 {
		t.Errorf("%d invitations", len(all))
	}
}

// Where sign-up is closed an invitation opens nothing; where it is open, it is
// noted who came with one.
func TestInvitationsInOtherModes(t *testing.T) {
	t.Parallel()
	b, owner := invited(t)
	token := b.invite(t, owner, "")
	if err := b.as(config.SignupClosed).come(t, "ada", token); !errors.Is(err, account.ErrSignupClosed) {
		t.Errorf("closed: %v, want ErrSignupClosed", err)
	}
	open := b.as(config.SignupOpen)
	for _, name := range []string{"ada", "bob"} {
		if err := open.come(t, name, token); err != nil {
			t.Errorf("open: %v", err)
		}
	}
	if all := b.invitations(t); all[0].UsedByEmail != "ada@example.com" {
		t.Errorf("used by %q", all[0].UsedByEmail)
	}
}
