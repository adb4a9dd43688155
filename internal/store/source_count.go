package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// SourceCount is what a source brought in some hours.
type SourceCount struct {
	// Received is how many events were decided, Hours how many in each hour,
	// oldest first.
	Received int64
	Hours    []int64
	// Requests is how many of the requests that are kept became no event, by
	// their cause. A source keeps its newest gateway.MaxRequestsKept.
	Requests map[string]int
	// LastEventAt is when its newest event came in; nil when it has none.
	LastEventAt *time.Time
}

// SourceCounts tells what a page of sources brought in the last hours, the
// present one included. What is not the account's is not in the map.
func (s *Store) SourceCounts(ctx context.Context, account gateway.AccountID, sources []gateway.SourceID, hours int, now time.Time) (map[gateway.SourceID]SourceCount, error) {
	w := LastSteps(now, hours, time.Hour)
	counts, err := s.lastEvents(ctx, account, sources)
	if err != nil {
		return nil, err
	}
	for id, c := range counts {
		c.Hours, c.Requests = make([]int64, hours), map[string]int{}
		counts[id] = c
	}
	if err := s.countReceived(ctx, account, counts, w); err != nil {
		return nil, err
	}
	return counts, s.countRequests(ctx, account, counts, w)
}

// lastEvents reads when each source's newest event came in.
func (s *Store) lastEvents(ctx context.Context, account gateway.AccountID, sources []gateway.SourceID) (map[gateway.SourceID]SourceCount, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT s.id, e.id
		FROM sources s
		LEFT JOIN LATERAL (
			SELECT id
			FROM events
			WHERE source_id = s.id
			  AND `+notAhead+`
			ORDER BY id DESC
			LIMIT 1
		) e
		  ON true
		WHERE s.id = ANY ($1)
		  AND s.account_id = $2`, sources, account)
	if err != nil {
		return nil, wrap("read the last events", err)
	}
	counts := make(map[gateway.SourceID]SourceCount, len(sources))
	var id gateway.SourceID
	var last *gateway.EventID
	_, err = pgx.ForEachRow(rows, []any{&id, &last}, func() error {
		var c SourceCount
		if last != nil {
			at := last.Time()
			c.LastEventAt = &at
		}
		counts[id], last = c, nil
		return nil
	})
	return counts, wrap("read the last events", err)
}

// countReceived adds how many events came from each source in each hour.
func (s *Store) countReceived(ctx context.Context, account gateway.AccountID, counts map[gateway.SourceID]SourceCount, w Window) error {
	rows, err := s.pool.Query(ctx, `
		SELECT source_id, hour, sum(events)::bigint
		FROM usage
		WHERE account_id = $1
		  AND hour >= $2
		  AND hour < $3
		GROUP BY source_id, hour`, account, w.Since, w.Until)
	if err != nil {
		return wrap("count events of sources", err)
	}
	var id gateway.SourceID
	var hour time.Time
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&id, &hour, &n}, func() error {
		if c, ok := counts[id]; ok {
			c.Received += n
			c.Hours[hour.Sub(w.Since)/w.Step] += n
			counts[id] = c
		}
		return nil
	})
	return wrap("count events of sources", err)
}

// countRequests adds how many requests of each source became no event, of the
// newest, which the index alone counts.
func (s *Store) countRequests(ctx context.Context, account gateway.AccountID, counts map[gateway.SourceID]SourceCount, w Window) error {
	rows, err := s.pool.Query(ctx, `
		SELECT s.id, r.cause, count(*)
		FROM sources s
		CROSS JOIN LATERAL (
			SELECT cause
			FROM requests
			WHERE source_id = s.id
			  AND id >= $3
			  AND `+notAhead+`
			ORDER BY id DESC
			LIMIT $4
		) r
		WHERE s.id = ANY ($1)
		  AND s.account_id = $2
		GROUP BY s.id, r.cause`,
		slices.Collect(maps.Keys(counts)), account, gateway.FirstIDAt[gateway.RequestID](w.Since), gateway.MaxRequestsKept)
	if err != nil {
		return wrap("count requests of sources", err)
	}
	var id gateway.SourceID
	var cause string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&id, &cause, &n}, func() error {
		counts[id].Requests[cause] = n
		return nil
	})
	return wrap("count requests of sources", err)
}
