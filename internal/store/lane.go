package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// LaneLease is how long a lane stays with a node that does not extend it.
	LaneLease = 10 * time.Second
	// NodeGap is how long a node may be silent and still count as alive.
	NodeGap = 3 * time.Second
	// NodeSteady is how long a node must have been alive without a gap before
	// it may take over a lane: after an outage, nobody steals from the living.
	NodeSteady = 5 * time.Second
	// alarmPush is how long an alarm that went off is put off, so that one
	// whose job is lost goes off again.
	alarmPush = 2 * time.Second
)

// Lane is the right to send for one endpoint: it holds while the fence is the
// newest.
type Lane struct {
	AccountID  gateway.AccountID
	EndpointID gateway.EndpointID
	Fence      int64
	// Inherited tells that somebody held the lane before and did not release
	// it: TakeOver finds what was left.
	Inherited bool
	// Flow is how wide the lane was left, Pace how far its limit a second.
	Flow gateway.Flow
	Pace gateway.Pace
}

// AcquireLane takes the endpoint's lane for a node. false means that somebody
// else is sending, or that the endpoint is not active, or that the lane
// sleeps: there is nothing to do now. The lane of a disabled endpoint with a
// failover can be had: for what is there to be handed on.
//
// The promise: one node sends for an endpoint. The row's lock orders the
// takers, and each gets a higher fence than the one before.
func (s *Store) AcquireLane(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, node string) (Lane, bool, error) {
	lane := Lane{AccountID: account, EndpointID: endpoint}
	var narrowed, paced *time.Time
	err := s.pool.QueryRow(ctx, `
		WITH free AS (
			SELECT endpoint_id, leased_until
			FROM lanes
			WHERE endpoint_id = $1
			  AND account_id = $2
			  AND (sleep_until IS NULL OR sleep_until <= clock_timestamp())
			  AND (leased_until IS NULL
			       OR node = $3
			       OR leased_until < clock_timestamp()
			          AND EXISTS (
			              SELECT 1
			              FROM nodes
			              WHERE node = $3
			                AND seen_at > clock_timestamp() - $4::interval
			                AND steady_since < clock_timestamp() - $5::interval))
			  AND EXISTS (
			      SELECT 1
			      FROM endpoints p
			      WHERE p.id = $1
			        AND (p.state = 'active' AND `+drainable+` OR p.state = 'disabled' AND p.failover_id IS NOT NULL)
			        AND p.deleted_at IS NULL)
			FOR UPDATE
		)
		UPDATE lanes l
		SET fence = l.fence + 1,
		    node = $3,
		    held_since = clock_timestamp(),
		    leased_until = clock_timestamp() + $6::interval,
		    wake_at = clock_timestamp() + $6::interval,
		    sleep_until = NULL
		FROM free
		WHERE l.endpoint_id = free.endpoint_id
		RETURNING l.fence, free.leased_until IS NOT NULL, l.in_flight_cap, l.failed_probes, l.timing_out, l.narrowed_at, l.paced_until`,
		endpoint, account, node, NodeGap, NodeSteady, LaneLease).
		Scan(&lane.Fence, &lane.Inherited, &lane.Flow.Cap, &lane.Flow.FailedProbes, &lane.Flow.TimingOut, &narrowed, &paced)
	if errors.Is(err, pgx.ErrNoRows) {
		return lane, false, nil
	}
	lane.Flow.NarrowedAt, lane.Pace.Due = timeOf(narrowed), timeOf(paced)
	return lane, err == nil, wrap("acquire lane", err)
}

// ExtendLane keeps a lane, and says how wide it is now. false means that it was lost: roll back and stop
// sending.
//
// The promise: who was taken over neither takes nor records. Every transaction
// of a drain begins with this statement, whose row lock it then holds.
func (t Tx) ExtendLane(ctx context.Context, lane Lane) (bool, error) {
	f := lane.Flow
	tag, err := t.tx.Exec(ctx, extendLane, lane.EndpointID, LaneLease, lane.Fence,
		f.Cap, f.FailedProbes, f.TimingOut, nullTime(f.NarrowedAt), nullTime(lane.Pace.Due))
	return tag.RowsAffected() == 1, wrap("extend lane", err)
}

const extendLane = `
	UPDATE lanes
	SET leased_until = clock_timestamp() + $2::interval,
	    wake_at = clock_timestamp() + $2::interval,
	    in_flight_cap = $4,
	    failed_probes = $5,
	    timing_out = $6,
	    narrowed_at = $7,
	    paced_until = $8
	WHERE endpoint_id = $1
	  AND fence = $3`

// TakeOver makes what an earlier holder left in the air pending again, each
// with an attempt of unknown outcome, and returns how many there were. They
// were due before whatever has gathered since, and stay so: what was in the air
// goes out first, however long the backlog is. One that has had
// gateway.MaxAttempts is failed, and FailOver has its event.
func (t Tx) TakeOver(ctx context.Context, lane Lane) (int64, error) {
	rows, err := t.tx.Query(ctx, `
		WITH left_over AS (
			UPDATE deliveries
			SET status = CASE WHEN attempts < 65535 THEN 'pending' ELSE 'failed' END,
			    next_attempt_at = CASE WHEN attempts < 65535 THEN next_attempt_at END,
			    priority = 0,
			    closed_at = CASE WHEN attempts < 65535 THEN NULL ELSE now() END,
			    last_outcome = 'unknown',
			    last_error_kind = '',
			    last_status_code = 0
			WHERE endpoint_id = $1
			  AND account_id = $2
			  AND status = 'sending'
			  AND fence < $3
			RETURNING id, attempts, account_id, endpoint_id, event_id, trigger, fence, status
		), kept AS (
			INSERT INTO attempts (delivery_id, n, account_id, endpoint_id, event_id, trigger, fence,
			                      started_at, duration_us, outcome, detail)
			SELECT id, attempts, account_id, endpoint_id, event_id, trigger, fence,
			       now(), 0, 'unknown', 'the answer was never recorded: the node that sent it is gone'
			FROM left_over
			ON CONFLICT (delivery_id, n) DO NOTHING
		)
		SELECT event_id, status = 'failed'
		FROM left_over`, lane.EndpointID, lane.AccountID, lane.Fence)
	if err != nil {
		return 0, wrap("take over lane", err)
	}
	var n int64
	var event gateway.EventID
	var gaveUp bool
	var failed []gateway.EventID
	_, err = pgx.ForEachRow(rows, []any{&event, &gaveUp}, func() error {
		n++
		if gaveUp {
			failed = append(failed, event)
		}
		return nil
	})
	if err != nil || len(failed) == 0 {
		return n, wrap("take over lane", err)
	}
	_, _, err = t.FailOver(ctx, lane, failed, 0)
	return n, err
}

// notAhead leaves out the days that are made ahead of time, which have no row
// yet: half of all days. Clocks agree to far less than the day it leaves.
const notAhead = `id < partition_bound((now() AT TIME ZONE 'UTC')::date + 2)`

// ReleaseLane gives a lane back and sets its alarm to when the next delivery
// is due, or to the end of its sleep, and returns that time; zero means that
// nothing waits. false means that the lane was lost before.
func (s *Store) ReleaseLane(ctx context.Context, lane Lane) (alarm time.Time, mine bool, err error) {
	f := lane.Flow
	var wakeAt *time.Time
	err = s.pool.QueryRow(ctx, `
		UPDATE lanes
		SET leased_until = NULL,
		    node = NULL,
		    held_since = NULL,
		    in_flight_cap = $3,
		    failed_probes = $4,
		    timing_out = $5,
		    sleep_until = $6,
		    narrowed_at = $7,
		    paced_until = $8,
		    wake_at = (
			SELECT GREATEST(min(d.next_attempt_at), $6)
			FROM (VALUES (0), (1), (2)) AS p (priority)
			CROSS JOIN LATERAL (
				SELECT next_attempt_at
				FROM deliveries
				WHERE endpoint_id = $1
				  AND priority = p.priority
				  AND status = 'pending'
				  AND next_attempt_at IS NOT NULL
				  AND `+notAhead+`
				ORDER BY next_attempt_at
				LIMIT 1
			) d
		    )
		WHERE endpoint_id = $1
		  AND fence = $2
		RETURNING wake_at`,
		lane.EndpointID, lane.Fence, f.Cap, f.FailedProbes, f.TimingOut, nullTime(f.SleepUntil), nullTime(f.NarrowedAt), nullTime(lane.Pace.Due)).
		Scan(&wakeAt)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return alarm, false, nil
	case err != nil:
		return alarm, false, wrap("release lane", err)
	case wakeAt != nil:
		alarm = *wakeAt
	}
	return alarm, true, nil
}

// AbandonLane ends one's own lease at once, for the next holder to take over
// what may be in the air: the way out when the fate of a commit is unknown.
func (s *Store) AbandonLane(ctx context.Context, lane Lane) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE lanes
		SET leased_until = clock_timestamp(),
		    wake_at = clock_timestamp()
		WHERE endpoint_id = $1
		  AND fence = $2`, lane.EndpointID, lane.Fence)
	return wrap("abandon lane", err)
}

// HasDue tells whether a delivery of the endpoint is due now. Asked after a
// release, it finds work whose wake-up came while the lane was held.
func (s *Store) HasDue(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID) (bool, error) {
	var due bool
	err := s.pool.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT 1
			FROM (VALUES (0), (1), (2)) AS p (priority)
			CROSS JOIN LATERAL (
				SELECT 1
				FROM deliveries
				WHERE endpoint_id = $1
				  AND account_id = $2
				  AND priority = p.priority
				  AND status = 'pending'
				  AND next_attempt_at <= now()
				  AND `+notAhead+`
				LIMIT 1
			) d
		)`, endpoint, account).Scan(&due)
	return due, wrap("look for due deliveries", err)
}

// WakeLane sets a lane's alarm to now and ends its sleep: something became due
// out of turn.
func (t Tx) WakeLane(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID) error {
	_, err := t.tx.Exec(ctx, `
		UPDATE lanes
		SET wake_at = LEAST(wake_at, now()),
		    sleep_until = NULL
		WHERE endpoint_id = $1
		  AND account_id = $2`, endpoint, account)
	return wrap("wake lane", err)
}

// AlarmLanes gives an alarm to lanes that get work in this transaction, a moment
// ahead: whoever commits it drains them at once, and if that is lost with its process,
// or it has no time, any node does at the alarm. Lanes that are held or asleep have
// theirs, and are left alone; so are those that somebody is just changing, who then
// looks for work.
func (t Tx) AlarmLanes(ctx context.Context, lanes []LaneRef) error {
	if len(lanes) == 0 {
		return nil
	}
	ids := make([]gateway.EndpointID, len(lanes))
	for i, lane := range lanes {
		ids[i] = lane.EndpointID
	}
	_, err := t.tx.Exec(ctx, `
		WITH quiet AS (
			SELECT endpoint_id
			FROM lanes
			WHERE endpoint_id = ANY ($1)
			  AND leased_until IS NULL
			  AND (sleep_until IS NULL OR sleep_until <= now())
			  AND (wake_at IS NULL OR wake_at > now() + $2::interval)
			ORDER BY endpoint_id
			FOR UPDATE SKIP LOCKED
		)
		UPDATE lanes l
		SET wake_at = now() + $2::interval
		FROM quiet
		WHERE l.endpoint_id = quiet.endpoint_id`, ids, alarmPush)
	return wrap("alarm lanes", err)
}

// LaneRef names a lane.
type LaneRef = gateway.LaneRef

// RingAlarms returns the lanes of active endpoints whose alarm has come, and
// puts their alarms off by a moment. Nodes do not get in each other's way.
func (t Tx) RingAlarms(ctx context.Context, limit int) ([]LaneRef, error) {
	rows, err := t.tx.Query(ctx, `
		WITH ringing AS (
			SELECT l.endpoint_id
			FROM lanes l
			JOIN endpoints p
			  ON p.id = l.endpoint_id
			WHERE l.wake_at <= now()
			  AND p.state = 'active'
			  AND p.deleted_at IS NULL
			  AND `+drainable+`
			ORDER BY l.wake_at
			LIMIT $1
			FOR UPDATE OF l SKIP LOCKED
		)
		UPDATE lanes l
		SET wake_at = now() + $2::interval
		FROM ringing
		WHERE l.endpoint_id = ringing.endpoint_id
		RETURNING l.account_id, l.endpoint_id`, limit, alarmPush)
	if err != nil {
		return nil, wrap("ring alarms", err)
	}
	lanes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[LaneRef])
	return lanes, wrap("ring alarms", err)
}

// RepairLanes gives an alarm to each lane that has neither lease nor alarm but
// open deliveries, and returns how many there were. One with something in the
// air gets an ended lease too, so that it is taken over.
func (s *Store) RepairLanes(ctx context.Context) (int64, error) {
	tag, err := s.pool.Exec(ctx, `
		UPDATE lanes l
		SET wake_at = clock_timestamp(),
		    leased_until = CASE WHEN open.sending THEN clock_timestamp() END
		FROM (
			SELECT l.endpoint_id,
			       EXISTS (
			           SELECT 1
			           FROM deliveries d
			           WHERE d.endpoint_id = l.endpoint_id
			             AND d.status = 'sending') AS sending,
			       EXISTS (
			           SELECT 1
			           FROM (VALUES (0), (1), (2)) AS p (priority)
			           JOIN deliveries d
			             ON d.endpoint_id = l.endpoint_id
			            AND d.priority = p.priority
			           WHERE d.status = 'pending'
			             AND d.next_attempt_at IS NOT NULL) AS pending
			FROM lanes l
			WHERE l.leased_until IS NULL
			  AND l.wake_at IS NULL
		) open
		WHERE l.endpoint_id = open.endpoint_id
		  AND (open.sending OR open.pending)
		  AND l.leased_until IS NULL
		  AND l.wake_at IS NULL`)
	return tag.RowsAffected(), wrap("repair lanes", err)
}

// nullTime writes an unset time as NULL.
func nullTime(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// timeOf reads NULL as an unset time.
func timeOf(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}
