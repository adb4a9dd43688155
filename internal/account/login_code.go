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
	// halfLives is how long a code can be shown after the password.
	halfLives = 10 * time.Minute
	// codeTries is how many codes of one person may be wrong in codeWindow, from
	// all clients together, after the right password: ten a hour of a million
	// that there are, three of which are good.
	codeTries  = 10
	codeWindow = time.Hour
)

var (
	// ErrWrongCode is a code that is none of the person's.
	ErrWrongCode = errors.New("wrong code")
	// ErrUsedCode is a code that was right, and has let in once.
	ErrUsedCode = errors.New("the code was used")
)

// HalfLogin finds the log-in whose code is awaited, by the token that the
// password has earned. One that was used, or is over, is gateway.ErrNotFound.
func (s *Service) HalfLogin(ctx context.Context, token string) (store.HalfLogin, error) {
	if token == "" {
		return store.HalfLogin{}, gateway.ErrNotFound
	}
	return s.store.HalfLogin(ctx, tokenHash(token))
}

// Entered is a log-in that is whole.
type Entered struct {
	// Token is the session's.
	Token string
	// Keep tells that the person asked to stay logged in.
	Keep bool
	// CodesLeft is how many recovery codes are left, when one was used; else nil.
	CodesLeft *int
}

// EnterWithCode begins the session of a log-in whose code is awaited, with a
// code that changes or with a recovery code. The token that the password has
// earned is worth nothing afterwards. Errors: ErrWrongCode, ErrUsedCode;
// *LockedError after too many wrong ones; gateway.ErrNotFound when the log-in was
// used or is over.
func (s *Service) EnterWithCode(ctx context.Context, token, code string, d Device) (Entered, error) {
	half, err := s.HalfLogin(ctx, token)
	if err != nil {
		return Entered{}, err
	}
	client := clientOf(d.Address)
	if err := s.reserveCode(ctx, half.User, client); err != nil {
		return Entered{}, err
	}
	shown, err := s.readCode(ctx, half.User, code)
	if err != nil {
		return Entered{}, err // it was turned off meanwhile: the log-in is over
	}
	d.Keep = half.Keep
	in := Entered{Keep: half.Keep}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		hash, err := s.useCode(ctx, tx, half, shown, &in)
		if err != nil {
			return err
		}
		if err := tx.UseHalfLogin(ctx, tokenHash(token), half.User); err != nil {
			return err
		}
		if in.Token, err = s.addSession(ctx, tx, Proven{User: half.User, passwordHash: hash, coded: true}, d); err != nil {
			return err
		}
		return s.auditPerson(ctx, tx, half.User, "login.start", in.how())
	})
	if errors.Is(err, ErrWrongCode) || errors.Is(err, ErrUsedCode) {
		if noted := s.refuseCode(ctx, half.User, err); noted != nil {
			return Entered{}, noted
		}
	}
	if err != nil {
		return Entered{}, err
	}
	return in, s.forgiveLogin(ctx, codeSubject(half.User), client)
}

// reserveCode counts a try of a person's code before it is made, as that of a
// password. The error is *LockedError.
func (s *Service) reserveCode(ctx context.Context, user gateway.UserID, client string) error {
	subject := codeSubject(user)
	err := s.reserveTries(ctx, subject, client, codeTries, codeWindow)
	if locked, ok := errors.AsType[*LockedError](err); ok {
		return s.noteLocked(ctx, refuser{subject: subject, user: user}, locked)
	}
	return err
}

// how says by which code somebody came in.
func (e Entered) how() string {
	if e.CodesLeft != nil {
		return "with a recovery code"
	}
	return "with a code"
}

// refuseCode notes in every account of a person that a code was not taken. What
// bounds these entries is how many tries there are.
func (s *Service) refuseCode(ctx context.Context, user gateway.UserID, why error) error {
	line := s.line(why.Error())
	line.Refused = true
	return s.store.InTx(ctx, func(tx store.Tx) error {
		return tx.AuditPerson(ctx, user, actorOf(user), ActionLoginRefused, line)
	})
}

// shownCode is a code as somebody has shown it.
type shownCode struct {
	text string
	// key is what codes that change are made of; empty with a recovery code.
	key store.StepKey
}

// readCode reads a code, and what it is compared with. It comes before the
// transaction that uses it up, which holds a connection.
func (s *Service) readCode(ctx context.Context, user gateway.UserID, text string) (c shownCode, err error) {
	if c.text = typedCode(text); isStepCode(c.text) {
		c.key, err = s.store.StepKey(ctx, user)
	}
	return c, err
}

// useCode uses a code up and returns the hash of the person's password, whose
// row is locked from then on.
func (s *Service) useCode(ctx context.Context, tx store.Tx, half store.HalfLogin, c shownCode, in *Entered) (passwordHash string, err error) {
	if !isStepCode(c.text) {
		passwordHash, left, used, err := tx.UseRecoveryCode(ctx, half.User, secret.HashCode(c.text))
		if err := check(used, err)(ErrWrongCode); err != nil {
			return "", err
		}
		in.CodesLeft = &left
		return passwordHash, s.addMail(ctx, tx, codeUsedMail(s.baseURL, half.Email, left))
	}
	step, ok, err := stepOf(c.key.Text, c.text, s.clock.Now())
	if err := check(ok, err)(ErrWrongCode); err != nil {
		return "", err
	}
	passwordHash, used, err := tx.UseStep(ctx, half.User, c.key, step)
	return passwordHash, check(used, err)(ErrUsedCode)
}

// codeSubject names codes of a person in the table of tries.
func codeSubject(user gateway.UserID) [32]byte {
	return sha256.Sum256([]byte("code\x00" + user.String()))
}
