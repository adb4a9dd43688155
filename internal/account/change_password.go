package account

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// ChangePassword sets a new password for a person who knows the present one.
// All their sessions end, the links in mails that could set another, too, and
// a new session begins, whose token it returns. They are told by mail. Errors:
// gateway.InvalidError (password); ErrWrongCredentials and *LockedError about
// the present one, as of LogIn; ErrSessionOver.
func (s *Service) ChangePassword(ctx context.Context, of Session, current, password string, d Device) (token string, err error) {
	if err := checkPassword(password); err != nil {
		return "", err
	}
	proven, err := s.prove(ctx, Credentials{Email: of.Email, Password: current, Address: d.Address})
	if err != nil {
		return "", err
	}
	hash, err := s.hasher.hash(ctx, password)
	if err != nil {
		return "", err
	}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if err := check(tx.SetPassword(ctx, of.Person.ID, proven.PasswordHash, hash))(ErrWrongCredentials); err != nil {
			return err
		}
		if err := leave(ctx, tx, of); err != nil {
			return err
		}
		if err := s.passwordIsNew(ctx, tx, of.Person.ID, of.Email); err != nil {
			return err
		}
		if err := s.auditPerson(ctx, tx, of.Person.ID, "login.set_password", ""); err != nil {
			return err
		}
		token, err = s.addSession(ctx, tx, Proven{User: of.Person.ID, passwordHash: hash, coded: true}, d)
		return err
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// leave ends the session that another one follows upon. Whoever locks the
// person's row before that may have ended it: then none follows.
func leave(ctx context.Context, tx store.Tx, of Session) error {
	err := tx.EndSession(ctx, of.Person.ID, of.ID)
	if errors.Is(err, gateway.ErrNotFound) {
		return ErrSessionOver
	}
	return err
}

// passwordIsNew ends what the former password has let in, and tells the person.
func (s *Service) passwordIsNew(ctx context.Context, tx store.Tx, user gateway.UserID, email string) error {
	if err := s.endEntrances(ctx, tx, user); err != nil {
		return err
	}
	return s.addMail(ctx, tx, passwordChangedMail(s.baseURL, email))
}

// endEntrances ends all sessions of a person, whole or half, and the links in
// mails that could let somebody in.
func (s *Service) endEntrances(ctx context.Context, tx store.Tx, user gateway.UserID) error {
	if _, err := tx.EndSessions(ctx, user, gateway.SessionID{}); err != nil {
		return err
	}
	for _, end := range []func(context.Context, gateway.UserID) error{tx.EndHalfLogins, tx.EndPasswordResets, tx.EndEmailChange} {
		if err := end(ctx, user); err != nil {
			return err
		}
	}
	return nil
}

// Rename sets a person's name. Errors: gateway.InvalidError (name).
func (s *Service) Rename(ctx context.Context, user gateway.UserID, name string) error {
	name, err := checkName("name", name)
	if err != nil {
		return err
	}
	return s.store.InTx(ctx, func(tx store.Tx) error {
		changed, err := tx.RenameUser(ctx, user, name)
		if err != nil || !changed {
			return err
		}
		return s.auditPerson(ctx, tx, user, "person.rename", name)
	})
}
