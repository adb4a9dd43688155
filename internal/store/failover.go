package store

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
)

// FailOver gives events to the next endpoint of the lane's endpoint's chain,
// with the job that wakes it: those whose deliveries have just failed for good
// here, and, if the endpoint is disabled, those that wait here, at most limit of
// them, whose deliveries are closed as failed. It returns how many these were
// and the lane of the next one; nil means that there is none, and nothing was
// done. What a person has sent to this very endpoint stays: it waits for the
// endpoint to be resumed.
//
// The promise: what an endpoint could not be given its failover gets, once, and
// the endpoint does not send it again by itself. A delivery failed once, by the
// guard of who closed it; those that wait are closed only while they are
// pending, locked, at an endpoint that is disabled until the transaction ends.
// The next one's are inserted with that, under ids that are derived: an event
// that the next one has already, whatever became of it, is not sent there again.
// What stood behind what is live does so there, too.
func (t Tx) FailOver(ctx context.Context, lane Lane, failed []gateway.EventID, limit int) (waited int, next *LaneRef, err error) {
	next, disabled, err := t.lockNext(ctx, lane)
	if err != nil || next == nil {
		return 0, nil, err
	}
	given, err := t.noteFailover(ctx, lane, *next, failed)
	if err != nil {
		return 0, nil, err
	}
	var waiting []handed
	if disabled && limit > 0 {
		if waiting, err = t.closeWaiting(ctx, lane, *next, limit); err != nil {
			return 0, nil, err
		}
	}
	return len(waiting), next, t.insertFailovers(ctx, lane, *next, slices.Concat(given, waiting))
}

// handed is an event that is given to the next endpoint.
type handed struct {
	EventID gateway.EventID
	// Bulk stands behind what is live.
	Bulk bool
}

func (g handed) priority() int16 {
	if g.Bulk {
		return gateway.PriorityBulk
	}
	return gateway.PriorityFirst
}

// noteFailover writes on failed deliveries who gets their events, and returns
// these.
func (t Tx) noteFailover(ctx context.Context, lane Lane, next LaneRef, failed []gateway.EventID) ([]handed, error) {
	if len(failed) == 0 {
		return nil, nil
	}
	ids := deriveDeliveryIDs(failed, lane.EndpointID)
	low, high := idRange(ids)
	rows, err := t.tx.Query(ctx, `
		UPDATE deliveries d
		SET failover_to = $4
		WHERE d.id = ANY ($1)
		  AND d.id BETWEEN $2 AND $3
		  AND d.status = $5
		RETURNING d.event_id, d.priority = 2`, ids, low, high, next.EndpointID, string(gateway.DeliveryFailed))
	if err != nil {
		return nil, wrap("note the failover", err)
	}
	given, err := pgx.CollectRows(rows, pgx.RowToStructByPos[handed])
	return given, wrap("note the failover", err)
}

func deriveDeliveryIDs(events []gateway.EventID, endpoint gateway.EndpointID) []gateway.DeliveryID {
	ids := make([]gateway.DeliveryID, len(events))
	for i, event := range events {
		ids[i] = gateway.DeriveDeliveryID(event, endpoint)
	}
	return ids
}

// closeWaiting closes up to limit pending deliveries as failed and returns
// their events.
func (t Tx) closeWaiting(ctx context.Context, lane Lane, next LaneRef, limit int) ([]handed, error) {
	rows, err := t.tx.Query(ctx, `
		WITH live AS (
			SELECT d.id
			FROM (VALUES (0), (1)) AS p (priority)
			CROSS JOIN LATERAL (
				SELECT id
				FROM deliveries
				WHERE endpoint_id = $1
				  AND priority = p.priority
				  AND status = 'pending'
				  AND trigger = 'auto'
				  AND `+notAhead+`
				ORDER BY next_attempt_at
				LIMIT $2
				FOR UPDATE SKIP LOCKED
			) d
			LIMIT $2
		), bulk AS (
			SELECT id
			FROM deliveries
			WHERE endpoint_id = $1
			  AND `+handedOnBulk+`
			ORDER BY next_attempt_at
			LIMIT $2
			FOR UPDATE SKIP LOCKED
		), open AS (
			SELECT id FROM live
			UNION ALL
			SELECT id FROM bulk
			LIMIT $2
		)
		UPDATE deliveries d
		SET status = 'failed',
		    closed_at = now(),
		    next_attempt_at = NULL,
		    waiting_on = NULL,
		    failover_to = $4,
		    last_error_kind = CASE WHEN d.last_outcome IS NULL THEN 'disabled' ELSE d.last_error_kind END
		WHERE d.id = ANY (ARRAY(SELECT id FROM open))
		  AND d.id >= (SELECT id FROM open ORDER BY id LIMIT 1)
		  AND d.id <= (SELECT id FROM open ORDER BY id DESC LIMIT 1)
		  AND d.status = $3
		RETURNING d.event_id, d.priority = 2, d.claim_id`, lane.EndpointID, limit, string(gateway.DeliveryPending), next.EndpointID)
	if err != nil {
		return nil, wrap("close what waits", err)
	}
	var waiting []handed
	var one handed
	var claim *gateway.ClaimID
	var claims []gateway.ClaimID
	_, err = pgx.ForEachRow(rows, []any{&one.EventID, &one.Bulk, &claim}, func() error {
		waiting = append(waiting, one)
		if claim != nil {
			claims = append(claims, *claim)
		}
		return nil
	})
	if err != nil {
		return nil, wrap("close what waits", err)
	}
	return waiting, t.passTurnsOf(ctx, claims)
}

// lockNext returns who comes after the lane's endpoint in its chain, if
// anybody does, and whether the endpoint is disabled. Neither changes until
// the transaction ends. The endpoint is locked before the next one, as whoever
// takes one out of the chain does.
func (t Tx) lockNext(ctx context.Context, lane Lane) (next *LaneRef, disabled bool, err error) {
	ref := LaneRef{AccountID: lane.AccountID}
	err = t.tx.QueryRow(ctx, `
		SELECT failover_id, state = 'disabled'
		FROM endpoints
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		  AND failover_id IS NOT NULL
		FOR SHARE`, lane.EndpointID, lane.AccountID).Scan(&ref.EndpointID, &disabled)
	if err == nil {
		err = t.tx.QueryRow(ctx, `
			SELECT
			FROM endpoints
			WHERE id = $1
			  AND account_id = $2
			  AND deleted_at IS NULL
			FOR KEY SHARE`, ref.EndpointID, lane.AccountID).Scan()
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, disabled, nil
	case err != nil:
		return nil, disabled, wrap("find the next of the chain", err)
	}
	return &ref, disabled, nil
}

// insertFailovers makes the next one's deliveries and the job that wakes it.
// They come in the order of their ids, and once in a transaction: several
// endpoints may have the same next one, and give it the same events at once.
func (t Tx) insertFailovers(ctx context.Context, lane Lane, next LaneRef, given []handed) error {
	if len(given) == 0 {
		return nil
	}
	events, priorities := make([]gateway.EventID, len(given)), make([]int16, len(given))
	for i, g := range given {
		events[i], priorities[i] = g.EventID, g.priority()
	}
	ids := deriveDeliveryIDs(events, next.EndpointID)
	_, err := t.tx.Exec(ctx, `
		INSERT INTO deliveries (id, account_id, event_id, endpoint_id, failover_of, priority, next_attempt_at)
		SELECT u.id, $3, u.event_id, $4, $5, u.priority, now()
		FROM unnest($1::uuid[], $2::uuid[], $6::smallint[]) AS u (id, event_id, priority)
		ORDER BY u.id
		ON CONFLICT (id) DO NOTHING`, ids, events, lane.AccountID, next.EndpointID, lane.EndpointID, priorities)
	if err != nil {
		return wrap("insert failovers", err)
	}
	return t.Enqueue(ctx, job.Deliver{AccountID: next.AccountID, EndpointID: next.EndpointID})
}

// HandsOn tells whether an endpoint is disabled, has a failover, and still has
// something to hand on. Asked after a release, it finds work whose wake-up came
// while the lane was held.
func (s *Store) HandsOn(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID) (bool, error) {
	var more bool
	err := s.pool.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT 1
			FROM endpoints e
			WHERE e.id = $1
			  AND e.account_id = $2
			  AND `+handingOn+`
			  AND `+somethingToHandOn+`
		)`, endpoint, account).Scan(&more)
	return more, wrap("look for what is to be handed on", err)
}

// handingOn is an endpoint e that gives what it gets to the next of its chain.
const handingOn = `e.state = 'disabled' AND e.failover_id IS NOT NULL AND e.deleted_at IS NULL`

// handedOnBulk are pending deliveries behind what is live that FailOver takes:
// of events that were decided again, and not what somebody has sent again, for
// which there is an index.
const handedOnBulk = `status = 'pending' AND priority = 2 AND trigger = 'auto' AND ` + notAhead

// somethingToHandOn tells that a delivery waits at endpoint e that FailOver
// takes.
const somethingToHandOn = `(EXISTS (
			SELECT 1
			FROM deliveries
			WHERE endpoint_id = e.id
			  AND ` + handedOnBulk + `
		) OR EXISTS (
			SELECT 1
			FROM (VALUES (0), (1)) AS q (priority)
			CROSS JOIN LATERAL (
				SELECT 1
				FROM deliveries
				WHERE endpoint_id = e.id
				  AND priority = q.priority
				  AND status = 'pending'
				  AND trigger = 'auto'
				  AND ` + notAhead + `
				LIMIT 1
			) d
		))`

// StalledHeads returns disabled endpoints with a failover that nobody is at
// and where something is still open: whoever was handing it on, or sending it
// when the endpoint was disabled, is gone.
func (s *Store) StalledHeads(ctx context.Context, limit int) ([]LaneRef, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT e.account_id, e.id
		FROM endpoints e
		JOIN lanes l
		  ON l.endpoint_id = e.id
		WHERE `+handingOn+`
		  AND (l.leased_until IS NULL OR l.leased_until < clock_timestamp())
		  AND (`+somethingToHandOn+`
		       OR EXISTS (
				SELECT 1
				FROM deliveries
				WHERE endpoint_id = e.id
				  AND status = 'sending'
				  AND `+notAhead+`))
		LIMIT $1`, limit)
	if err != nil {
		return nil, wrap("look for stalled heads", err)
	}
	refs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[LaneRef])
	return refs, wrap("look for stalled heads", err)
}
