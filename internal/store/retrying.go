package store

import (
	"context"
	"fmt"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Retrying groups the deliveries whose last attempt failed and that are still to
// be tried, or are being tried: the largest group first. more tells that
// MaxFailuresGrouped were counted, the newest, and that there may be others.
func (s *Store) Retrying(ctx context.Context, account gateway.AccountID, f FailureFilter) (groups []FailureGroup, more bool, err error) {
	q := &query{}
	q.add(`SELECT d.endpoint_id, d.last_error_kind COLLATE "C" AS last_error_kind, d.last_status_code, date_bin(`, f.step())
	q.put(`::interval, d.came, 'epoch') AS at,
		       count(*), min(d.came), max(d.came), min(d.next_attempt_at),
		       ` + endsOfGroup + `,
		       NULL, NULL, NULL::timestamptz, NULL::timestamptz
		FROM (
			SELECT id, endpoint_id, last_error_kind, last_status_code, next_attempt_at, ` + timeOfID + ` AS came
			FROM deliveries
			WHERE status IN ('pending', 'sending')
			  AND last_outcome <> 'succeeded'
			  AND ` + notAhead)
	q.add(` AND account_id = `, account)
	q.addNotDeleted(account)
	q.addFailureFilter(f)
	q.put(fmt.Sprintf(`
			ORDER BY id DESC
			LIMIT %d
		) d
		GROUP BY 1, 2, 3, 4
		ORDER BY 1, 2, 3, 4`, MaxFailuresGrouped))
	return s.failureGroups(ctx, account, q)
}

// timeOfID is the time that an id carries.
const timeOfID = `to_timestamp(('x0000' || left(id::text, 8) || substr(id::text, 10, 4))::bit(64)::bigint / 1000.0)`
