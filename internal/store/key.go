package store

import (
	"context"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// CreateAPIKey stores a key by the hash of its text.
func (t Tx) CreateAPIKey(ctx context.Context, account gateway.AccountID, key gateway.APIKey, hash [32]byte) error {
	_, err := t.tx.Exec(ctx, `
		INSERT INTO api_keys (id, account_id, name, hash, hint, scopes, events_per_second, ends_at, networks)
		VALUES (@id, @account, @name, @hash, @hint, @scopes, @limit, @ends, @networks)`,
		pgx.NamedArgs{
			"id": key.ID, "account": account, "name": key.Name, "hash": hash[:], "hint": key.Hint,
			"scopes": texts(key.Scopes), "limit": key.EventsPerSecond, "ends": key.EndsAt, "networks": key.Networks,
		})
	return wrap("create API key", err)
}

// keyFields are what APIKey is read from.
const keyFields = `id, account_id, name, hint, scopes, events_per_second, created_at, ends_at, networks, last_used_at, last_used_from`

// APIKeyByHash finds the key whose text has this hash, and tells whether it has
// ended. One that never was is ErrNotFound.
func (s *Store) APIKeyByHash(ctx context.Context, hash [32]byte) (key gateway.APIKey, ended bool, err error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+keyFields+`,
		       EXISTS (SELECT FROM accounts WHERE id = account_id AND delete_at IS NOT NULL) AS closing,
		       ends_at IS NOT NULL AND ends_at <= now() AS ended
		FROM api_keys
		WHERE hash = $1`, hash[:])
	if err != nil {
		return key, false, wrap("find API key", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[struct {
		gateway.APIKey

		Ended bool
	}])
	return found.APIKey, found.Ended, wrap("find API key", err)
}

// APIKey reads a key, whether it has ended or not.
func (s *Store) APIKey(ctx context.Context, account gateway.AccountID, id gateway.KeyID) (gateway.APIKey, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+keyFields+`
		FROM api_keys
		WHERE id = $1
		  AND account_id = $2`, id, account)
	if err != nil {
		return gateway.APIKey{}, wrap("read API key", err)
	}
	key, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByNameLax[gateway.APIKey])
	return key, wrap("read API key", err)
}

// APIKeys lists an account's keys, those that have ended included, newest
// first.
func (s *Store) APIKeys(ctx context.Context, account gateway.AccountID, page Page[gateway.KeyID]) ([]gateway.APIKey, error) {
	low, high := page.bounds()
	rows, err := s.pool.Query(ctx, `
		SELECT `+keyFields+`
		FROM api_keys
		WHERE account_id = @account
		  AND id >= @low
		  AND id < @high
		ORDER BY id DESC
		LIMIT @limit`,
		pgx.NamedArgs{"account": account, "low": low, "high": high, "limit": page.Limit})
	if err != nil {
		return nil, wrap("list API keys", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[gateway.APIKey])
	return keys, wrap("list API keys", err)
}

// EndAPIKey makes a key end now and tells whether that changed anything: one
// that has ended is left as it is. One that is not there is
// gateway.ErrNotFound.
//
// The promise: of two presses of one button, one has an effect.
func (t Tx) EndAPIKey(ctx context.Context, account gateway.AccountID, id gateway.KeyID) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE api_keys
		SET ends_at = clock_timestamp()
		WHERE id = $1
		  AND account_id = $2
		  AND (ends_at IS NULL OR ends_at > clock_timestamp())`, id, account)
	if err != nil || tag.RowsAffected() == 1 {
		return err == nil, wrap("end API key", err)
	}
	var there bool
	err = t.tx.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT
			FROM api_keys
			WHERE id = $1
			  AND account_id = $2
		)`, id, account).Scan(&there)
	if err == nil && !there {
		err = gateway.ErrNotFound
	}
	return false, wrap("end API key", err)
}

// UseAPIKey notes that a key is used and from which address, unless that was
// noted within the time given. An address that is not known is nil.
//
// The promise: of many requests at once one writes.
func (s *Store) UseAPIKey(ctx context.Context, account gateway.AccountID, id gateway.KeyID, from *netip.Addr, every time.Duration) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE api_keys
		SET last_used_at = now(), last_used_from = $3
		WHERE id = $1
		  AND account_id = $2
		  AND (last_used_at IS NULL OR last_used_at < now() - $4::interval)`, id, account, from, every)
	return wrap("note that an API key is used", err)
}
