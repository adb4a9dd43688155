package store

import (
	"context"
	"fmt"
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

// AddUsage counts decided events. It comes last in its transaction, sources in
// order, on rows of this node alone, so that no two transactions wait for
// one row longer than a commit. A roll-back takes it away.
func (t Tx) AddUsage(ctx context.Context, node string, counts map[SourceRef]Usage) error {
	if len(counts) == 0 {
		return nil
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
	_, err := t.tx.Exec(ctx, `
		INSERT INTO usage (account_id, hour, source_id, node, events, bytes)
		SELECT u.account_id, date_trunc('hour', now()), u.source_id, $5, u.events, u.bytes
		FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[]) AS u (account_id, source_id, events, bytes)
		ON CONFLICT (account_id, hour, source_id, node) DO UPDATE
		SET events = usage.events + EXCLUDED.events,
		    bytes = usage.bytes + EXCLUDED.bytes`, accounts, sources, events, bytes, node)
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

// Received is what was decided for an account in one step of a window.
type Received struct {
	At time.Time
	Usage
}

// Received tells what was decided in each step of a window, oldest first, those
// in which nothing was included. A step is one hour or more of them.
func (s *Store) Received(ctx context.Context, account gateway.AccountID, w Window) ([]Received, error) {
	n, err := w.steps()
	if err != nil {
		return nil, fmt.Errorf("read what was received: %w", err)
	}
	bins := make([]Received, n)
	for i := range bins {
		bins[i].At = w.Since.Add(time.Duration(i) * w.Step)
	}
	rows, err := s.pool.Query(ctx, `
		SELECT date_bin($4::interval, hour, $2) AS at, sum(events)::bigint, sum(bytes)::bigint
		FROM usage
		WHERE account_id = $1
		  AND hour >= $2
		  AND hour < $3
		GROUP BY at`, account, w.Since, w.Until, w.Step)
	if err != nil {
		return nil, wrap("read what was received", err)
	}
	var r Received
	_, err = pgx.ForEachRow(rows, []any{&r.At, &r.Events, &r.Bytes}, func() error {
		bins[r.At.Sub(w.Since)/w.Step] = r
		return nil
	})
	return bins, wrap("read what was received", err)
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
