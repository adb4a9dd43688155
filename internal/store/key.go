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

// FoundKey is a key that was found by the hash of its text.
type FoundKey struct {
	gateway.APIKey

	// Hash is what it was found by.
	Hash [32]byte
	// Ended tells that it has ended.
	Ended bool
}

// APIKeysByHash finds the keys whose texts have these hashes. Those that never were
// are left out.
func (s *Store) APIKeysByHash(ctx context.Context, hashes [][32]byte) ([]FoundKey, error) {
	raw := make([][]byte, len(hashes))
	for i := range hashes {
		raw[i] = hashes[i][:]
	}
	rows, err := s.pool.Query(ctx, `
		SELECT `+keyFields+`,
		       EXISTS (SELECT FROM accounts WHERE id = account_id AND delete_at IS NOT NULL) AS closing,
		       ends_at IS NOT NULL AND ends_at <= now() AS ended,
		       hash
		FROM api_keys
		WHERE hash = ANY ($1)`, raw)
	if err != nil {
		return nil, wrap("find API keys", err)
	}
	found, err := pgx.CollectRows(rows, scanFoundKey)
	return found, wrap("find API keys", err)
}

// scanFoundKey reads by position: it is done for each request.
func scanFoundKey(row pgx.CollectableRow) (f FoundKey, err error) {
	k := &f.APIKey
	var hash []byte
	err = row.Scan(&k.ID, &k.AccountID, &k.Name, &k.Hint, &k.Scopes, &k.EventsPerSecond, &k.CreatedAt, &k.EndsAt, &k.Networks, &k.LastUsedAt, &k.LastUsedFrom,
		&k.Closing, &f.Ended, &hash)
	copy(f.Hash[:], hash)
	return f, err
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
