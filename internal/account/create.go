package account

import (
	"context"
	"errors"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// firstKeyName is what people see in the list of keys.
const firstKeyName = "First key"

// New is an account to be made, with the person who owns it.
type New struct {
	// Name is the account's.
	Name string
	// Email is the owner's address.
	Email string
	// Person is the owner's name; empty takes the address's first part.
	Person string
	// Password is the owner's. With an empty one nobody can log in until it is
	// set by mail.
	Password string
}

// Created is what was made. The key's text is not kept anywhere.
type Created struct {
	AccountID gateway.AccountID
	UserID    gateway.UserID
	APIKey    string
}

// Create makes an account, its owner, an API key with all scopes and the
// built-in source of the API, all or nothing. It is for who operates the
// instance: whoever may sign up, it makes an account, and the first person ever
// made owns the instance. Errors: gateway.InvalidError, joined if there are
// several; gateway.ErrEmailTaken.
func (s *Service) Create(ctx context.Context, n New) (Created, error) {
	n, err := n.checked()
	if err != nil {
		return Created{}, err
	}
	hash, err := s.hasher.hash(ctx, n.Password)
	if err != nil {
		return Created{}, err
	}
	f := s.founding(n.Name, n.Person, n.Email, hash)
	made := Created{AccountID: f.account, UserID: f.user.ID}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if err := s.found(ctx, tx, f); err != nil {
			return err
		}
		if _, err := claimInstance(ctx, tx, f.user.ID); err != nil {
			return err
		}
		key := NewKey{Name: firstKeyName, Scopes: gateway.Scopes}
		_, made.APIKey, err = s.addKey(ctx, tx, f.account, key)
		return err
	})
	if err != nil {
		return Created{}, err
	}
	return made, nil
}

// checked returns the input in the form in which it is stored.
func (n New) checked() (New, error) {
	var nameErr, emailErr, personErr, passwordErr error
	n.Name, nameErr = checkName("name", n.Name)
	n.Email, emailErr = checkEmail(n.Email)
	if strings.TrimSpace(n.Person) != "" {
		n.Person, personErr = checkName("person", n.Person)
	} else {
		n.Person, _, _ = strings.Cut(n.Email, "@")
	}
	if n.Password != "" {
		passwordErr = checkPassword(n.Password)
	}
	return n, errors.Join(nameErr, emailErr, personErr, passwordErr)
}

// claimInstance makes a person the instance's owner if it has none, and tells
// whether it did. Then the links that were for the first person end.
func claimInstance(ctx context.Context, tx store.Tx, user gateway.UserID) (bool, error) {
	first, err := tx.ClaimInstance(ctx, user)
	if err != nil || !first {
		return false, err
	}
	return true, tx.EndSetupTokens(ctx)
}

// tokenHash is what is stored in place of a token, and looked up by.
func tokenHash(token string) [32]byte { return secret.HashToken(token) }
