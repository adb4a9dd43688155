package store

import (
	"context"
	"errors"
	"time"

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
		SELECT id, name, slug, created_at, delete_at
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

// RenameAccount gives a tenant another name and tells whether that changed
// anything. Its slug, which is in addresses, stays.
func (t Tx) RenameAccount(ctx context.Context, id gateway.AccountID, name string) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE accounts
		SET name = $2
		WHERE id = $1
		  AND name <> $2`, id, name)
	return tag.RowsAffected() == 1, wrap("rename account", err)
}

// InstanceAccount is a tenant with numbers, for the instance's owner.
type InstanceAccount struct {
	gateway.Account
	Members   int
	Endpoints int
	// Events are those of the month (UTC) that were decided.
	Events int64
	// GoneAt is when it was taken from its members; its rows go now.
	GoneAt *time.Time
}

// InstanceAccounts lists all tenants, newest first; those of which nothing is
// left are left out.
func (s *Store) InstanceAccounts(ctx context.Context, page Page[gateway.AccountID]) ([]InstanceAccount, error) {
	low, high := page.bounds()
	rows, err := s.pool.Query(ctx, `
		SELECT a.id, a.name, a.slug, a.created_at, a.delete_at, a.gone_at,
		       (SELECT count(*) FROM members WHERE account_id = a.id) AS members,
		       (SELECT count(*) FROM endpoints WHERE account_id = a.id AND deleted_at IS NULL) AS endpoints,
		       (SELECT coalesce(sum(events), 0)::bigint FROM usage WHERE account_id = a.id AND hour >= date_trunc('month', now())) AS events
		FROM accounts a
		WHERE a.id >= $1
		  AND a.id < $2
		  AND a.emptied_at IS NULL
		ORDER BY a.id DESC
		LIMIT $3`, low, high, page.Limit)
	if err != nil {
		return nil, wrap("list the instance's accounts", err)
	}
	accounts, err := pgx.CollectRows(rows, pgx.RowToStructByName[InstanceAccount])
	return accounts, wrap("list the instance's accounts", err)
}

// RequireTwoStep says whether an account is for members who have turned two-step
// log-in on alone, and tells whether that changed anything.
//
// The promise: an owner says so, who has turned it on: nobody shuts themselves
// out.
func (t Tx) RequireTwoStep(ctx context.Context, id gateway.AccountID, by gateway.UserID, required bool) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE accounts
		SET two_step_required = @required
		WHERE id = @account
		  AND two_step_required <> @required
		  AND EXISTS (
			SELECT
			FROM members m
			JOIN users u ON u.id = m.user_id
			WHERE m.account_id = @account
			  AND m.user_id = @by
			  AND m.role = ANY (@owners)
			  AND (u.two_step_at IS NOT NULL OR NOT @required)
		  )`,
		pgx.NamedArgs{"account": id, "by": by, "required": required, "owners": texts(gateway.PermOwn.Holders())})
	return tag.RowsAffected() == 1, wrap("require two-step log-in", err)
}
