package account

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// idle is how long a session lives without being used: over a working day.
	idle = 12 * time.Hour
	// longest is how long it lives at all.
	longest = 7 * 24 * time.Hour
	// keptIdle and longestKept are the same for who asked to stay logged in.
	keptIdle    = 30 * 24 * time.Hour
	longestKept = 180 * 24 * time.Hour
	// touchEvery is how often it is noted at the most that a session is used.
	touchEvery = time.Minute
)

type (
	// Session is a person's log-in in one browser, as long as it lives.
	Session = store.Session
	// Person is who a session belongs to.
	Person = store.Person
	// Flash is a message for the next page of a session.
	Flash = store.Flash
)

// ErrSessionOver is a session that was ended, from another one, while somebody did
// something in it: nothing was done.
var ErrSessionOver = errors.New("the session has ended")

// Device is where somebody logs in.
type Device struct {
	// Address is the client's IP address, and Agent what it calls itself; both
	// are shown to the person alone.
	Address, Agent string
	// Keep tells that the person wants to stay logged in.
	Keep bool
}

// Started is what a proven password has come to.
type Started struct {
	// Token is that of a session or, while a code is awaited, that of a half
	// log-in. It is not kept anywhere.
	Token string
	// CodeNeeded tells that it is a half log-in: EnterWithCode makes it whole.
	CodeNeeded bool
}

// StartSession makes a session of a person who has proven who they are or, where
// a code is asked from them, a half log-in. The session that the client had
// before, by its token, ends in the same transaction, whoever it belonged to: no
// token that was known before a log-in is of use after it. When the password was
// changed since it was proven it is ErrWrongCredentials.
func (s *Service) StartSession(ctx context.Context, who Proven, d Device, oldToken string) (started Started, err error) {
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		// The person's row goes first, as where a password is changed, so that
		// none waits for another in a circle.
		started, err = s.start(ctx, tx, who, d)
		if err != nil || oldToken == "" {
			return err
		}
		return tx.EndSessionByHash(ctx, tokenHash(oldToken))
	})
	if err != nil {
		return Started{}, err
	}
	return started, nil
}

// start makes a session or, where there can be none without a code, a half
// log-in. Which of the two it is the statements decide that make them.
func (s *Service) start(ctx context.Context, tx store.Tx, who Proven, d Device) (Started, error) {
	token, err := s.addSession(ctx, tx, who, d)
	switch {
	case err == nil:
		return Started{Token: token}, s.auditPerson(ctx, tx, who.User, "login.start", "")
	case !errors.Is(err, ErrWrongCredentials):
		return Started{}, err
	}
	token = secret.NewToken("")
	n := store.NewHalfLogin{Hash: tokenHash(token), User: who.User, PasswordHash: who.passwordHash, Keep: d.Keep, Lives: halfLives}
	if err := check(tx.CreateHalfLogin(ctx, n))(ErrWrongCredentials); err != nil {
		return Started{}, err
	}
	return Started{Token: token, CodeNeeded: true}, s.auditPerson(ctx, tx, who.User, "login.half", "")
}

func (s *Service) addSession(ctx context.Context, tx store.Tx, who Proven, d Device) (string, error) {
	token := secret.NewToken("")
	n := store.NewSession{
		ID: gateway.SessionID(s.clock.NewID()), User: who.User, PasswordHash: who.passwordHash, Coded: who.coded, Hash: tokenHash(token),
		Keep: d.Keep, Address: gateway.VisibleText(d.Address), Agent: gateway.VisibleText(d.Agent),
		Idle: idle, Longest: longest,
	}
	if d.Keep {
		n.Idle, n.Longest = keptIdle, longestKept
	}
	return token, check(tx.CreateSession(ctx, n))(ErrWrongCredentials)
}

// Session finds the session with this token and notes that it is used, which
// lets its end slide. One that has ended, or never was, is gateway.ErrNotFound.
func (s *Service) Session(ctx context.Context, token string) (Session, error) {
	if token == "" {
		return Session{}, gateway.ErrNotFound
	}
	found, err := s.store.SessionByHash(ctx, tokenHash(token))
	if err != nil || s.clock.Now().Sub(found.SeenAt) < touchEvery {
		return found, err
	}
	seenAt, endsAt, touched, err := s.store.TouchSession(ctx, found.ID, touchEvery)
	if touched {
		found.SeenAt, found.EndsAt = seenAt, endsAt
	}
	return found, err
}

// Sessions lists a person's live sessions, newest first.
func (s *Service) Sessions(ctx context.Context, user gateway.UserID) ([]Session, error) {
	return s.store.Sessions(ctx, user)
}

// LogOut ends the session that a person is in. One that has ended is
// gateway.ErrNotFound.
func (s *Service) LogOut(ctx context.Context, of Session) error {
	return s.endSession(ctx, of.Person.ID, of.ID, "login.end", "")
}

// EndSession ends one session of a person from another one. One that is not
// there, or another person's, is gateway.ErrNotFound.
func (s *Service) EndSession(ctx context.Context, user gateway.UserID, id gateway.SessionID) error {
	return s.endSession(ctx, user, id, "login.end_other", id.String())
}

func (s *Service) endSession(ctx context.Context, user gateway.UserID, id gateway.SessionID, action, detail string) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.EndSession(ctx, user, id); err != nil {
			return err
		}
		return s.auditPerson(ctx, tx, user, action, detail)
	})
}

// EndOtherSessions ends all sessions of a person but one, and returns how many
// these were. The zero id keeps none.
func (s *Service) EndOtherSessions(ctx context.Context, user gateway.UserID, keep gateway.SessionID) (ended int64, err error) {
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if ended, err = tx.EndSessions(ctx, user, keep); err != nil || ended == 0 {
			return err
		}
		return s.auditPerson(ctx, tx, user, "login.end_others", strconv.FormatInt(ended, 10))
	})
	return ended, err
}

// SetFlash keeps a message for the next page of a session, in place of one
// that is waiting. It may carry a secret: it is sealed.
func (s *Service) SetFlash(ctx context.Context, of Session, f Flash) error {
	return s.store.SetFlash(ctx, of.Person.ID, of.ID, f)
}

// TakeFlash returns the message that waits for this page of a session, by the
// page's path, to one caller alone; nil when there is none.
func (s *Service) TakeFlash(ctx context.Context, of Session, page string) ([]byte, error) {
	return s.store.TakeFlash(ctx, of.Person.ID, of.ID, page)
}
