package account

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// ErrWrongCredentials is a log-in that fails, whether the address is unknown,
// the password wrong, or none set.
var ErrWrongCredentials = errors.New("wrong mail address or password")

// LockedError is a log-in that is not tried, since too many have failed. It
// says nothing about whether the address is known.
type LockedError struct {
	// Until is when it may be tried again.
	Until time.Time
}

// Error tells that, without the time.
func (*LockedError) Error() string { return "too many log-ins failed" }

const (
	// pairTries is how many log-ins for one mail address from one client may
	// fail in pairWindow: enough for who has forgotten which password it was.
	pairTries  = 5
	pairWindow = 15 * time.Minute
	// emailTries is how many for one mail address may fail in emailWindow, from
	// all clients together. Nobody can guess much with that, and it takes ten
	// clients to lock somebody out.
	emailTries  = 50
	emailWindow = time.Hour
	// clientBits is how much of an IPv6 address is one client: a customer
	// commonly has all of the rest.
	clientBits = 64
)

// Credentials are what somebody logs in with.
type Credentials struct {
	Email, Password string
	// Address is the client's IP address.
	Address string
}

// Proven is a person who has just shown who they are, by a password. It begins
// a session as long as that is still their password.
type Proven struct {
	User gateway.UserID

	passwordHash string
	// coded tells that they have shown a code, too, or go on from a session.
	coded bool
}

// LogIn finds the person whose address and password these are. Errors:
// ErrWrongCredentials; *LockedError after too many wrong ones, in which case
// the right password is refused, too; gateway.ErrOverloaded while too many
// passwords wait to be checked.
func (s *Service) LogIn(ctx context.Context, c Credentials) (Proven, error) {
	login, err := s.prove(ctx, c)
	return Proven{User: login.User, passwordHash: login.PasswordHash}, err
}

// prove checks a password as LogIn does, and returns what it was checked
// against. A try is counted before it is made, so that many at once are no more
// than one after the other, and taken back when it was right.
func (s *Service) prove(ctx context.Context, c Credentials) (store.Login, error) {
	email, known := loginEmail(c.Email)
	subject, client := loginSubject(email), clientOf(c.Address)
	tryErr := s.reserveTries(ctx, subject, client, emailTries, emailWindow)
	locked, isLocked := errors.AsType[*LockedError](tryErr)
	if tryErr != nil && !isLocked {
		return store.Login{}, tryErr
	}
	var login store.Login
	if known {
		var err error
		if login, err = s.store.LoginByEmail(ctx, email); err != nil {
			return store.Login{}, err
		}
	}
	if isLocked {
		return store.Login{}, s.noteLocked(ctx, refuser{subject: subject, user: login.User}, locked)
	}
	match, err := s.hasher.match(ctx, c.Password, login.PasswordHash)
	switch {
	case errors.Is(err, gateway.ErrOverloaded):
		return store.Login{}, errors.Join(err, s.returnLogin(ctx, subject, client)) // nothing was tried
	case err != nil:
		return store.Login{}, err
	case !match:
		if err := s.refuseLogin(ctx, subject, client, login.User); err != nil {
			return store.Login{}, err
		}
		return store.Login{}, ErrWrongCredentials
	}
	return login, s.forgiveLogin(ctx, subject, client)
}

// reserveTries counts a try for a mail address or a person, of which there may be
// most in a window, and for it from one client. One that either refuses is counted
// by neither: *LockedError.
func (s *Service) reserveTries(ctx context.Context, subject [32]byte, client string, most int, window time.Duration) error {
	err := s.store.InTx(ctx, func(tx store.Tx) error {
		// The row of all clients goes first in every transaction, so that none
		// waits for another in a circle.
		if err := tx.ReserveTry(ctx, store.Try{Subject: subject, Most: most, Window: window}); err != nil {
			return err
		}
		return tx.ReserveTry(ctx, store.Try{Subject: subject, Address: client, Most: pairTries, Window: pairWindow})
	})
	if full, ok := errors.AsType[*store.TryLimitError](err); ok {
		return &LockedError{Until: full.Until}
	}
	return err
}

// returnLogin takes back what reserveTries counted.
func (s *Service) returnLogin(ctx context.Context, subject [32]byte, client string) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.ReturnTry(ctx, subject, ""); err != nil {
			return err
		}
		return tx.ReturnTry(ctx, subject, client)
	})
}

func (s *Service) forgiveLogin(ctx context.Context, subject [32]byte, client string) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.ReturnTry(ctx, subject, ""); err != nil {
			return err
		}
		return tx.ForgiveTries(ctx, subject, client)
	})
}

// loginEmail returns an address in the form in which it is stored, and whether
// it can be one that is.
func loginEmail(text string) (email string, known bool) {
	email, err := checkEmail(text)
	if err != nil {
		return strings.ToLower(strings.TrimSpace(text)), false
	}
	return email, true
}

// loginSubject names log-ins for an address in the table of tries.
func loginSubject(email string) [32]byte { return sha256.Sum256([]byte("log-in\x00" + email)) }

// clientOf is the part of an IP address that one client has. Whatever is no
// address counts as one client.
func clientOf(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return "unknown"
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	prefix, err := ip.Prefix(clientBits)
	if err != nil {
		return fmt.Sprint(ip)
	}
	return prefix.String()
}

// refuseLogin notes in every account of a person that their password was not
// known. It writes, too, where there is no such person, so that how long the
// answer takes does not tell. What bounds these entries is how many tries are
// compared at all: emailTries in emailWindow.
func (s *Service) refuseLogin(ctx context.Context, subject [32]byte, client string, user gateway.UserID) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.KeepTry(ctx, subject, client); err != nil {
			return err
		}
		line := s.line("wrong password")
		line.Refused = true
		return tx.AuditPerson(ctx, user, actorOf(user), ActionLoginRefused, line)
	})
}
