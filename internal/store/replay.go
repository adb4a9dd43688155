package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rowlock/rowlock/internal/gateway"
)

// ReplayGuard asks whether something that may come once within a window, such
// as a body or a token, has come already.
type ReplayGuard struct {
	AccountID gateway.AccountID
	SourceID  gateway.SourceID
	// Hash stands for what came. It is no hash that an event's key can have.
	Hash [32]byte
	// EventID is the first event that comes of it now.
	EventID gateway.EventID
	Window  time.Duration
}

// ClaimReplays remembers what is new within its window, and tells for each
// whether it was. They must be sorted by their hashes; of several with one the
// first is new.
//
// The promise: of all that comes with one body or token within the window, one
// is taken in. The row's own lock puts those that come at once one behind the
// other, and each asks how old the one before it is.
func (t Tx) ClaimReplays(ctx context.Context, guards []ReplayGuard) (isNew []bool, err error) {
	batch := &pgx.Batch{}
	isNew = make([]bool, len(guards))
	for i := range guards {
		g := &guards[i]
		batch.Queue(`
			INSERT INTO event_keys AS k (account_id, source_id, key_hash, event_id, body_hash)
			VALUES ($1, $2, $3, $4, $3)
			ON CONFLICT (account_id, key_hash, source_id) DO UPDATE
			SET event_id = excluded.event_id, seen_at = excluded.seen_at
			WHERE k.seen_at < clock_timestamp() - $5::interval`,
			g.AccountID, g.SourceID, g.Hash[:], g.EventID, g.Window).Exec(func(tag pgconn.CommandTag) error {
			isNew[i] = tag.RowsAffected() == 1
			return nil
		})
	}
	if len(guards) == 0 {
		return isNew, nil
	}
	return isNew, wrap("claim what may come once", t.tx.SendBatch(ctx, batch).Close())
}

// ReleaseKeys gives back keys that were claimed for events that are not to be.
// It is for the transaction that claimed them: a key whose event was committed
// stays.
func (t Tx) ReleaseKeys(ctx context.Context, keys []EventKey) error {
	if len(keys) == 0 {
		return nil
	}
	accounts, sources, hashes, events, _ := keyColumns(keys)
	_, err := t.tx.Exec(ctx, `
		DELETE FROM event_keys k
		USING unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::uuid[]) AS u (account_id, source_id, key_hash, event_id)
		WHERE k.account_id = u.account_id
		  AND k.key_hash = u.key_hash
		  AND k.source_id = u.source_id
		  AND k.event_id = u.event_id`, accounts, sources, hashes, events)
	return wrap("release event keys", err)
}
