package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// CountTypes counts an account's events of each of some types since a time, up
// to most of each: the index alone is asked, and not for long. Types without
// one are not in the map.
func (s *Store) CountTypes(ctx context.Context, account gateway.AccountID, types []string, since time.Time, most int) (map[string]int, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT t.name, e.n
		FROM unnest($2::text[]) AS t (name)
		CROSS JOIN LATERAL (
			SELECT count(*) AS n
			FROM (
				SELECT
				FROM events
				WHERE account_id = $1
				  AND type = t.name
				  AND id >= $3
				  AND `+notAhead+`
				LIMIT $4
			) found
		) e
		WHERE e.n > 0`, account, types, gateway.FirstIDAt[gateway.EventID](since), most)
	if err != nil {
		return nil, wrap("count events of types", err)
	}
	counts := map[string]int{}
	var name string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		counts[name] = n
		return nil
	})
	return counts, wrap("count events of types", err)
}

// UndeclaredTypes lists types that the account's events have since a day, and
// that it has not declared, by name and at most limit. Rowlock's own are left
// out. It looks at no more than most types: each costs one look into the index
// of each day, however many events there are.
func (s *Store) UndeclaredTypes(ctx context.Context, account gateway.AccountID, day time.Time, most, limit int) ([]string, error) {
	rows, err := s.pool.Query(ctx, `
		WITH RECURSIVE seen AS (
			SELECT 1 AS n, ''::text COLLATE "default" AS type
			UNION ALL
			SELECT seen.n + 1, (
				SELECT e.type
				FROM events e
				WHERE e.account_id = $1
				  AND e.type > seen.type
				  AND e.id >= $2
				  AND `+notAhead+`
				ORDER BY e.type
				LIMIT 1)
			FROM seen
			WHERE seen.type IS NOT NULL
			  AND seen.n <= $3
		)
		SELECT type
		FROM seen
		WHERE type > ''
		  AND NOT starts_with(type, $5)
		  AND NOT EXISTS (
			SELECT
			FROM event_types t
			WHERE t.account_id = $1
			  AND t.name = seen.type)
		ORDER BY n
		LIMIT $4`, account, gateway.FirstIDAt[gateway.EventID](day.UTC().Truncate(usageDay)), most, limit, gateway.OwnTypePrefix)
	if err != nil {
		return nil, wrap("look for types that are not declared", err)
	}
	types, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return types, wrap("look for types that are not declared", err)
}
