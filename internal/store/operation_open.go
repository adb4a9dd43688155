package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// WakeLanes locks lanes in the order of their ids and sets their alarms to now,
// or to the end of their sleep: what an operation opens does not end it, since
// it opens more and more.
func (t Tx) WakeLanes(ctx context.Context, account gateway.AccountID, endpoints []gateway.EndpointID) error {
	_, err := t.tx.Exec(ctx, `
		WITH locked AS (
			SELECT l.endpoint_id
			FROM lanes l
			JOIN endpoints p
			  ON p.id = l.endpoint_id
			WHERE l.endpoint_id = ANY ($1)
			  AND l.account_id = $2
			  AND p.deleted_at IS NULL
			ORDER BY l.endpoint_id
			FOR UPDATE OF l
		)
		UPDATE lanes l
		SET wake_at = LEAST(l.wake_at, GREATEST(now(), l.sleep_until))
		FROM locked
		WHERE l.endpoint_id = locked.endpoint_id`, endpoints, account)
	return wrap("wake lanes", err)
}

// ReopenMany makes deliveries that an operation is about due now, behind what
// is live, with their schedules at the start, and returns those that it opened.
//
// The promise: what closed after the operation was made is not opened by it, nor
// a fact that the receiver has confirmed, and nothing is opened at a deleted endpoint: the caller has woken the lanes,
// for whose locks a deletion waits. Of what a reconciliation found, only that is
// opened which nobody has tried since: it says how many attempts there were.
func (t Tx) ReopenMany(ctx context.Context, run OperationRun, ids []gateway.DeliveryID) ([]gateway.DeliveryID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	low, high := idRange(ids)
	rows, err := t.tx.Query(ctx, `
		WITH mine AS (
			SELECT id, event_id
			FROM deliveries
			WHERE id = ANY (@ids)
			  AND id BETWEEN @low AND @high
			  AND account_id = @account
			  AND status = ANY (@closed)
			  AND closed_at <= @made
			  AND attempts <= @most
			  AND (@reconciliation::uuid IS NULL OR attempts = (
				SELECT m.attempts
				FROM reconciliation_missing m
				WHERE m.reconciliation_id = @reconciliation
				  AND m.event_id = deliveries.event_id))
			ORDER BY id
			FOR UPDATE
		)
		UPDATE deliveries d
		SET status = 'pending',
		    next_attempt_at = now(),
		    priority = 2,
		    step = 0,
		    trigger = 'recover',
		    closed_at = NULL,
		    overrides_claim = false,
		    operation_id = @operation,
		    reopened_from = d.status,
		    reopened_closed_at = d.closed_at
		FROM events e
		WHERE d.id = ANY (ARRAY(SELECT id FROM mine))
		  AND d.id BETWEEN @low AND @high
		  AND d.status = ANY (@closed)
		  AND e.id = d.event_id
		  AND e.id = ANY (ARRAY(SELECT event_id FROM mine))
		  AND e.id >= @first
		  AND e.id < @behind
		  AND e.payload_deleted_at IS NULL
		  AND EXISTS (SELECT FROM endpoints p WHERE p.id = d.endpoint_id AND p.deleted_at IS NULL)
		  AND NOT EXISTS (SELECT FROM claims c WHERE c.id = d.claim_id AND c.state = 'done')
		RETURNING d.id`,
		pgx.NamedArgs{
			"ids": ids, "low": low, "high": high, "account": run.AccountID, "operation": run.ID,
			"reconciliation": run.Filter.Reconciliation,
			"closed":         texts(closedStatuses(run.Filter)), "made": run.CreatedAt, "most": gateway.MaxReopenedAttempts,
			"first": gateway.FirstIDAt[gateway.EventID](low.Time()), "behind": gateway.FirstIDAt[gateway.EventID](high.Time().Add(time.Millisecond)),
		})
	if err != nil {
		return nil, wrap("reopen deliveries", err)
	}
	opened, err := pgx.CollectRows(rows, pgx.RowTo[gateway.DeliveryID])
	return opened, wrap("reopen deliveries", err)
}

// EndpointIsThere tells whether an endpoint has not been deleted. The caller has
// woken its lane, for whose lock a deletion waits.
func (t Tx) EndpointIsThere(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) (bool, error) {
	var there bool
	err := t.tx.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT
			FROM endpoints
			WHERE id = $1
			  AND account_id = $2
			  AND deleted_at IS NULL)`, id, account).Scan(&there)
	return there, wrap("look for the endpoint", err)
}

// InsertMissing makes an endpoint's deliveries of events that it never got, due
// now and behind what is live, and returns how many are new. Events that no
// endpoint had asked for count as processed from now on.
//
// The promise: an endpoint has an event's delivery once, whoever makes it: the
// id is derived from both. They come in the order of their ids, as those do that
// another endpoint fails over to this one.
func (t Tx) InsertMissing(ctx context.Context, run OperationRun, endpoint gateway.EndpointID, events []gateway.EventID) (int, error) {
	if len(events) == 0 {
		return 0, nil
	}
	ids := make([]gateway.DeliveryID, len(events))
	for i, event := range events {
		ids[i] = gateway.DeriveDeliveryID(event, endpoint)
	}
	low, high := idRange(events)
	batch := &pgx.Batch{}
	batch.Queue(eventsInStatus+`
		UPDATE events
		SET status = 'processed', decision = ''
		WHERE id = ANY (ARRAY(SELECT id FROM mine))
		  AND id BETWEEN $2 AND $3
		  AND status = $5`, events, low, high, run.AccountID, string(gateway.EventNoEndpoints))
	batch.Queue(`
		INSERT INTO deliveries (id, account_id, event_id, endpoint_id, next_attempt_at, priority, trigger, operation_id)
		SELECT u.id, $3, u.event_id, $4, now(), 2, 'recover', $5
		FROM unnest($1::uuid[], $2::uuid[]) AS u (id, event_id)
		ORDER BY u.id
		ON CONFLICT (id) DO NOTHING`, ids, events, run.AccountID, endpoint, run.ID)
	results := t.tx.SendBatch(ctx, batch)
	defer results.Close() //nolint:errcheck // an error shows in the reads
	if _, err := results.Exec(); err != nil {
		return 0, wrap("mark events as processed", err)
	}
	tag, err := results.Exec()
	return int(tag.RowsAffected()), wrap("insert missing deliveries", err)
}

// ReopenEvents puts events that an operation is about back to be decided, and
// returns those that it put back, in the order of their ids.
//
// The promise: only what is still in the status that is asked for is decided
// again.
func (t Tx) ReopenEvents(ctx context.Context, run OperationRun, ids []gateway.EventID) ([]gateway.EventID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	low, high := idRange(ids)
	rows, err := t.tx.Query(ctx, eventsInStatus+`
		UPDATE events
		SET status = 'accepted', decision = '', decide_after = now()
		WHERE id = ANY (ARRAY(SELECT id FROM mine))
		  AND id BETWEEN $2 AND $3
		  AND status = $5
		RETURNING id`, ids, low, high, run.AccountID, string(run.Filter.EventStatus))
	if err != nil {
		return nil, wrap("reopen events", err)
	}
	opened, err := pgx.CollectRows(rows, pgx.RowTo[gateway.EventID])
	return opened, wrap("reopen events", err)
}

// eventsInStatus locks an account's events that are in a status, in the order of
// their ids, as everybody locks them.
const eventsInStatus = `
		WITH mine AS (
			SELECT id
			FROM events
			WHERE id = ANY ($1)
			  AND id BETWEEN $2 AND $3
			  AND account_id = $4
			  AND status = $5
			ORDER BY id
			FOR UPDATE
		)`
