package account

import (
	"context"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// seenEvery is how often it is noted at the most that a member looks at an
// account.
const seenEvery = 5 * time.Minute

// How it is noted in the audit log that somebody is no member any more.
const (
	ActionRemoved = "member.remove"
	ActionLeft    = "member.leave"
)

// Seen notes that a member looks at an account.
func (s *Service) Seen(ctx context.Context, user gateway.UserID, m Membership) error {
	if m.SeenAt != nil && s.clock.Now().Sub(*m.SeenAt) < seenEvery {
		return nil
	}
	return s.store.SeeMember(ctx, m.Account.ID, user, seenEvery)
}

// Members lists the people of an account.
func (s *Service) Members(ctx context.Context, account gateway.AccountID, page store.Page[gateway.UserID]) ([]store.Member, error) {
	return s.store.Members(ctx, account, page)
}

// MemberByID reads one of the people of an account. Who is none is
// gateway.ErrNotFound.
func (s *Service) MemberByID(ctx context.Context, account gateway.AccountID, user gateway.UserID) (store.Member, error) {
	return s.store.MemberByID(ctx, account, user)
}

// SetRole gives a member another role, from the next request on. What they have
// invited whom they could not invite now is revoked. Errors:
// gateway.InvalidError (role), gateway.ErrNotFound for who is no member,
// gateway.ErrLastOwner, and gateway.ErrOwnerNeeded where an owner is made or
// changed by somebody who is none.
func (s *Service) SetRole(ctx context.Context, account gateway.AccountID, by gateway.Actor, user gateway.UserID, role gateway.Role) error {
	if err := checkRole(role); err != nil {
		return err
	}
	of, err := s.store.MemberByID(ctx, account, user)
	if err != nil {
		return err
	}
	const action = "member.role"
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		changed, err := tx.SetRole(ctx, account, by, user, role)
		if err != nil || !changed {
			return err
		}
		if err := s.endInvitationsOf(ctx, tx, account, by, actorOf(user)); err != nil {
			return err
		}
		return s.audit(ctx, tx, account, by, action, user.String(), of.Email+": "+string(role))
	})
	return s.forOwners(ctx, err, account, by, action, user.String())
}

// Remove ends a person's membership, from the next request on, and tells them by
// mail. What they made stays, but for invitations that wait: those are revoked.
// Who removes themselves leaves. Errors: as SetRole.
func (s *Service) Remove(ctx context.Context, account gateway.Account, by gateway.Actor, user gateway.UserID) error {
	left, err := s.store.MemberByID(ctx, account.ID, user)
	if err != nil {
		return err
	}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.RemoveMember(ctx, account.ID, by, user); err != nil {
			return err
		}
		if err := s.endInvitationsOf(ctx, tx, account.ID, by, actorOf(user)); err != nil {
			return err
		}
		if by == actorOf(user) {
			return s.audit(ctx, tx, account.ID, by, ActionLeft, user.String(), left.Email)
		}
		if err := s.addMail(ctx, tx, removedMail(s.baseURL, left.Email, account.Name)); err != nil {
			return err
		}
		return s.audit(ctx, tx, account.ID, by, ActionRemoved, user.String(), left.Email)
	})
	return s.forOwners(ctx, err, account.ID, by, ActionRemoved, user.String())
}

// HandOver makes another member the owner in the place of one who is, and who
// shows by their password that they are at the keyboard; they stay as an admin.
// The new owner is told by mail. Errors: gateway.ErrNotFound for who is no
// member, gateway.ErrOwnerNeeded; ErrWrongCredentials and *LockedError as of
// LogIn.
func (s *Service) HandOver(ctx context.Context, account gateway.Account, of Session, password, address string, to gateway.UserID) error {
	next, err := s.store.MemberByID(ctx, account.ID, to)
	if err != nil {
		return err
	}
	if to == of.Person.ID {
		return gateway.ErrStateChanged
	}
	if _, err := s.prove(ctx, Credentials{Email: of.Email, Password: password, Address: address}); err != nil {
		return err
	}
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.HandOver(ctx, account.ID, of.Person.ID, to); err != nil {
			return err
		}
		if err := s.endInvitationsOf(ctx, tx, account.ID, actorOf(of.Person.ID), actorOf(of.Person.ID)); err != nil {
			return err
		}
		if err := s.addMail(ctx, tx, ownerMail(s.baseURL, next.Email, of.Name, account)); err != nil {
			return err
		}
		return s.audit(ctx, tx, account.ID, actorOf(of.Person.ID), "account.hand_over", account.ID.String(), next.Email)
	})
}

func checkRole(role gateway.Role) error {
	if !slices.Contains(gateway.Roles, role) {
		return gateway.Invalid("role", "want viewer, operator, admin or owner")
	}
	return nil
}
