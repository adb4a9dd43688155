package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// LaneNow is how wide an endpoint's lane is at this moment.
type LaneNow struct {
	// Flow is its width, as far as it is known outside of the node that sends.
	Flow gateway.Flow
	// Held tells that a node sends there now.
	Held bool
}

// LaneOf tells how wide an endpoint's lane is. One without a lane, or of another
// account, is gateway.ErrNotFound.
func (s *Store) LaneOf(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID) (LaneNow, error) {
	var l LaneNow
	var sleep, narrowed *time.Time
	err := s.pool.QueryRow(ctx, `
		SELECT in_flight_cap, failed_probes, timing_out, sleep_until, narrowed_at, coalesce(leased_until > now(), false)
		FROM lanes
		WHERE endpoint_id = $1
		  AND account_id = $2`, endpoint, account).
		Scan(&l.Flow.Cap, &l.Flow.FailedProbes, &l.Flow.TimingOut, &sleep, &narrowed, &l.Held)
	if errors.Is(err, pgx.ErrNoRows) {
		return l, gateway.ErrNotFound
	}
	l.Flow.SleepUntil, l.Flow.NarrowedAt = timeOf(sleep), timeOf(narrowed)
	return l, wrap("look at the lane", err)
}

// Queue is what is pending at an endpoint.
type Queue struct {
	// Due is how many are due, Later how many will be, each up to what was
	// asked for.
	Due, Later int
	// DueSince is when the first of those became due, and NextAt when the first
	// of these does; nil when there is none.
	DueSince, NextAt *time.Time
}

// QueueOf tells what is pending at an endpoint, counting up to most.
func (s *Store) QueueOf(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, most int) (q Queue, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT least(sum(due.n), $3)::bigint, min(due.first), least(sum(later.n), $3)::bigint, min(later.first)
		FROM (VALUES (0), (1), (2)) AS p (priority)
		CROSS JOIN LATERAL (
			SELECT count(*) AS n, min(next_attempt_at) AS first
			FROM (`+pendingAt+`
				  AND next_attempt_at <= now()
				ORDER BY next_attempt_at
				LIMIT $3
			) d
		) due
		CROSS JOIN LATERAL (
			SELECT count(*) AS n, min(next_attempt_at) AS first
			FROM (`+pendingAt+`
				  AND next_attempt_at > now()
				ORDER BY next_attempt_at
				LIMIT $3
			) d
		) later`, endpoint, account, most).Scan(&q.Due, &q.DueSince, &q.Later, &q.NextAt)
	return q, wrap("look at what is pending", err)
}

// pendingAt finds the pending deliveries of endpoint $1 with priority p, in the
// order of time.
const pendingAt = `
				SELECT id, next_attempt_at
				FROM deliveries
				WHERE endpoint_id = $1
				  AND account_id = $2
				  AND priority = p.priority
				  AND status = 'pending'
				  AND ` + notAhead

// MakeDue makes pending deliveries that wait for a later attempt due now, those
// that are next first and at most limit, and returns how many there were. Their
// schedule stays. The caller has woken the lane, whose lock keeps others from
// doing the same, and commits before it goes on.
//
// The promise: of two presses each delivery is made due by one, and nothing is
// at an endpoint that is not active.
func (t Tx) MakeDue(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, limit int) (int, error) {
	// The statement's time is past whatever the holder of the lock before us
	// wrote; the transaction's may not be.
	tag, err := t.tx.Exec(ctx, `
		WITH later AS (
			SELECT d.id
			FROM (VALUES (0), (1), (2)) AS p (priority)
			CROSS JOIN LATERAL (`+pendingAt+`
				  AND next_attempt_at > statement_timestamp()
				  AND waiting_on IS NULL
				ORDER BY next_attempt_at
				LIMIT $3
			) d
			LIMIT $3
		), locked AS (
			SELECT d.id
			FROM deliveries d
			WHERE d.id = ANY (ARRAY(SELECT id FROM later))
			  AND d.id >= (SELECT id FROM later ORDER BY id LIMIT 1)
			  AND d.id <= (SELECT id FROM later ORDER BY id DESC LIMIT 1)
			  AND d.status = 'pending'
			  AND EXISTS (
				SELECT
				FROM endpoints
				WHERE id = $1
				  AND state = 'active'
				  AND deleted_at IS NULL)
			ORDER BY d.id
			FOR UPDATE OF d
		)
		UPDATE deliveries d
		SET next_attempt_at = now(),
		    trigger = $4
		WHERE d.id = ANY (ARRAY(SELECT id FROM locked))
		  AND d.id >= (SELECT id FROM locked ORDER BY id LIMIT 1)
		  AND d.id <= (SELECT id FROM locked ORDER BY id DESC LIMIT 1)
		  AND d.status = 'pending'
		  AND d.next_attempt_at > statement_timestamp()`, endpoint, account, limit, string(gateway.TriggerManual))
	return int(tag.RowsAffected()), wrap("make deliveries due", err)
}
