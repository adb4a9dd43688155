package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// CountUntried counts what an operation has opened and nobody has tried since:
// of each active endpoint up to most. What waits at an endpoint that is paused
// or disabled waits for a person, and what waits for a claim for its holder:
// they hold up nobody.
func (s *Store) CountUntried(ctx context.Context, run OperationRun, most int) (int, error) {
	q := &query{}
	q.put(`SELECT count(*)
		FROM endpoints p
		CROSS JOIN LATERAL (
			SELECT
			FROM deliveries d
			WHERE d.endpoint_id = p.id
			  AND d.status = 'pending'
			  AND d.step = 0
			  AND d.waiting_on IS NULL
			  AND d.operation_id IS NOT NULL`)
	q.add(` AND d.operation_id = `, run.ID)
	addRange(q, `d.id`, gateway.DeliveryID(lowestOf(run.Filter)), gateway.DeliveryID(run.Bound))
	q.add(` LIMIT `, most)
	q.add(`
		) w
		WHERE p.state = 'active'
		  AND p.deleted_at IS NULL
		  AND p.account_id = `, run.AccountID)
	if run.Filter.Endpoint != nil {
		q.add(` AND p.id = `, *run.Filter.Endpoint)
	}
	var n int
	err := s.pool.QueryRow(ctx, q.sql(), q.args...).Scan(&n)
	return n, wrap("count what nobody has tried", err)
}

// CountUndecided counts the events behind an operation's cursor that wait to be
// decided again, up to most.
func (s *Store) CountUndecided(ctx context.Context, run OperationRun, most int) (int, error) {
	var n int
	err := s.pool.QueryRow(ctx, `
		SELECT count(*)
		FROM (
			SELECT
			FROM events
			WHERE account_id = $1
			  AND status = 'accepted'
			  AND status <> 'processed'
			  AND id >= $2
			  AND id <= $3
			LIMIT $4
		) w`, run.AccountID, gateway.EventID(lowestOf(run.Filter)), gateway.EventID(run.Cursor), most).Scan(&n)
	return n, wrap("count undecided events", err)
}

// Untried lists deliveries that a stopped operation has opened and nobody has
// tried since, up to limit, by their endpoints.
func (s *Store) Untried(ctx context.Context, run OperationRun, limit int) (map[gateway.DeliveryID]gateway.EndpointID, error) {
	q := &query{}
	q.put(`SELECT d.id, d.endpoint_id
		FROM deliveries d
		WHERE d.status = 'pending'
		  AND d.step = 0
		  AND d.trigger = 'recover'
		  AND d.operation_id IS NOT NULL`)
	q.add(` AND d.operation_id = `, run.ID)
	q.add(` AND d.account_id = `, run.AccountID)
	addRange(q, `d.id`, gateway.DeliveryID(lowestOf(run.Filter)), gateway.DeliveryID(run.Bound))
	q.add(` LIMIT `, limit)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("list what nobody has tried", err)
	}
	untried := map[gateway.DeliveryID]gateway.EndpointID{}
	var id gateway.DeliveryID
	var endpoint gateway.EndpointID
	_, err = pgx.ForEachRow(rows, []any{&id, &endpoint}, func() error {
		untried[id] = endpoint
		return nil
	})
	return untried, wrap("list what nobody has tried", err)
}

// RestoreUntried puts deliveries back to what they were before a stopped
// operation opened them, with the time at which they had been closed; those that
// it had made are missing again, for the next one to make. It returns how many
// there were.
//
// The promise: only what nobody has tried since is put back, once: what is in
// the air stays, and what a person has sent again is theirs.
func (t Tx) RestoreUntried(ctx context.Context, run OperationRun, ids []gateway.DeliveryID) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	low, high := idRange(ids)
	rows, err := t.tx.Query(ctx, `
		WITH mine AS (
			SELECT id, reopened_from IS NULL AND attempts = 0 AS made
			FROM deliveries
			WHERE id = ANY ($1)
			  AND id BETWEEN $2 AND $3
			  AND account_id = $4
			  AND operation_id = $5
			  AND status = $6
			  AND step = 0
			  AND trigger = 'recover'
			ORDER BY id
			FOR UPDATE
		), unmade AS (
			DELETE FROM deliveries
			WHERE id = ANY (ARRAY(SELECT id FROM mine WHERE made))
			  AND id BETWEEN $2 AND $3
			  AND status = $6
			RETURNING id, claim_id
		), restored AS (
			UPDATE deliveries
			SET status = coalesce(reopened_from, 'cancelled'),
			    next_attempt_at = NULL,
			    waiting_on = NULL,
			    closed_at = coalesce(reopened_closed_at, now()),
			    operation_id = NULL,
			    reopened_from = NULL,
			    reopened_closed_at = NULL
			WHERE id = ANY (ARRAY(SELECT id FROM mine WHERE NOT made))
			  AND id BETWEEN $2 AND $3
			  AND status = $6
			RETURNING id, claim_id
		)
		SELECT claim_id FROM unmade
		UNION ALL
		SELECT claim_id FROM restored`,
		ids, low, high, run.AccountID, run.ID, string(gateway.DeliveryPending))
	n, err := t.passTurnsOfClosed(ctx, rows, err)
	return n, wrap("restore deliveries", err)
}

// MaxProgressCounted is up to where the deliveries of an operation are counted.
const MaxProgressCounted = 50_000

// OperationCounts is how the deliveries do that an operation opened last.
type OperationCounts struct {
	// ByStatus counts them by their stored status.
	ByStatus map[gateway.DeliveryStatus]int
	// More tells that MaxProgressCounted were counted, and that there may be
	// others.
	More bool
}

// OperationCounts counts the deliveries that an operation opened last by
// their status. Those that somebody else has opened since count there.
func (s *Store) OperationCounts(ctx context.Context, account gateway.AccountID, o gateway.Operation) (OperationCounts, error) {
	p := OperationCounts{ByStatus: map[gateway.DeliveryStatus]int{}}
	q := &query{}
	q.add(`SELECT status, count(*)
		FROM (
			SELECT status
			FROM deliveries
			WHERE operation_id IS NOT NULL
			  AND operation_id = (SELECT id FROM operations WHERE id = `, o.ID)
	q.add(` AND account_id = `, account)
	q.put(`)`)
	addRange(q, `id`, gateway.DeliveryID(lowestOf(o.Filter)), gateway.FirstIDAt[gateway.DeliveryID](o.CreatedAt.Add(clockSlack)))
	q.add(` LIMIT `, MaxProgressCounted)
	q.put(`) d
		GROUP BY status`)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return p, wrap("count an operation's deliveries", err)
	}
	var status gateway.DeliveryStatus
	var n, all int
	_, err = pgx.ForEachRow(rows, []any{&status, &n}, func() error {
		p.ByStatus[status] = n
		all += n
		return nil
	})
	p.More = all >= MaxProgressCounted
	return p, wrap("count an operation's deliveries", err)
}
