package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// ErrSlugTaken is returned by CreateAccount when another account has the slug.
// The transaction goes on: nothing was written, and another slug can be tried.
var ErrSlugTaken = errors.New("slug is taken")

// CreateAccount makes a tenant.
//
// The promise: a slug names one account. The unique index decides, and a
// conflict is no error of the database, so that the transaction survives it.
func (t Tx) CreateAccount(ctx context.Context, a gateway.Account) error {
	tag, err := t.tx.Exec(ctx, `
		INSERT INTO accounts (id, name, slug)
		VALUES ($1, $2, $3)
		ON CONFLICT (slug) DO NOTHING`, a.ID, a.Name, a.Slug)
	switch {
	case err != nil:
		return wrap("create account", err)
	case tag.RowsAffected() == 0:
		return wrap("create account", ErrSlugTaken)
	}
	return nil
}

// Account reads a tenant.
func (s *Store) Account(ctx context.Context, id gateway.AccountID) (gateway.Account, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id, name, slug, created_at
		FROM accounts
		WHERE id = $1`, id)
	if err != nil {
		return gateway.Account{}, wrap("read account", err)
	}
	account, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[gateway.Account])
	return account, wrap("read account", err)
}

// lockAccount makes the account's other changes that lock it wait until this
// transaction ends. Rows that only refer to the account can still be written.
func (t Tx) lockAccount(ctx context.Context, id gateway.AccountID) error {
	tag, err := t.tx.Exec(ctx, `
		SELECT
		FROM accounts
		WHERE id = $1
		FOR NO KEY UPDATE`, id)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	return wrap("lock account", err)
}
