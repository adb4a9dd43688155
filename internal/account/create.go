package account

import (
	"context"
	"errors"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// keyPrefix begins every API key, so that one that leaked is recognised.
	keyPrefix = "rk_"
	// keyHint is how many characters of a key's end are kept to tell keys apart.
	keyHint = 4
	// firstKeyName and apiSourceName are what people see in lists.
	firstKeyName  = "First key"
	apiSourceName = "API"
)

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
// built-in source of the API, all or nothing. The first person ever made owns
// the instance. Errors: gateway.InvalidError, joined if there are several;
// gateway.ErrEmailTaken.
func (s *Service) Create(ctx context.Context, n New) (Created, error) {
	n, err := n.checked()
	if err != nil {
		return Created{}, err
	}
	hash, err := s.hasher.hash(ctx, n.Password)
	if err != nil {
		return Created{}, err
	}
	made := Created{
		AccountID: gateway.AccountID(s.clock.NewID()),
		UserID:    gateway.UserID(s.clock.NewID()),
		APIKey:    secret.NewToken(keyPrefix),
	}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if err := s.createAccount(ctx, tx, made.AccountID, n.Name); err != nil {
			return err
		}
		if err := createOwner(ctx, tx, made, n, hash); err != nil {
			return err
		}
		return s.furnish(ctx, tx, made)
	})
	if err != nil {
		return Created{}, err
	}
	return made, nil
}

// createAccount takes the first slug that is free.
func (s *Service) createAccount(ctx context.Context, tx store.Tx, id gateway.AccountID, name string) error {
	for slug := range slugs(name) {
		err := tx.CreateAccount(ctx, gateway.Account{ID: id, Name: name, Slug: slug})
		if !errors.Is(err, store.ErrSlugTaken) {
			return err
		}
	}
	return store.ErrSlugTaken
}

func createOwner(ctx context.Context, tx store.Tx, made Created, n New, hash string) error {
	user := store.User{ID: made.UserID, Email: n.Email, Name: n.Person}
	if err := tx.CreateUser(ctx, user, hash); err != nil {
		return err
	}
	if err := tx.AddMember(ctx, made.AccountID, user.ID, store.RoleOwner); err != nil {
		return err
	}
	_, err := tx.ClaimInstance(ctx, user.ID)
	return err
}

// furnish gives a new account its first key and its built-in source.
func (s *Service) furnish(ctx context.Context, tx store.Tx, made Created) error {
	key := gateway.APIKey{
		ID:     gateway.KeyID(s.clock.NewID()),
		Name:   firstKeyName,
		Hint:   made.APIKey[len(made.APIKey)-keyHint:],
		Scopes: gateway.Scopes,
	}
	if err := tx.CreateAPIKey(ctx, made.AccountID, key, secret.HashToken(made.APIKey)); err != nil {
		return err
	}
	_, err := tx.CreateSource(ctx, made.AccountID, gateway.Source{
		ID:       gateway.SourceID(s.clock.NewID()),
		Name:     apiSourceName,
		Kind:     gateway.SourceKindAPI,
		Token:    secret.NewToken(""), // of no use: a built-in source has no ingest URL
		Settings: []byte("{}"),
	})
	if err != nil {
		return err
	}
	actor := gateway.Actor(made.UserID.String())
	return tx.Audit(ctx, made.AccountID, actor, "account.create", made.AccountID.String(), "", s.clock.NewID())
}

// checked returns the input in the form in which it is stored.
func (n New) checked() (New, error) {
	var nameErr, emailErr, personErr error
	n.Name, nameErr = checkName("name", n.Name)
	n.Email, emailErr = checkEmail(n.Email)
	if strings.TrimSpace(n.Person) != "" {
		n.Person, personErr = checkName("person", n.Person)
	} else {
		n.Person, _, _ = strings.Cut(n.Email, "@")
	}
	return n, errors.Join(nameErr, emailErr, personErr, checkPassword(n.Password))
}
