package account

import (
	"context"
	"strings"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

type (
	// Membership is an account as one of its members sees it.
	Membership = store.Membership
	// InstanceAccount is an account with numbers, for the instance's owner.
	InstanceAccount = store.InstanceAccount
)

// Accounts lists the accounts that a person is a member of, by name.
func (s *Service) Accounts(ctx context.Context, user gateway.UserID) ([]Membership, error) {
	return s.store.Memberships(ctx, user)
}

// Member tells what a person is in an account, which is named by its id or its
// slug. A stranger gets gateway.ErrNotFound, as for an account that is not
// there.
func (s *Service) Member(ctx context.Context, user gateway.UserID, ref string) (Membership, error) {
	if id, err := gateway.ParseID[gateway.AccountID](ref); err == nil {
		return s.store.Membership(ctx, id, user)
	}
	if strings.Trim(ref, slugAlphabet) != "" {
		return Membership{}, gateway.ErrNotFound // and nothing that no text of the database is
	}
	return s.store.MembershipBySlug(ctx, ref, user)
}

// Open makes a further account of a person, with its built-in source. Where
// sign-up is closed only the instance's owner can: for others it is
// ErrSignupClosed. Errors: gateway.InvalidError (name).
func (s *Service) Open(ctx context.Context, user gateway.UserID, name string) (gateway.Account, error) {
	name, err := checkName("name", name)
	if err != nil {
		return gateway.Account{}, err
	}
	f := founding{account: gateway.AccountID(s.clock.NewID()), name: name, user: store.User{ID: user}}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if s.signup != config.SignupOpen && s.signup != config.SignupInvite {
			if err := check(tx.OwnsInstance(ctx, user))(ErrSignupClosed); err != nil {
				return err
			}
		}
		return s.foundAccount(ctx, tx, f)
	})
	if err != nil {
		return gateway.Account{}, err
	}
	return s.store.Account(ctx, f.account)
}

// Visit remembers the account that a person looks at, to begin there the next
// time.
func (s *Service) Visit(ctx context.Context, user gateway.UserID, account gateway.AccountID) error {
	return s.store.VisitAccount(ctx, user, account)
}

// RenameAccount gives an account another name. Its slug, which is in
// addresses, stays. Errors: gateway.InvalidError (name).
func (s *Service) RenameAccount(ctx context.Context, account gateway.AccountID, actor gateway.Actor, name string) error {
	name, err := checkName("name", name)
	if err != nil {
		return err
	}
	return s.store.InTx(ctx, func(tx store.Tx) error {
		changed, err := tx.RenameAccount(ctx, account, name)
		if err != nil || !changed {
			return err
		}
		return s.audit(ctx, tx, account, actor, "account.rename", account.String(), name)
	})
}

// InstanceAccounts lists all accounts, newest first. It is for the instance's
// owner alone, which the caller makes sure of.
func (s *Service) InstanceAccounts(ctx context.Context, page store.Page[gateway.AccountID]) ([]InstanceAccount, error) {
	return s.store.InstanceAccounts(ctx, page)
}
