package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Usage is what was decided for an account.
type Usage struct {
	// Events is how many, Bytes the size of their bodies.
	Events, Bytes int64
}

// AddUsage counts decided events, by their sources and by their types. It comes
// last in its transaction, sources and then types in order, on rows of this node
// alone, so that no two transactions wait for one row longer than a commit. A
// roll-back takes it away.
func (t Tx) AddUsage(ctx context.Context, node string, counts map[SourceRef]Usage, types map[TypeRef]int64) error {
	if len(counts)+len(types) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	queueUsage(batch, node, counts)
	queueTypeCounts(batch, node, types)
	return wrap("add usage", t.tx.SendBatch(ctx, batch).Close())
}

func queueUsage(batch *pgx.Batch, node string, counts map[SourceRef]Usage) {
	if len(counts) == 0 {
		return
	}
	var accounts []gateway.AccountID
	var sources []gateway.SourceID
	var events, bytes []int64
	for _, ref := range slices.SortedFunc(maps.Keys(counts), SourceRef.compare) {
		accounts = append(accounts, ref.AccountID)
		sources = append(sources, ref.SourceID)
		events = append(events, counts[ref].Events)
		bytes = append(bytes, counts[ref].Bytes)
	}
	batch.Queue(`
		INSERT INTO usage (account_id, hour, source_id, node, events, bytes)
		SELECT u.account_id, date_trunc('hour', now()), u.source_id, $5, u.events, u.bytes
		FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[]) AS u (account_id, source_id, events, bytes)
		ON CONFLICT (account_id, hour, source_id, node) DO UPDATE
		SET events = usage.events + EXCLUDED.events,
		    bytes = usage.bytes + EXCLUDED.bytes`, accounts, sources, events, bytes, node)
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

// Received is what was decided for an account in one step of a window.
type Received struct {
	At time.Time
	Usage
}

// Received tells what was decided in each step of a window, oldest first, those
// in which nothing was included. A step is one hour or more of them.
func (s *Store) Received(ctx context.Context, account gateway.AccountID, w Window) ([]Received, error) {
	return s.received(ctx, w, `
		SELECT date_bin($3::interval, hour, $1) AS at, sum(events)::bigint, sum(bytes)::bigint
		FROM usage
		WHERE account_id = $4
		  AND hour >= $1
		  AND hour < $2
		GROUP BY at`, account)
}

// CountEvents counts an account's events since a time, up to most: for times
// that are shorter than usage is kept by.
func (s *Store) CountEvents(ctx context.Context, account gateway.AccountID, since time.Time, most int) (int, error) {
	var n int
	err := s.pool.QueryRow(ctx, `
		SELECT count(*)
		FROM (
			SELECT
			FROM events
			WHERE account_id = $1
			  AND id >= $2
			  AND `+notAhead+`
			LIMIT $3
		) e`, account, gateway.FirstIDAt[gateway.EventID](since), most).Scan(&n)
	return n, wrap("count events", err)
}
