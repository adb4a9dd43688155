package account

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// RecoveryCodes is how many codes somebody gets for the day when what makes
// codes is lost.
const RecoveryCodes = 10

// TwoStep is how a person's two-step log-in stands.
type TwoStep = store.TwoStep

// TwoStep tells how a person's two-step log-in stands.
func (s *Service) TwoStep(ctx context.Context, user gateway.UserID) (TwoStep, error) {
	return s.store.TwoStep(ctx, user)
}

// BeginTwoStep makes a key for a person who shows their password, and returns
// the address that brings it into a program that makes codes. It counts once
// TurnTwoStepOn was shown a code of it. Errors: ErrWrongCredentials and
// *LockedError as of LogIn; gateway.ErrStateChanged when it is on already.
func (s *Service) BeginTwoStep(ctx context.Context, of Session, password, address string) (keyURL string, err error) {
	if _, err := s.prove(ctx, Credentials{Email: of.Email, Password: password, Address: address}); err != nil {
		return "", err
	}
	key, err := newStepKey(s.baseURL, of.Email)
	if err != nil {
		return "", err
	}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		return check(tx.BeginTwoStep(ctx, of.Person.ID, key.Secret()))(gateway.ErrStateChanged)
	})
	if err != nil {
		return "", err
	}
	return key.URL(), nil
}

// TurnTwoStepOn has codes asked for from now on, once it is shown one, and
// returns the recovery codes, which are kept as hashes alone. Every other session
// of the person ends: it was begun without a code. They are told by mail. Errors:
// ErrWrongCode, and *LockedError after too many of them; gateway.ErrStateChanged
// when it is on already, or no key was made.
func (s *Service) TurnTwoStepOn(ctx context.Context, of Session, code, address string) ([]string, error) {
	key, err := s.store.StepKey(ctx, of.Person.ID)
	if errors.Is(err, gateway.ErrNotFound) {
		return nil, gateway.ErrStateChanged
	}
	if err != nil {
		return nil, err
	}
	if code = typedCode(code); !isStepCode(code) {
		return nil, ErrWrongCode // which is no guess
	}
	client := clientOf(address)
	if err := s.reserveCode(ctx, of.Person.ID, client); err != nil {
		return nil, err
	}
	step, ok, err := stepOf(key.Text, code, s.clock.Now())
	if err := check(ok, err)(ErrWrongCode); err != nil {
		return nil, err
	}
	codes, hashes := newRecoveryCodes()
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if err := check(tx.TurnTwoStepOn(ctx, of.Person.ID, key, step))(gateway.ErrStateChanged); err != nil {
			return err
		}
		if _, err := tx.ReplaceRecoveryCodes(ctx, of.Person.ID, hashes); err != nil {
			return err
		}
		if _, err := tx.EndSessions(ctx, of.Person.ID, of.ID); err != nil {
			return err
		}
		if err := s.addMail(ctx, tx, twoStepOnMail(s.baseURL, of.Email)); err != nil {
			return err
		}
		return s.auditPerson(ctx, tx, of.Person.ID, "login.two_step_on", of.Email)
	})
	if err != nil {
		return nil, err
	}
	return codes, s.forgiveLogin(ctx, codeSubject(of.Person.ID), client)
}

// NewRecoveryCodes makes recovery codes for a person who shows their password;
// those from before are worth nothing any more. They are told by mail. Errors:
// ErrWrongCredentials and *LockedError as of LogIn; gateway.ErrStateChanged while
// two-step log-in is off.
func (s *Service) NewRecoveryCodes(ctx context.Context, of Session, password, address string) ([]string, error) {
	if _, err := s.prove(ctx, Credentials{Email: of.Email, Password: password, Address: address}); err != nil {
		return nil, err
	}
	codes, hashes := newRecoveryCodes()
	err := s.store.InTx(ctx, func(tx store.Tx) error {
		if err := check(tx.ReplaceRecoveryCodes(ctx, of.Person.ID, hashes))(gateway.ErrStateChanged); err != nil {
			return err
		}
		if err := s.addMail(ctx, tx, newCodesMail(s.baseURL, of.Email)); err != nil {
			return err
		}
		return s.auditPerson(ctx, tx, of.Person.ID, "login.recovery_codes", of.Email)
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

func newRecoveryCodes() (codes []string, hashes [][32]byte) {
	for range RecoveryCodes {
		code := secret.NewCode()
		codes, hashes = append(codes, code), append(hashes, secret.HashCode(code))
	}
	return codes, hashes
}

// TurnTwoStepOff forgets the key and the recovery codes of a person who shows
// their password. They are told by mail. Errors: ErrWrongCredentials and
// *LockedError as of LogIn; gateway.ErrStateChanged when it is off already.
func (s *Service) TurnTwoStepOff(ctx context.Context, of Session, password, address string) error {
	if _, err := s.prove(ctx, Credentials{Email: of.Email, Password: password, Address: address}); err != nil {
		return err
	}
	return s.turnTwoStepOff(ctx, of.Person.ID, of.Email, actorOf(of.Person.ID))
}

// EndTwoStep is TurnTwoStepOff for who holds the database itself, and has been
// asked by somebody who lost all that makes codes. Their password stays. Errors:
// gateway.InvalidError (email) for what is no address; gateway.ErrNotFound when
// nobody has it; gateway.ErrStateChanged when it is off already.
func (s *Service) EndTwoStep(ctx context.Context, email string) error {
	email, err := checkEmail(email)
	if err != nil {
		return err
	}
	login, err := s.store.LoginByEmail(ctx, email)
	if err != nil {
		return err
	}
	if login.User.IsZero() {
		return gateway.ErrNotFound
	}
	return s.turnTwoStepOff(ctx, login.User, login.Email, gateway.ActorRowlock)
}

func (s *Service) turnTwoStepOff(ctx context.Context, user gateway.UserID, email string, by gateway.Actor) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := check(tx.TurnTwoStepOff(ctx, user))(gateway.ErrStateChanged); err != nil {
			return err
		}
		if err := tx.EndHalfLogins(ctx, user); err != nil {
			return err
		}
		if err := s.addMail(ctx, tx, twoStepOffMail(s.baseURL, email)); err != nil {
			return err
		}
		return tx.AuditPerson(ctx, user, by, "login.two_step_off", s.line(email))
	})
}

// RequireTwoStep says whether an account is for members who have turned two-step
// log-in on alone, from their next request on. Those who are shut out by it are
// told by mail. What API keys may do stays as it is. Of is an owner. Errors:
// gateway.ErrStateChanged where it is so already, or an owner would shut
// themselves out.
func (s *Service) RequireTwoStep(ctx context.Context, account gateway.Account, of Session, required bool) error {
	action := "account.two_step_optional"
	if required {
		action = "account.two_step_required"
	}
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := check(tx.RequireTwoStep(ctx, account.ID, of.Person.ID, required))(gateway.ErrStateChanged); err != nil {
			return err
		}
		if required {
			if err := s.mailShutOut(ctx, tx, account, of.Name); err != nil {
				return err
			}
		}
		return s.audit(ctx, tx, account.ID, actorOf(of.Person.ID), action, account.ID.String(), "")
	})
}

// mailShutOut tells those members that two-step log-in is required who have not
// turned it on.
func (s *Service) mailShutOut(ctx context.Context, tx store.Tx, account gateway.Account, by string) error {
	addresses, err := tx.AddressesWithoutTwoStep(ctx, account.ID)
	if err != nil {
		return err
	}
	return s.mailAll(ctx, tx, addresses, func(to string) store.Mail { return twoStepRequiredMail(s.baseURL, to, by, account) })
}
