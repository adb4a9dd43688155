package account

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// apiSourceName is what people see in the list of sources.
const apiSourceName = "API"

// founding is a person and the account that they begin with.
type founding struct {
	account      gateway.AccountID
	name         string // the account's
	user         store.User
	passwordHash string
}

func (s *Service) founding(account, person, email, passwordHash string) founding {
	return founding{
		account: gateway.AccountID(s.clock.NewID()), name: account,
		user:         store.User{ID: gateway.UserID(s.clock.NewID()), Email: email, Name: person},
		passwordHash: passwordHash,
	}
}

// found makes a person, and an account that they own.
func (s *Service) found(ctx context.Context, tx store.Tx, f founding) error {
	if err := tx.CreateUser(ctx, f.user, f.passwordHash); err != nil {
		return err
	}
	return s.foundAccount(ctx, tx, f)
}

// foundAccount makes an account that a person owns, with its built-in source.
func (s *Service) foundAccount(ctx context.Context, tx store.Tx, f founding) error {
	if err := s.createAccount(ctx, tx, f.account, f.name); err != nil {
		return err
	}
	if err := tx.AddMember(ctx, f.account, f.user.ID, gateway.RoleOwner); err != nil {
		return err
	}
	_, err := tx.CreateSource(ctx, f.account, gateway.Source{
		ID:       gateway.SourceID(s.clock.NewID()),
		Name:     apiSourceName,
		Kind:     gateway.SourceKindAPI,
		Token:    secret.NewToken(""), // of no use: a built-in source has no ingest URL
		Settings: []byte("{}"),
	})
	if err != nil {
		return err
	}
	return s.audit(ctx, tx, f.account, actorOf(f.user.ID), "account.create", f.account.String(), "")
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

func (s *Service) audit(ctx context.Context, tx store.Tx, account gateway.AccountID, actor gateway.Actor, action, object, detail string) error {
	return tx.Audit(ctx, account, actor, action, object, detail, s.clock.NewID())
}

// line is an entry of the audit log whose object is told by what writes it.
func (s *Service) line(detail string) store.AuditLine {
	return store.AuditLine{ID: gateway.AuditID(s.clock.NewID()), Detail: detail}
}

// auditPerson notes what somebody did to their own log-in.
func (s *Service) auditPerson(ctx context.Context, tx store.Tx, user gateway.UserID, action, detail string) error {
	return tx.AuditPerson(ctx, user, actorOf(user), action, s.line(detail))
}

// auditInstance notes what its owner did to the instance.
func (s *Service) auditInstance(ctx context.Context, tx store.Tx, by gateway.Actor, action, object, detail string) error {
	line := s.line(detail)
	line.Object = object
	return tx.AuditInstance(ctx, by, action, line)
}

// actorOf is a person in the audit log.
func actorOf(user gateway.UserID) gateway.Actor { return gateway.Actor(user.String()) }
