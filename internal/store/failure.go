package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// FailureGroup is an endpoint's failed deliveries of one cause.
type FailureGroup struct {
	EndpointID gateway.EndpointID
	Cause      gateway.Cause
	Count      int
	// First and Last are when the first and the last of them were given up.
	First, Last time.Time
	// LastDelivery is that of the newest event.
	LastDelivery gateway.DeliveryID
	Endpoint     EndpointLabel
}

// FailureFilter narrows what is grouped; the zero value narrows nothing.
type FailureFilter struct {
	Endpoint *gateway.EndpointID
	// Since asks for those of events from this time on.
	Since time.Time
}

// MaxFailuresGrouped is how many failed deliveries are grouped, the newest:
// more are not looked at, so that the page is there at once.
const MaxFailuresGrouped = 10_000

// Failures groups an account's failed deliveries by endpoint and cause, the
// largest group first. more tells that MaxFailuresGrouped were counted, the
// newest, and that there may be others. Those of deleted endpoints are left out:
// nobody can do anything about them.
func (s *Store) Failures(ctx context.Context, account gateway.AccountID, f FailureFilter) (groups []FailureGroup, more bool, err error) {
	q := &query{}
	q.put(`SELECT endpoint_id, last_error_kind, last_status_code, count(*), min(closed_at), max(closed_at),
		       max(id::text COLLATE "C")::uuid
		FROM (`)
	q.addFailed(`id, endpoint_id, last_error_kind, last_status_code, closed_at`, account)
	if f.Endpoint != nil {
		q.add(` AND endpoint_id = `, *f.Endpoint)
	}
	if !f.Since.IsZero() {
		q.add(` AND id >= `, gateway.FirstIDAt[gateway.DeliveryID](f.Since))
	}
	q.put(fmt.Sprintf(` ORDER BY id DESC LIMIT %d) d`, MaxFailuresGrouped))
	q.put(`
		GROUP BY 1, 2, 3
		ORDER BY 4 DESC, 1, 2, 3`)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, false, wrap("group failures", err)
	}
	groups, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (g FailureGroup, err error) {
		return g, row.Scan(&g.EndpointID, &g.Cause.ErrorKind, &g.Cause.StatusCode, &g.Count, &g.First, &g.Last, &g.LastDelivery)
	})
	if err != nil {
		return nil, false, wrap("group failures", err)
	}
	more, err = s.labelFailures(ctx, account, groups)
	return groups, more, err
}

// labelFailures adds what the endpoints are called, and tells whether all that
// may be counted were.
func (s *Store) labelFailures(ctx context.Context, account gateway.AccountID, groups []FailureGroup) (full bool, err error) {
	ids := make([]gateway.EndpointID, len(groups))
	counted := 0
	for i := range groups {
		ids[i] = groups[i].EndpointID
		counted += groups[i].Count
	}
	labels, err := s.EndpointLabels(ctx, account, ids)
	for i := range groups {
		groups[i].Endpoint = labels[groups[i].EndpointID]
	}
	return counted == MaxFailuresGrouped, err
}

// addFailed asks for columns of failed deliveries of endpoints that are there.
// The literals let a generic plan use the index, which has all that is asked
// for; the endpoints are few, and not joined, so that the index's order stays.
func (q *query) addFailed(columns string, account gateway.AccountID) {
	q.add(`SELECT `+columns+`
		FROM deliveries
		WHERE status = 'failed'
		  AND status IN ('failed', 'suppressed', 'cancelled', 'expired')
		  AND `+notAhead+`
		  AND account_id = `, account)
	q.add(` AND endpoint_id <> ALL (ARRAY(
			SELECT p.id
			FROM endpoints p
			WHERE p.deleted_at IS NOT NULL
			  AND p.account_id = `, account)
	q.put(`))`)
}

// CountFailed counts an account's failed deliveries of endpoints that are
// there, up to most.
func (s *Store) CountFailed(ctx context.Context, account gateway.AccountID, most int) (int, error) {
	q := &query{}
	q.put(`SELECT count(*) FROM (`)
	q.addFailed(``, account)
	q.add(` LIMIT `, most)
	q.put(`) d`)
	var n int
	err := s.pool.QueryRow(ctx, q.sql(), q.args...).Scan(&n)
	return n, wrap("count failures", err)
}
