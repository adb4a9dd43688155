package account

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// inviteLives is how long an invitation can be used.
const inviteLives = 7 * 24 * time.Hour

// Invitation lets one person sign up, or join an account.
type Invitation = store.Invitation

// Invite makes an invitation and returns its token, which is not kept anywhere
// but in the mail. With an address the invitation is for that address alone and
// goes there by mail; without one it is for whoever has the link. Only the
// instance's owner invites: for others it is gateway.ErrNotFound. What is no
// address is gateway.InvalidError (email).
func (s *Service) Invite(ctx context.Context, by gateway.UserID, email string) (token string, err error) {
	if email = strings.TrimSpace(email); email != "" {
		if email, err = checkEmail(email); err != nil {
			return "", err
		}
	}
	token = secret.NewToken("")
	i := Invitation{ID: gateway.InvitationID(s.clock.NewID()), Email: email, CreatedBy: &by, Actor: actorOf(by)}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.CreateInvitation(ctx, i, tokenHash(token), inviteLives); err != nil {
			return err
		}
		err := s.auditInstance(ctx, tx, actorOf(by), "invitation.create", i.ID.String(), cmp.Or(email, "whoever has the link"))
		if err != nil || email == "" {
			return err
		}
		return s.addMail(ctx, tx, inviteMail(s.baseURL, email, token))
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// InvitationOpen finds the invitation with this token as long as it can be
// used. Any other is gateway.ErrNotFound.
func (s *Service) InvitationOpen(ctx context.Context, token string) (Invitation, error) {
	return s.store.OpenInvitation(ctx, tokenHash(token))
}

// Invitations lists all invitations, newest first.
func (s *Service) Invitations(ctx context.Context, page store.Page[gateway.InvitationID]) ([]Invitation, error) {
	return s.store.Invitations(ctx, page)
}

// EndInvitation makes an open invitation end now. One that is used or over is
// gateway.ErrNotFound.
func (s *Service) EndInvitation(ctx context.Context, by gateway.UserID, id gateway.InvitationID) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.EndInvitation(ctx, id); err != nil {
			return err
		}
		return s.auditInstance(ctx, tx, actorOf(by), "invitation.end", id.String(), "")
	})
}
