package account

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// resetLives is how long a link that sets a new password can be used.
	resetLives = time.Hour
	// resetTries is how many of them can be asked for in resetLives, so that
	// nobody's mailbox is filled.
	resetTries = 3
)

// RequestReset sends the person with this address a link that sets a new
// password. It answers the same when nobody has the address, or too many links
// were asked for, and does the same work but for the mail itself. The error is
// gateway.InvalidError (email) for what is no address, or one of ours.
func (s *Service) RequestReset(ctx context.Context, email string) error {
	email, err := checkEmail(email)
	if err != nil {
		return err
	}
	login, err := s.store.LoginByEmail(ctx, email)
	if err != nil {
		return err
	}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		try := store.Try{Subject: resetSubject(email), Most: resetTries, Window: resetLives}
		if err := tx.ReserveTry(ctx, try); err != nil || login.User.IsZero() {
			return err
		}
		token, err := newReset(ctx, tx, login.User)
		if err != nil {
			return err
		}
		if err := s.auditPerson(ctx, tx, login.User, "login.ask_reset", ""); err != nil {
			return err
		}
		return s.addMail(ctx, tx, resetMail(s.baseURL, login.Email, token))
	})
	if _, tooMany := errors.AsType[*store.TryLimitError](err); tooMany {
		return nil
	}
	return err
}

// MakeResetLink makes the link that RequestReset would mail, for who holds the
// database itself: no mail is written, and however many were asked for does not
// matter. Errors: gateway.InvalidError (email) for what is no address;
// gateway.ErrNotFound when nobody has it.
func (s *Service) MakeResetLink(ctx context.Context, email string) (string, error) {
	email, err := checkEmail(email)
	if err != nil {
		return "", err
	}
	login, err := s.store.LoginByEmail(ctx, email)
	if err != nil {
		return "", err
	}
	if login.User.IsZero() {
		return "", gateway.ErrNotFound
	}
	var token string
	err = s.store.InTx(ctx, func(tx store.Tx) (err error) {
		if token, err = newReset(ctx, tx, login.User); err != nil {
			return err
		}
		return tx.AuditPerson(ctx, login.User, gateway.ActorRowlock, "login.make_reset", s.line(""))
	})
	if err != nil {
		return "", err
	}
	return resetLink(s.baseURL, token), nil
}

// newReset makes the token of a link that sets a new password.
func newReset(ctx context.Context, tx store.Tx, user gateway.UserID) (string, error) {
	token := secret.NewToken("")
	return token, tx.CreatePasswordReset(ctx, user, tokenHash(token), resetLives)
}

// resetLink is where the token sets a new password.
func resetLink(baseURL, token string) string { return baseURL + "/reset/" + token }

// ResetOpen tells whether a link that sets a new password can be used.
func (s *Service) ResetOpen(ctx context.Context, token string) (bool, error) {
	return s.store.PasswordResetOpen(ctx, tokenHash(token))
}

// Reset sets a new password by a link, once. All sessions of the
// person end, and they are told by mail. Errors: gateway.InvalidError
// (password); gateway.ErrNotFound for a link that was used or is over.
func (s *Service) Reset(ctx context.Context, token, password string) error {
	if err := check(s.ResetOpen(ctx, token))(gateway.ErrNotFound); err != nil {
		return err // before work is done for nothing
	}
	if err := checkPassword(password); err != nil {
		return err
	}
	hash, err := s.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	return s.store.InTx(ctx, func(tx store.Tx) error {
		user, err := tx.UsePasswordReset(ctx, tokenHash(token))
		if err != nil {
			return err
		}
		email, err := tx.ResetPassword(ctx, user, hash)
		if err != nil {
			return err
		}
		// Who reads the mail is let in, however often others have tried.
		if err := tx.ForgiveAllTries(ctx, loginSubject(email)); err != nil {
			return err
		}
		if err := s.auditPerson(ctx, tx, user, "login.reset", ""); err != nil {
			return err
		}
		return s.passwordIsNew(ctx, tx, user, email)
	})
}

// resetSubject names links for an address in the table of tries.
func resetSubject(email string) [32]byte { return sha256.Sum256([]byte("reset\x00" + email)) }
