package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// UsageDay is what was metered for an account on a day, in UTC.
type UsageDay struct {
	Day time.Time
	Usage
	// Deliveries is how many were confirmed.
	Deliveries int64
}

const usageDay = 24 * time.Hour

// UsageByDay tells what was metered on each day from since, before until, oldest
// first, those without anything included. Both are at the edge of a day.
//
// The promise: each confirmed delivery is counted once, in rollups or in usage,
// also while minutes go from the one to the other. One snapshot is read. What is
// older than the newest minute that was added to usage is counted by minutes,
// of which few are left there; what is younger, by the longest spans, none of
// which is gone.
func (s *Store) UsageByDay(ctx context.Context, account gateway.AccountID, since, until time.Time) ([]UsageDay, error) {
	w := Window{Since: since, Until: until, Step: usageDay}
	n, err := w.steps()
	if err != nil {
		return nil, fmt.Errorf("read usage: %w", err)
	}
	days := make([]UsageDay, n)
	for i := range days {
		days[i].Day = since.Add(time.Duration(i) * usageDay)
	}
	rows, err := s.pool.Query(ctx, `
		WITH moved AS (
			SELECT COALESCE(max(`+wholeSpans(`hour`)+` + interval '2 hours'), '-infinity') AS until
			FROM (
				SELECT hour
				FROM usage
				WHERE account_id = @account
				  AND source_id = @none
				  AND deliveries > 0
				ORDER BY hour DESC
				LIMIT 1
			) newest
		), metered AS (
			SELECT hour AS at, events, bytes, deliveries
			FROM usage
			WHERE account_id = @account
			  AND hour >= @since
			  AND hour < @until
			UNION ALL
			SELECT minute, 0, 0, succeeded
			FROM rollups
			WHERE account_id = @account
			  AND span = 120
			  AND minute >= GREATEST(@since, (SELECT until FROM moved))
			  AND minute < @until
			UNION ALL
			SELECT minute, 0, 0, succeeded
			FROM rollups
			WHERE account_id = @account
			  AND span = 1
			  AND minute >= @since
			  AND minute < LEAST(@until, (SELECT until FROM moved))
		)
		SELECT date_bin(interval '1 day', at, @since), sum(events)::bigint, sum(bytes)::bigint, sum(deliveries)::bigint
		FROM metered
		GROUP BY 1`,
		pgx.NamedArgs{"account": account, "since": since, "until": until, "none": gateway.SourceID{}})
	if err != nil {
		return nil, wrap("read usage", err)
	}
	var d UsageDay
	_, err = pgx.ForEachRow(rows, []any{&d.Day, &d.Events, &d.Bytes, &d.Deliveries}, func() error {
		days[d.Day.Sub(since)/usageDay] = d
		return nil
	})
	return days, wrap("read usage", err)
}
