package store

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Usage is what was decided for an account.
type Usage struct {
	// Events is how many, Bytes the size of their bodies.
	Events, Bytes int64
}

// AddUsage counts decided events. It comes last in its transaction, accounts
// in order, on rows of this node alone, so that no two transactions wait for
// one row longer than a commit. A roll-back takes it away.
func (t Tx) AddUsage(ctx context.Context, node string, counts map[gateway.AccountID]Usage) error {
	if len(counts) == 0 {
		return nil
	}
	accounts := sortedIDs(counts)
	var events, bytes []int64
	for _, a := range accounts {
		events = append(events, counts[a].Events)
		bytes = append(bytes, counts[a].Bytes)
	}
	_, err := t.tx.Exec(ctx, `
		INSERT INTO usage (account_id, hour, node, events, bytes)
		SELECT u.account_id, date_trunc('hour', now()), $4, u.events, u.bytes
		FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS u (account_id, events, bytes)
		ON CONFLICT (account_id, hour, node) DO UPDATE
		SET events = usage.events + EXCLUDED.events,
		    bytes = usage.bytes + EXCLUDED.bytes`, accounts, events, bytes, node)
	return wrap("add usage", err)
}

// StoredBytes adds up the bodies that an account has sent in since a time.
func (s *Store) StoredBytes(ctx context.Context, account gateway.AccountID, since time.Time) (int64, error) {
	var bytes int64
	err := s.pool.QueryRow(ctx, `
		SELECT coalesce(sum(bytes), 0)::bigint
		FROM usage
		WHERE account_id = $1
		  AND hour >= $2`, account, since).Scan(&bytes)
	return bytes, wrap("add up stored bytes", err)
}
