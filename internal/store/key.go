package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// CreateAPIKey stores a key by the hash of its text.
func (t Tx) CreateAPIKey(ctx context.Context, account gateway.AccountID, key gateway.APIKey, hash [32]byte) error {
	_, err := t.tx.Exec(ctx, `
		INSERT INTO api_keys (id, account_id, name, hash, hint, scopes, events_per_second, ends_at)
		VALUES (@id, @account, @name, @hash, @hint, @scopes, @limit, @ends)`,
		pgx.NamedArgs{
			"id": key.ID, "account": account, "name": key.Name, "hash": hash[:], "hint": key.Hint,
			"scopes": texts(key.Scopes), "limit": key.EventsPerSecond, "ends": key.EndsAt,
		})
	return wrap("create API key", err)
}

// APIKeyByHash finds the key whose text has this hash. One that has ended is
// not found: ErrNotFound.
func (s *Store) APIKeyByHash(ctx context.Context, hash [32]byte) (gateway.APIKey, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id, account_id, name, hint, scopes, events_per_second, created_at, ends_at
		FROM api_keys
		WHERE hash = $1
		  AND (ends_at IS NULL OR ends_at > now())`, hash[:])
	if err != nil {
		return gateway.APIKey{}, wrap("find API key", err)
	}
	key, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[gateway.APIKey])
	return key, wrap("find API key", err)
}
