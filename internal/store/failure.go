package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// FailureGroup is an endpoint's failed deliveries of one cause, or those that
// failed for it and are still to be tried.
type FailureGroup struct {
	EndpointID gateway.EndpointID
	Cause      gateway.Cause
	Count      int
	// First and Last are when the first and the last of them were given up. Of
	// those that are still to be tried, they are when their events came in.
	First, Last time.Time
	// Oldest is the delivery of the oldest event, Newest are those of the newest
	// ones, at most NewestOfGroup, the newest first.
	Oldest gateway.DeliveryID
	Newest []gateway.DeliveryID
	// NextAttemptAt is when the first of those that are still to be tried is
	// tried again; nil for those that were given up.
	NextAttemptAt *time.Time
	// Trend is how many there were in each step of time, oldest first; steps
	// with none are left out.
	Trend []FailureBin
	// Dismissal is the last one of the group; nil when there was none.
	Dismissal *Dismissal
	Endpoint  EndpointLabel
}

// FailureBin is how many failed in one step of time.
type FailureBin struct {
	At    time.Time
	Count int
}

// Dismissed tells that nothing was given up since somebody dismissed the group.
func (g FailureGroup) Dismissed() bool {
	return g.Dismissal != nil && !g.Last.After(g.Dismissal.Until)
}

// FailureFilter narrows what is grouped; the zero value narrows nothing.
type FailureFilter struct {
	Endpoint *gateway.EndpointID
	Cause    *gateway.Cause
	// Since asks for those of events from this time on.
	Since time.Time
	// Step is how long a step of the trend is; a day where it is zero.
	Step time.Duration
}

// step is the length of a step of the trend.
func (f FailureFilter) step() time.Duration {
	if f.Step <= 0 {
		return 24 * time.Hour
	}
	return f.Step
}

const (
	// MaxFailuresGrouped is how many failed deliveries are grouped, the newest:
	// more are not looked at, so that the page is there at once.
	MaxFailuresGrouped = 2_000
	// NewestOfGroup is how many deliveries a group names.
	NewestOfGroup = 10
)

// Failures groups an account's failed deliveries by endpoint and cause, the
// largest group first. more tells that MaxFailuresGrouped were counted, the
// newest, and that there may be others. Those of deleted endpoints are left out:
// nobody can do anything about them.
func (s *Store) Failures(ctx context.Context, account gateway.AccountID, f FailureFilter) (groups []FailureGroup, more bool, err error) {
	q := &query{}
	q.put(`SELECT g.*, x.note, x.actor, x.dismissed_at, x.until
		FROM (`)
	q.add(`SELECT d.endpoint_id, d.last_error_kind COLLATE "C" AS last_error_kind, d.last_status_code, date_bin(`, f.step())
	q.put(`::interval, d.closed_at, 'epoch') AS at,
		       count(*), min(d.closed_at), max(d.closed_at), NULL::timestamptz,
		       ` + endsOfGroup + `
		FROM (`)
	q.addFailed(`id, endpoint_id, last_error_kind, last_status_code, closed_at`, account)
	q.addFailureFilter(f)
	q.put(fmt.Sprintf(` ORDER BY id DESC LIMIT %d) d`, MaxFailuresGrouped))
	q.add(`
		GROUP BY 1, 2, 3, 4) g
		LEFT JOIN dismissals x
		  ON x.endpoint_id = g.endpoint_id
		 AND x.error_kind = g.last_error_kind COLLATE "C"
		 AND x.status_code = g.last_status_code
		 AND x.account_id = `, account)
	q.put(`
		ORDER BY g.endpoint_id, g.last_error_kind, g.last_status_code, g.at`)
	return s.failureGroups(ctx, account, q)
}

// endsOfGroup are the ids of the oldest and the newest deliveries d of a group:
// of one aggregate, which is made once.
var endsOfGroup = fmt.Sprintf(`(array_agg(d.id ORDER BY d.id DESC))[count(*)], (array_agg(d.id ORDER BY d.id DESC))[1:%d]`, NewestOfGroup)

// addFailureFilter narrows deliveries by their own columns.
func (q *query) addFailureFilter(f FailureFilter) {
	if f.Endpoint != nil {
		q.add(` AND endpoint_id = `, *f.Endpoint)
	}
	if f.Cause != nil {
		q.add(` AND last_error_kind = `, string(f.Cause.ErrorKind))
		q.add(` AND last_status_code = `, f.Cause.StatusCode)
	}
	if !f.Since.IsZero() {
		q.add(` AND id >= `, gateway.FirstIDAt[gateway.DeliveryID](f.Since))
	}
}

// addFailed asks for columns of failed deliveries of endpoints that are there,
// but for those whose event the next of the chain was given.
// The literals let a generic plan use the index, which has all that is asked
// for; the endpoints are few, and not joined, so that the index's order stays.
func (q *query) addFailed(columns string, account gateway.AccountID) {
	q.add(`SELECT `+columns+`
		FROM deliveries
		WHERE status = 'failed'
		  AND status IN ('failed', 'suppressed', 'cancelled', 'expired')
		  AND failover_to IS NULL
		  AND `+notAhead+`
		  AND account_id = `, account)
	q.addNotDeleted(account)
}

// addNotDeleted leaves out the deliveries of deleted endpoints.
func (q *query) addNotDeleted(account gateway.AccountID) {
	q.add(` AND endpoint_id <> ALL (ARRAY(
			SELECT p.id
			FROM endpoints p
			WHERE p.deleted_at IS NOT NULL
			  AND p.account_id = `, account)
	q.put(`))`)
}

// CountFailed counts an account's failed deliveries of endpoints that are
// there, up to most, those of dismissed groups aside. Where something was
// dismissed, it looks at as many as Failures does.
func (s *Store) CountFailed(ctx context.Context, account gateway.AccountID, most int) (int, error) {
	q := &query{}
	q.add(`SELECT CASE WHEN EXISTS (SELECT FROM dismissals WHERE account_id = `, account)
	q.put(`) THEN (
			SELECT coalesce(sum(g.n), 0)
			FROM (
				SELECT endpoint_id, last_error_kind, last_status_code, count(*) AS n, max(closed_at) AS last
				FROM (`)
	q.addFailed(`endpoint_id, last_error_kind, last_status_code, closed_at`, account)
	q.put(fmt.Sprintf(` ORDER BY id DESC LIMIT %d) d`, MaxFailuresGrouped))
	q.add(`
				GROUP BY 1, 2, 3
			) g
			LEFT JOIN dismissals x
			  ON x.endpoint_id = g.endpoint_id
			 AND x.error_kind = g.last_error_kind
			 AND x.status_code = g.last_status_code
			 AND x.account_id = `, account)
	q.put(`
			WHERE x.until IS NULL
			   OR x.until < g.last
		) ELSE (
			SELECT count(*)
			FROM (`)
	q.addFailed(``, account)
	q.add(` LIMIT `, most)
	q.put(`) d
		) END::bigint`)
	var n int
	err := s.pool.QueryRow(ctx, q.sql(), q.args...).Scan(&n)
	return min(n, most), wrap("count failures", err)
}

// failureGroups reads groups that a statement tells step by step, puts the steps
// together, and tells whether all that may be counted were.
func (s *Store) failureGroups(ctx context.Context, account gateway.AccountID, q *query) (groups []FailureGroup, full bool, err error) {
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, false, wrap("group failures", err)
	}
	steps, err := pgx.CollectRows(rows, scanFailureStep)
	if err != nil {
		return nil, false, wrap("group failures", err)
	}
	groups, counted := mergeFailures(steps)
	return groups, counted == MaxFailuresGrouped, s.labelFailures(ctx, account, groups)
}

// scanFailureStep reads one step of one group as a group of its own.
func scanFailureStep(row pgx.CollectableRow) (g FailureGroup, err error) {
	var at time.Time
	var note, actor *string
	var dismissed, until *time.Time
	err = row.Scan(&g.EndpointID, &g.Cause.ErrorKind, &g.Cause.StatusCode, &at, &g.Count, &g.First, &g.Last, &g.NextAttemptAt,
		&g.Oldest, &g.Newest, &note, &actor, &dismissed, &until)
	g.Trend = []FailureBin{{At: at, Count: g.Count}}
	if err == nil && until != nil {
		g.Dismissal = &Dismissal{
			EndpointID: g.EndpointID, Cause: g.Cause, Until: *until, Note: *note, Actor: gateway.Actor(*actor), At: *dismissed,
		}
	}
	return g, err
}

// labelFailures adds what the endpoints are called, and who dismissed.
func (s *Store) labelFailures(ctx context.Context, account gateway.AccountID, groups []FailureGroup) error {
	ids := make([]gateway.EndpointID, len(groups))
	for i := range groups {
		ids[i] = groups[i].EndpointID
	}
	labels, err := s.EndpointLabels(ctx, account, ids)
	for i := range groups {
		groups[i].Endpoint = labels[groups[i].EndpointID]
	}
	if err != nil {
		return err
	}
	return s.nameDismissers(ctx, account, groups)
}
