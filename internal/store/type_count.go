package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

func (r TypeRef) compare(other TypeRef) int {
	return cmp.Or(r.AccountID.Compare(other.AccountID), cmp.Compare(r.Type, other.Type))
}

// TypeCount is how many events of a type were decided in some time.
type TypeCount struct {
	Type   string
	Events int64
}

// queueTypeCounts counts decided events by their types, types in order, on rows
// of this node alone: see AddUsage.
func queueTypeCounts(batch *pgx.Batch, node string, counts map[TypeRef]int64) {
	if len(counts) == 0 {
		return
	}
	accounts := make([]gateway.AccountID, 0, len(counts))
	types := make([]string, 0, len(counts))
	events := make([]int64, 0, len(counts))
	for _, ref := range slices.SortedFunc(maps.Keys(counts), TypeRef.compare) {
		accounts, types, events = append(accounts, ref.AccountID), append(types, ref.Type), append(events, counts[ref])
	}
	batch.Queue(`
		INSERT INTO type_counts (account_id, hour, type, node, events)
		SELECT u.account_id, date_trunc('hour', now()), u.type, $4, u.events
		FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS u (account_id, type, events)
		ON CONFLICT (account_id, hour, type, node) DO UPDATE
		SET events = type_counts.events + EXCLUDED.events`, accounts, types, events, node)
}

// maxTypeRows bounds what is added up for one page: an account whose every event
// has a type of its own is told of its newest hours alone.
const maxTypeRows = 50_000

// BusiestTypes lists the types of which most events were decided in a window of
// whole hours, the busiest first.
func (s *Store) BusiestTypes(ctx context.Context, account gateway.AccountID, w Window, limit int) ([]TypeCount, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT type, sum(events)::bigint AS events
		FROM (
			SELECT type, events
			FROM type_counts
			WHERE account_id = $1
			  AND hour >= $2
			  AND hour < $3
			ORDER BY hour DESC
			LIMIT $4
		) newest
		GROUP BY type
		ORDER BY events DESC, type
		LIMIT $5`, account, w.Since, w.Until, maxTypeRows, limit)
	if err != nil {
		return nil, wrap("list the busiest types", err)
	}
	counts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[TypeCount])
	return counts, wrap("list the busiest types", err)
}

// ReceivedOfType tells how many events of a type were decided in each step of a
// window, oldest first, those in which none were included. A step is one hour or
// more of them.
func (s *Store) ReceivedOfType(ctx context.Context, account gateway.AccountID, eventType string, w Window) ([]Received, error) {
	return s.received(ctx, w, `
		SELECT date_bin($3::interval, hour, $1) AS at, sum(events)::bigint, 0::bigint
		FROM type_counts
		WHERE account_id = $4
		  AND hour >= $1
		  AND hour < $2
		  AND type = $5
		GROUP BY at`, account, eventType)
}

// ReceivedFrom tells the same of the events of one source.
func (s *Store) ReceivedFrom(ctx context.Context, account gateway.AccountID, source gateway.SourceID, w Window) ([]Received, error) {
	return s.received(ctx, w, `
		SELECT date_bin($3::interval, hour, $1) AS at, sum(events)::bigint, sum(bytes)::bigint
		FROM usage
		WHERE account_id = $4
		  AND hour >= $1
		  AND hour < $2
		  AND source_id = $5
		GROUP BY at`, account, source)
}

// received reads a window in steps; the statement's first three parameters are
// its beginning, its end and the step.
func (s *Store) received(ctx context.Context, w Window, sql string, args ...any) ([]Received, error) {
	n, err := w.steps()
	if err != nil {
		return nil, fmt.Errorf("read what was received: %w", err)
	}
	bins := make([]Received, n)
	for i := range bins {
		bins[i].At = w.Since.Add(time.Duration(i) * w.Step)
	}
	rows, err := s.pool.Query(ctx, sql, append([]any{w.Since, w.Until, w.Step}, args...)...)
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

// PruneTypeCounts deletes hours that began before a time, at most limit a call,
// and returns how many. While another node is at it, nothing is done.
func (s *Store) PruneTypeCounts(ctx context.Context, before time.Time, limit int) (int64, error) {
	tag, err := s.pool.Exec(ctx, `
		DELETE FROM type_counts
		WHERE (SELECT pg_try_advisory_xact_lock($3))
		  AND ctid = ANY (ARRAY(
			SELECT c.ctid
			FROM accounts a
			CROSS JOIN LATERAL (
				SELECT ctid
				FROM type_counts
				WHERE account_id = a.id
				  AND hour < $1
				ORDER BY hour
				LIMIT $2
			) c
			LIMIT $2
		))
		  AND hour < $1`, before, limit, int64(pruneTypesLock))
	return tag.RowsAffected(), wrap("prune counts of types", err)
}
