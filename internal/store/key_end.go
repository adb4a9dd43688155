package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// KeyRef names a key of an account.
type KeyRef struct {
	AccountID gateway.AccountID
	ID        gateway.KeyID
}

// endingSoon holds for keys that end within gateway.ExpiryNotice and of which
// that was not told. One that was made to live for less is none: who made it
// knows.
const endingSoon = `end_told_at IS NULL
		  AND ends_at - created_at > interval '7 days'
		  AND ends_at > now()
		  AND ends_at <= now() + interval '7 days'`

// EndingKeys lists the keys, of all accounts, of which it is to be told that they
// end, the first to end first.
func (s *Store) EndingKeys(ctx context.Context, limit int) ([]KeyRef, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT account_id, id
		FROM api_keys
		WHERE `+endingSoon+`
		ORDER BY ends_at
		LIMIT $1`, limit)
	if err != nil {
		return nil, wrap("list keys that end", err)
	}
	refs, err := pgx.CollectRows(rows, pgx.RowToStructByName[KeyRef])
	return refs, wrap("list keys that end", err)
}

// TakeEndingKey takes a key of which it is to be told that it ends, for a mail to
// be written in this transaction. Any other is gateway.ErrNotFound.
//
// The promise: it is told once. Who comes second waits for the row, and finds it
// told.
func (t Tx) TakeEndingKey(ctx context.Context, ref KeyRef) (gateway.APIKey, error) {
	rows, err := t.tx.Query(ctx, `
		UPDATE api_keys
		SET end_told_at = now()
		WHERE account_id = $1
		  AND id = $2
		  AND `+endingSoon+`
		RETURNING `+keyFields, ref.AccountID, ref.ID)
	if err != nil {
		return gateway.APIKey{}, wrap("take a key that ends", err)
	}
	key, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByNameLax[gateway.APIKey])
	return key, wrap("take a key that ends", err)
}
