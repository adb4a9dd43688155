package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// MaxCopiesCounted is up to where the copies of an event are counted.
const MaxCopiesCounted = 100

// Copies counts how often each of a page of events came again, up to
// MaxCopiesCounted. One that did not is not in the map.
func (s *Store) Copies(ctx context.Context, account gateway.AccountID, events []gateway.EventID) (map[gateway.EventID]int, error) {
	if len(events) == 0 {
		return nil, nil
	}
	firsts := make([]gateway.RequestID, len(events))
	for i, id := range events {
		firsts[i] = firstRepeat(id)
	}
	low, _ := idRange(firsts)
	rows, err := s.pool.Query(ctx, `
		SELECT u.id, c.n
		FROM unnest($2::uuid[], $3::uuid[]) AS u (id, first)
		CROSS JOIN LATERAL (
			SELECT count(*) AS n
			FROM (
				SELECT
				FROM requests
				WHERE event_id = u.id
				  AND account_id = $1
				  AND cause = 'duplicate'
				  AND id >= u.first
				  AND id >= $4
				  AND `+notAhead+`
				LIMIT $5
			) found
		) c
		WHERE c.n > 0`, account, events, firsts, low, MaxCopiesCounted)
	if err != nil {
		return nil, wrap("count copies", err)
	}
	copies := map[gateway.EventID]int{}
	var id gateway.EventID
	var n int
	_, err = pgx.ForEachRow(rows, []any{&id, &n}, func() error {
		copies[id] = n
		return nil
	})
	return copies, wrap("count copies", err)
}
