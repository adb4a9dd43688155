package account

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// Why a sign-up is refused, whatever was filled in.
var (
	// ErrSetupNeeded: the instance has no owner yet, and the first person needs
	// the one-time link that the server prints.
	ErrSetupNeeded = errors.New("the set-up link is needed")
	// ErrSignupClosed: nobody can sign up.
	ErrSignupClosed = errors.New("sign-up is closed")
	// ErrInviteNeeded: who signs up needs an invitation that is open and, if it
	// names an address, for theirs.
	ErrInviteNeeded = errors.New("an invitation is needed")
)

// SignUp is a person who wants to come in, with an account of their own.
type SignUp struct {
	// Name is the person's, Account the account's.
	Name, Email, Password, Account string
	// Setup is the token of the set-up link, and Invite that of an invitation;
	// empty when the person came without.
	Setup, Invite string
	// Local tells that the person sits at the server itself, and so may be the
	// first without the set-up link.
	Local bool
}

// SignupState is who may sign up now.
type SignupState struct {
	// HasOwner tells whether the instance has an owner. While it has none, the
	// first person may sign up whatever the mode.
	HasOwner bool
	Mode     config.Signup
}

// SignupState tells who may sign up now.
func (s *Service) SignupState(ctx context.Context) (SignupState, error) {
	has, err := s.store.HasOwner(ctx)
	return SignupState{HasOwner: has, Mode: s.signup}, err
}

// SetupToken makes the token of a set-up link, with which the first person can
// sign up. It is empty once the instance has an owner.
func (s *Service) SetupToken(ctx context.Context) (string, error) {
	token := secret.NewToken("")
	made, err := s.store.CreateSetupToken(ctx, tokenHash(token))
	if err != nil || !made {
		return "", err
	}
	return token, nil
}

// SignUp makes a person and an account that they own, with the built-in source
// of the API, all or nothing. The first person owns the instance. Errors:
// gateway.InvalidError (name, email, password, account), joined if there are
// several; gateway.ErrEmailTaken; ErrSetupNeeded, ErrSignupClosed,
// ErrInviteNeeded; gateway.ErrOverloaded while too many passwords wait to be
// hashed.
func (s *Service) SignUp(ctx context.Context, in SignUp) (Proven, error) {
	if err := s.mayTry(ctx, in); err != nil {
		return Proven{}, err
	}
	in, err := in.checked()
	if err != nil {
		return Proven{}, err
	}
	hash, err := s.hasher.hash(ctx, in.Password)
	if err != nil {
		return Proven{}, err
	}
	f := s.founding(in.Account, in.Name, in.Email, hash)
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if err := s.found(ctx, tx, f); err != nil {
			return err
		}
		return s.admit(ctx, tx, in, f.user)
	})
	if err != nil {
		return Proven{}, err
	}
	return Proven{User: f.user.ID, passwordHash: hash}, nil
}

// mayTry refuses early who would be refused in the end, before work is done
// for them. It decides nothing: admit does.
func (s *Service) mayTry(ctx context.Context, in SignUp) error {
	hasOwner, tokenOpen, err := s.store.SetupTokenOpen(ctx, tokenHash(in.Setup))
	switch {
	case err != nil:
		return err
	case !hasOwner && !in.Local && !tokenOpen:
		return ErrSetupNeeded
	case !hasOwner, s.signup == config.SignupOpen:
		return nil
	case s.signup == config.SignupInvite:
		_, err := s.InvitationOpen(ctx, in.Invite)
		if errors.Is(err, gateway.ErrNotFound) {
			return ErrInviteNeeded
		}
		return err
	}
	return ErrSignupClosed
}

// admit decides, with the person's row written, whether they may come in. An
// error takes all back.
//
// Two who sign up first at once meet at the owner's row: one becomes the
// owner, and the other is judged as anybody who comes later.
func (s *Service) admit(ctx context.Context, tx store.Tx, in SignUp, user store.User) error {
	first, err := tx.ClaimInstance(ctx, user.ID)
	if err != nil {
		return err
	}
	if first {
		return s.admitFirst(ctx, tx, in)
	}
	switch s.signup {
	case config.SignupOpen:
		_, err := useInvitation(ctx, tx, in, user) // noted if there is one
		return err
	case config.SignupInvite:
		return check(useInvitation(ctx, tx, in, user))(ErrInviteNeeded)
	case config.SignupClosed:
		return ErrSignupClosed
	}
	return ErrSignupClosed
}

// admitFirst asks for the set-up token of who is not at the server itself.
func (s *Service) admitFirst(ctx context.Context, tx store.Tx, in SignUp) error {
	if !in.Local {
		if err := check(tx.UseSetupToken(ctx, tokenHash(in.Setup)))(ErrSetupNeeded); err != nil {
			return err
		}
	}
	return tx.EndSetupTokens(ctx)
}

func useInvitation(ctx context.Context, tx store.Tx, in SignUp, user store.User) (bool, error) {
	if in.Invite == "" {
		return false, nil
	}
	return tx.UseInvitation(ctx, tokenHash(in.Invite), user.ID, user.Email)
}

// check turns the answer of a guard into an error: the one given when it says
// no.
func check(ok bool, err error) func(no error) error {
	return func(no error) error {
		if err == nil && !ok {
			return no
		}
		return err
	}
}

// checked returns the input in the form in which it is stored.
func (in SignUp) checked() (SignUp, error) {
	var nameErr, emailErr, accountErr error
	in.Name, nameErr = checkName("name", in.Name)
	in.Email, emailErr = checkEmail(in.Email)
	in.Account, accountErr = checkName("account", in.Account)
	return in, errors.Join(nameErr, emailErr, checkPassword(in.Password), accountErr)
}
