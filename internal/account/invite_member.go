package account

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// How the audit log calls what is done with invitations into an account.
const (
	actionInvite      = "member.invite"
	actionInviteAgain = "member.invite_again"
	actionRevoke      = "member.revoke_invitation"
)

const (
	// invitesSent is how many mails that invite an account sends in inviteWindow,
	// and invitesToOne how many go to one address from all of them, so that nobody's
	// mailbox is filled, and no instance is known for it.
	invitesSent  = 100
	invitesToOne = 5
	inviteWindow = time.Hour
)

// NewMember is who is invited.
type NewMember struct {
	// Email is the address that the invitation is for, and goes to; empty is for
	// whoever has the link.
	Email string
	Role  gateway.Role
}

// InviteMember invites somebody into an account and returns the token, which is
// kept nowhere but in the mail. Errors: gateway.InvalidError (email, role);
// gateway.ErrMember, gateway.ErrInvited for an address; *TooSoonError where too
// many mails went out; gateway.ErrOwnerNeeded for who makes an owner and is none.
func (s *Service) InviteMember(ctx context.Context, account gateway.Account, by gateway.Actor, n NewMember) (Invitation, string, error) {
	if err := checkRole(n.Role); err != nil {
		return Invitation{}, "", err
	}
	if n.Email = strings.TrimSpace(n.Email); n.Email != "" {
		var err error
		if n.Email, err = checkEmail(n.Email); err != nil {
			return Invitation{}, "", err
		}
	}
	token := secret.NewToken("")
	i := Invitation{ID: gateway.InvitationID(s.clock.NewID()), Email: n.Email, Role: n.Role}
	err := s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.InviteMember(ctx, account.ID, by, i, tokenHash(token), inviteLives); err != nil {
			return err
		}
		if err := s.mailInvitation(ctx, tx, account, i, token); err != nil {
			return err
		}
		return s.audit(ctx, tx, account.ID, by, actionInvite, i.ID.String(), summaryOf(i))
	})
	if err != nil {
		return Invitation{}, "", s.forOwners(ctx, s.tooSoon(err), account.ID, by, actionInvite, account.ID.String())
	}
	i, err = s.store.MemberInvitation(ctx, account.ID, i.ID)
	return i, token, err
}

// RenewInvitation sends an invitation once more, with a new token, which it
// returns; the former one is of no use any more. Errors: gateway.ErrNotFound;
// gateway.ErrStateChanged for one that is used or revoked; *TooSoonError as of
// InviteMember; gateway.ErrOwnerNeeded.
func (s *Service) RenewInvitation(ctx context.Context, account gateway.Account, by gateway.Actor, id gateway.InvitationID) (i Invitation, token string, err error) {
	token = secret.NewToken("")
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if i, err = tx.RenewInvitation(ctx, account.ID, by, id, tokenHash(token), inviteLives); err != nil {
			return err
		}
		if err := s.mailInvitation(ctx, tx, account, i, token); err != nil {
			return err
		}
		return s.audit(ctx, tx, account.ID, by, actionInviteAgain, id.String(), summaryOf(i))
	})
	if err != nil {
		return Invitation{}, "", s.forOwners(ctx, s.tooSoon(err), account.ID, by, actionInviteAgain, id.String())
	}
	return i, token, nil
}

// RevokeInvitation makes an invitation of no use. Errors: as RenewInvitation.
func (s *Service) RevokeInvitation(ctx context.Context, account gateway.AccountID, by gateway.Actor, id gateway.InvitationID) error {
	err := s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.RevokeInvitation(ctx, account, by, id); err != nil {
			return err
		}
		return s.audit(ctx, tx, account, by, actionRevoke, id.String(), "")
	})
	return s.forOwners(ctx, err, account, by, actionRevoke, id.String())
}

// endInvitationsOf revokes what somebody, or a key, has invited and could not invite
// any more, and notes it.
func (s *Service) endInvitationsOf(ctx context.Context, tx store.Tx, account gateway.AccountID, by, of gateway.Actor) error {
	ids, err := tx.EndInvitationsOf(ctx, account, of)
	if err != nil || len(ids) == 0 {
		return err
	}
	lines := make([]store.AuditLine, len(ids))
	for i, id := range ids {
		lines[i] = s.line("who invited may not any more")
		lines[i].Object = id.String()
	}
	return tx.AuditMany(ctx, account, by, actionRevoke, lines)
}

// MemberInvitation reads an invitation into an account, whatever became of it.
func (s *Service) MemberInvitation(ctx context.Context, account gateway.AccountID, id gateway.InvitationID) (Invitation, error) {
	return s.store.MemberInvitation(ctx, account, id)
}

// MemberInvitations lists the invitations into an account that wait, those whose
// time is over included.
func (s *Service) MemberInvitations(ctx context.Context, account gateway.AccountID, page store.Page[gateway.InvitationID]) ([]Invitation, error) {
	return s.store.MemberInvitations(ctx, account, page)
}

func (s *Service) mailInvitation(ctx context.Context, tx store.Tx, account gateway.Account, i Invitation, token string) error {
	if i.Email == "" {
		return nil
	}
	for _, try := range []store.Try{
		{Subject: invitesSubject(account.ID), Most: invitesSent, Window: inviteWindow},
		{Subject: invitedSubject(i.Email), Most: invitesToOne, Window: inviteWindow},
	} {
		if err := tx.ReserveTry(ctx, try); err != nil {
			return err
		}
	}
	return s.addMail(ctx, tx, joinMail(s.baseURL, i.Email, account.Name, i.Role, token))
}

// invitesSubject names mails that invite into an account in the table of tries, and
// invitedSubject those to an address, from whichever account.
func invitesSubject(account gateway.AccountID) [32]byte {
	return sha256.Sum256([]byte("invites\x00" + account.String()))
}

func invitedSubject(email string) [32]byte { return sha256.Sum256([]byte("invited\x00" + email)) }

// summaryOf tells in the audit log who is invited.
func summaryOf(i Invitation) string {
	if i.Email == "" {
		return "whoever has the link: " + string(i.Role)
	}
	return i.Email + ": " + string(i.Role)
}

// inviteDays is how long an invitation can be used, as people count.
const inviteDays = int(inviteLives / (24 * time.Hour))
