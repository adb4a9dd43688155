package store

import (
	"context"
	"fmt"
	"time"
)

// The advisory locks of the node that prunes, each held for one statement: who
// does not get it finds nothing to do. Their values are arbitrary and must
// never change.
const (
	pruneKeysLock    = 0x6b657973       // "keys"
	pruneRollupsLock = 0x726f6c6c757073 // "rollups"
	pruneClaimsLock  = 0x636c61696d73   // "claims"
	pruneTypesLock   = 0x7479706573     // "types"
)

// KeyPartitions is how many parts event_keys has; the schema says the same.
const KeyPartitions = 8

// PruneKeys forgets event keys of one part (from 0 to KeyPartitions-1) that
// were seen from since to before, the oldest first and at most limit a call. It
// returns how many these were and when the newest was seen, where the next call
// goes on: what was deleted stands in the index until a vacuum, and is not
// walked over again. An event that comes again after that is new. While another
// node is at it, nothing is done.
func (s *Store) PruneKeys(ctx context.Context, part int, since, before time.Time, limit int) (pruned int64, until time.Time, err error) {
	// A part is read by itself, since rows are found again by where they lie.
	table := fmt.Sprintf("event_keys_%d", part)
	err = s.pool.QueryRow(ctx, `
		WITH pruned AS (
			DELETE FROM `+table+`
			WHERE (SELECT pg_try_advisory_xact_lock($4))
			  AND ctid = ANY (ARRAY(
				SELECT ctid
				FROM `+table+`
				WHERE seen_at >= $1
				  AND seen_at < $2
				ORDER BY seen_at
				LIMIT $3
			))
			  AND seen_at < $2
			RETURNING seen_at
		)
		SELECT count(*), coalesce(max(seen_at), $1)
		FROM pruned`, since, before, limit, int64(pruneKeysLock)).Scan(&pruned, &until)
	return pruned, until, wrap("prune event keys", err)
}

// PruneRollups deletes minutes that began before a time, and longer spans that
// ended before it, at most limit a call, and returns how many. The confirmed
// deliveries that the minutes count are added to usage, which is kept. While
// another node is at it, nothing is done.
//
// The promise: a longer span is there until every minute of it is counted in
// usage, so that the two together are the number at every moment (see
// UsageByDay). The longer ones of an endpoint go in a later call than its
// minutes.
func (s *Store) PruneRollups(ctx context.Context, before time.Time, limit int) (pruned int64, err error) {
	err = s.pool.QueryRow(ctx, `
		WITH pruned AS (
			DELETE FROM rollups
			WHERE (SELECT pg_try_advisory_xact_lock($3))
			  AND ctid = ANY (ARRAY(
				SELECT r.ctid
				FROM endpoints p
				CROSS JOIN (
					SELECT span, CASE WHEN span = 1 THEN $1 ELSE `+wholeSpans(`$1::timestamptz`)+` END
					FROM (VALUES (1), (15), (120)) AS v (span)
				) s (span, before)
				CROSS JOIN LATERAL (
					SELECT ctid
					FROM rollups
					WHERE endpoint_id = p.id
					  AND span = s.span
					  AND minute < s.before
					  AND (s.span = 1 OR NOT EXISTS (
						SELECT
						FROM rollups m
						WHERE m.endpoint_id = p.id
						  AND m.span = 1
						  AND m.minute < s.before))
					ORDER BY minute
					LIMIT $2
				) r
				LIMIT $2
			))
			  AND minute < $1
			RETURNING account_id, minute, span, node, succeeded
		), kept AS (
			INSERT INTO usage (account_id, hour, node, events, bytes, deliveries)
			SELECT account_id, date_trunc('hour', minute), node, 0, 0, sum(succeeded)
			FROM pruned
			WHERE span = 1
			  AND succeeded > 0
			GROUP BY 1, 2, 3
			ORDER BY 1, 2, 3
			ON CONFLICT (account_id, hour, source_id, node) DO UPDATE
			SET deliveries = usage.deliveries + EXCLUDED.deliveries
		)
		SELECT count(*)
		FROM pruned`, before, limit, int64(pruneRollupsLock)).Scan(&pruned)
	return pruned, wrap("prune rollups", err)
}

// wholeSpans is the end of the last longest span that ended by a time.
func wholeSpans(at string) string { return binOf(`interval '2 hours'`, at) }
