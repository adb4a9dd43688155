package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// InvitationState is what became of an invitation.
type InvitationState string

// The states of an invitation.
const (
	InvitationWaits   InvitationState = "waits"
	InvitationUsed    InvitationState = "used"
	InvitationRevoked InvitationState = "revoked"
	InvitationExpired InvitationState = "expired"
)

// StateOf tells what became of an invitation by a time.
func StateOf(i Invitation, now time.Time) InvitationState {
	switch {
	case i.UsedBy != nil:
		return InvitationUsed
	case i.RevokedAt != nil:
		return InvitationRevoked
	case !i.EndsAt.After(now):
		return InvitationExpired
	}
	return InvitationWaits
}

// ErrInvitationSpent is an invitation that cannot be used, or not by this
// person: it was used or revoked, its time is over, it is for another address,
// or leads into an account that is about to be deleted.
var ErrInvitationSpent = errors.New("the invitation cannot be used")

// InvitationByToken finds an invitation, whatever became of it. One that never
// was is gateway.ErrNotFound.
func (s *Service) InvitationByToken(ctx context.Context, token string) (Invitation, error) {
	return s.store.InvitationByHash(ctx, tokenHash(token))
}

// Join makes a person who is logged in a member of the account that an
// invitation leads into. Errors: ErrInvitationSpent; gateway.ErrMember for who
// is one already, which leaves the invitation as it is.
func (s *Service) Join(ctx context.Context, token string, who Person) (account gateway.AccountID, err error) {
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		account, err = s.join(ctx, tx, token, store.User{ID: who.ID, Email: who.Email, Name: who.Name})
		return err
	})
	return account, err
}

// JoinAsNew makes a person, without an account of their own, and a member of the
// account that an invitation leads into, all or nothing. Of in the name, the
// address and the password count. Errors: gateway.InvalidError (name, email,
// password), joined if there are several; gateway.ErrEmailTaken;
// ErrInvitationSpent; ErrSignupClosed where nobody can sign up;
// gateway.ErrOverloaded while too many passwords wait to be hashed.
func (s *Service) JoinAsNew(ctx context.Context, token string, in SignUp) (Proven, error) {
	if s.signup != config.SignupOpen && s.signup != config.SignupInvite {
		return Proven{}, ErrSignupClosed
	}
	i, err := s.InvitationByToken(ctx, token)
	switch { // no work is done for who comes in vain; join decides
	case errors.Is(err, gateway.ErrNotFound):
		return Proven{}, ErrInvitationSpent
	case err != nil:
		return Proven{}, err
	case StateOf(i, s.clock.Now()) != InvitationWaits || i.AccountClosing:
		return Proven{}, ErrInvitationSpent
	}
	user, hash, err := s.newPerson(ctx, in)
	if err != nil {
		return Proven{}, err
	}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.CreateUser(ctx, user, hash); err != nil {
			return err
		}
		_, err := s.join(ctx, tx, token, user)
		return err
	})
	if err != nil {
		return Proven{}, err
	}
	return Proven{User: user.ID, passwordHash: hash}, nil
}

// newPerson checks what somebody says of themselves, and hashes their password.
func (s *Service) newPerson(ctx context.Context, in SignUp) (store.User, string, error) {
	name, nameErr := checkName("name", in.Name)
	email, emailErr := checkEmail(in.Email)
	if err := errors.Join(nameErr, emailErr, checkPassword(in.Password)); err != nil {
		return store.User{}, "", err
	}
	hash, err := s.hasher.hash(ctx, in.Password)
	return store.User{ID: gateway.UserID(s.clock.NewID()), Email: email, Name: name}, hash, err
}

// join uses an invitation up for a person who has a row.
func (s *Service) join(ctx context.Context, tx store.Tx, token string, user store.User) (gateway.AccountID, error) {
	account, role, err := tx.Join(ctx, tokenHash(token), user.ID, user.Email)
	switch {
	case errors.Is(err, gateway.ErrNotFound):
		return account, ErrInvitationSpent
	case err != nil:
		return account, err
	}
	return account, s.audit(ctx, tx, account, actorOf(user.ID), "member.join", user.ID.String(), fmt.Sprintf("%s: %s", user.Email, role))
}
