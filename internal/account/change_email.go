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
	// emailLives is how long a link that changes an address can be used.
	emailLives = time.Hour
	// emailChanges is how many of them somebody can ask for in emailLives, so
	// that nobody's mailbox is filled.
	emailChanges = 3
)

// ErrSameEmail is an address that the person logs in with already.
var ErrSameEmail = errors.New("it is the address that they have")

// TooSoonError is something that was asked for too often.
type TooSoonError struct {
	// Until is when it can be asked for again, and Left how long that is.
	Until time.Time
	Left  time.Duration
}

// Error tells that, without the time.
func (*TooSoonError) Error() string { return "asked for too often" }

// Unwrap makes it a gateway.ErrRateLimited.
func (*TooSoonError) Unwrap() error { return gateway.ErrRateLimited }

// RequestEmail sends a link to the address that a person wants to log in with
// from now on, and tells of it at the present one. Nothing changes until
// ChangeEmail is shown the link. It answers the same when somebody has the
// address: then there is no link. Errors: gateway.InvalidError (email);
// ErrSameEmail; ErrWrongCredentials and *LockedError about the password, as of
// LogIn; *TooSoonError.
func (s *Service) RequestEmail(ctx context.Context, of Session, email, password, address string) error {
	email, err := checkEmail(email)
	if err != nil {
		return err
	}
	if email == of.Email {
		return ErrSameEmail
	}
	if _, err := s.prove(ctx, Credentials{Email: of.Email, Password: password, Address: address}); err != nil {
		return err
	}
	token := secret.NewToken("")
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		try := store.Try{Subject: emailSubject(of.Person.ID), Most: emailChanges, Window: emailLives}
		if err := tx.ReserveTry(ctx, try); err != nil {
			return err
		}
		taken, err := tx.AskEmailChange(ctx, of.Person.ID, email, tokenHash(token), emailLives)
		if err != nil {
			return err
		}
		if !taken {
			if err := s.addMail(ctx, tx, newEmailMail(s.baseURL, email, token)); err != nil {
				return err
			}
		}
		if err := s.addMail(ctx, tx, emailAskedMail(s.baseURL, of.Email, email)); err != nil {
			return err
		}
		return s.auditPerson(ctx, tx, of.Person.ID, "login.ask_email", email)
	})
	return s.tooSoon(err)
}

// tooSoon passes an error on. One that says that something was tried too often
// is a *TooSoonError.
func (s *Service) tooSoon(err error) error {
	if full, ok := errors.AsType[*store.TryLimitError](err); ok {
		return &TooSoonError{Until: full.Until, Left: full.Until.Sub(s.clock.Now())}
	}
	return err
}

// EmailAsked is the address that a person's link leads to. A link that was used,
// is over, or another person's is gateway.ErrNotFound.
func (s *Service) EmailAsked(ctx context.Context, user gateway.UserID, token string) (string, error) {
	return s.store.EmailChange(ctx, user, tokenHash(token))
}

// ChangeEmail gives a person the address that a link was sent to, once. All their
// sessions end, links in mails to the former address, too, and a new session
// begins, whose token it returns. They are told at both addresses. Errors:
// gateway.ErrNotFound for a link that was used, is over, or another person's;
// gateway.ErrEmailTaken; ErrSessionOver.
func (s *Service) ChangeEmail(ctx context.Context, of Session, link string, d Device) (token string, err error) {
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		changed, err := tx.ChangeEmail(ctx, of.Person.ID, tokenHash(link))
		if err != nil {
			return err
		}
		if err := leave(ctx, tx, of); err != nil {
			return err
		}
		if err := s.endEntrances(ctx, tx, of.Person.ID); err != nil {
			return err
		}
		for _, to := range []string{changed.From, changed.To} {
			if err := s.addMail(ctx, tx, emailChangedMail(s.baseURL, to, changed.From, changed.To)); err != nil {
				return err
			}
		}
		if err := s.auditPerson(ctx, tx, of.Person.ID, "login.email", changed.From+" to "+changed.To); err != nil {
			return err
		}
		token, err = s.addSession(ctx, tx, Proven{User: of.Person.ID, passwordHash: changed.PasswordHash, coded: true}, d)
		return err
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// emailSubject names changes of a person's address in the table of tries.
func emailSubject(user gateway.UserID) [32]byte {
	return sha256.Sum256([]byte("address\x00" + user.String()))
}
