package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Whoever changes an endpoint's state together with its lane or deliveries
// locks them in the order that sending does, so that none waits for another in
// a circle: the lane first, the endpoint and its deliveries after it.

// PauseEndpoint stops an endpoint, whether it is active or disabled, and tells
// whether that changed anything. One that is paused, or not there, is not
// changed.
//
// The promise: of two presses of one button, one has an effect.
func (t Tx) PauseEndpoint(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE endpoints
		SET state = 'paused', disabled_reason = '', state_changed_at = now(), updated_at = now()
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		  AND state <> 'paused'`, id, account)
	return tag.RowsAffected() == 1, wrap("pause endpoint", err)
}

// ResumeEndpoint makes an endpoint active, forgets its failures and wakes its
// lane; the caller enqueues the job that drains it.
//
// The promise: nothing is left behind on an active endpoint. The lane's alarm
// rings, even if the job is lost.
func (t Tx) ResumeEndpoint(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) (gateway.Endpoint, error) {
	_, err := t.tx.Exec(ctx, `
		UPDATE lanes
		SET wake_at = now(), failed_probes = 0, sleep_until = NULL
		WHERE endpoint_id = $1
		  AND account_id = $2`, id, account)
	if err != nil {
		return gateway.Endpoint{}, wrap("wake lane", err)
	}
	rows, err := t.tx.Query(ctx, `
		UPDATE endpoints
		SET state = 'active', disabled_reason = '', consecutive_failures = 0, failure_counted_at = NULL, failing_since = NULL, updated_at = now(),
		    state_changed_at = CASE state WHEN 'active' THEN state_changed_at ELSE now() END
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		RETURNING `+endpointFields, id, account)
	return oneEndpoint("resume endpoint", rows, err)
}

// deletedReason is why a deleted endpoint is disabled. Nobody is shown it.
const deletedReason = "deleted"

// cancelledAtOnce is how many open deliveries a deletion cancels by itself: so
// many that most endpoints are done with, so few that those who make deliveries
// wait for the endpoint's lock for a moment only.
const cancelledAtOnce = 500

// DeleteEndpoint makes an endpoint and its secrets end, and cancels what is
// still to be sent there, of a long backlog the beginning: the rest is for
// CancelOpen. What was sent stays, and a send that is under way is still
// recorded. Its uid can be used again.
//
// The promise: nothing is sent to a deleted endpoint and nothing stays open
// there. The row's lock waits for those who are adding deliveries, so that
// they are cancelled too; those who come later do not see the endpoint.
func (t Tx) DeleteEndpoint(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) error {
	if err := t.lockToDelete(ctx, account, id); err != nil {
		return wrap("delete endpoint", err)
	}
	batch := &pgx.Batch{}
	batch.Queue(`
		UPDATE endpoints
		SET deleted_at = now(), updated_at = now(), state = 'disabled', disabled_reason = $3, state_changed_at = now()
		WHERE id = $1
		  AND account_id = $2`, id, account, deletedReason)
	batch.Queue(`
		UPDATE endpoint_secrets
		SET ends_at = now()
		WHERE endpoint_id = $1
		  AND account_id = $2
		  AND (ends_at IS NULL OR ends_at > now())`, id, account)
	if err := t.tx.SendBatch(ctx, batch).Close(); err != nil {
		return wrap("delete endpoint", err)
	}
	_, err := t.CancelOpen(ctx, account, id, cancelledAtOnce)
	return err
}

func (t Tx) lockToDelete(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) error {
	_, err := t.tx.Exec(ctx, `
		UPDATE lanes
		SET wake_at = NULL
		WHERE endpoint_id = $1
		  AND account_id = $2`, id, account)
	if err != nil {
		return err
	}
	tag, err := t.tx.Exec(ctx, `
		SELECT
		FROM endpoints
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		FOR UPDATE`, id, account)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	return err
}

// CancelOpen cancels up to limit open deliveries of a deleted endpoint and
// returns how many there were. When none is left, that is noted, and from then on
// there is nothing to do.
//
// The promise: nothing stays open at a deleted endpoint, and only there is
// anything cancelled. The lane's lock keeps results from being recorded
// meanwhile, which would make pending what was in the air after we looked. What
// they tell is kept as attempts.
func (t Tx) CancelOpen(ctx context.Context, account gateway.AccountID, id gateway.EndpointID, limit int) (int, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE lanes
		SET wake_at = NULL
		WHERE endpoint_id = $1
		  AND account_id = $2
		  AND EXISTS (
			SELECT
			FROM endpoints
			WHERE id = $1
			  AND deleted_at IS NOT NULL
			  AND emptied_at IS NULL)`, id, account)
	if err != nil || tag.RowsAffected() == 0 {
		return 0, wrap("turn off the lane's alarm", err)
	}
	cancelled, err := t.cancelOpen(ctx, account, id, limit)
	if err != nil || cancelled == limit {
		return cancelled, err
	}
	_, err = t.tx.Exec(ctx, `
		UPDATE endpoints
		SET emptied_at = now()
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NOT NULL
		  AND NOT EXISTS (SELECT FROM deliveries WHERE endpoint_id = $1 AND account_id = $2 AND status = 'pending')
		  AND NOT EXISTS (SELECT FROM deliveries WHERE endpoint_id = $1 AND account_id = $2 AND status = 'sending')`, id, account)
	return cancelled, wrap("note that nothing is open", err)
}

// cancelOpen cancels the oldest open deliveries, fewer where others close some
// meanwhile. Those of both statuses are locked by one statement, in the order of
// their ids, as everybody does who changes several: one status after the other
// would wait in a circle with who closes a day.
func (t Tx) cancelOpen(ctx context.Context, account gateway.AccountID, id gateway.EndpointID, limit int) (int, error) {
	open, err := t.oldestOpen(ctx, account, id, limit)
	if err != nil || len(open) == 0 {
		return 0, err
	}
	low, high := idRange(open)
	rows, err := t.tx.Query(ctx, `
		WITH open AS (
			SELECT d.id
			FROM unnest($1::uuid[]) o
			CROSS JOIN LATERAL (
				SELECT id
				FROM deliveries
				WHERE id = o
				  AND id BETWEEN $2 AND $3
				  AND account_id = $4
				  AND status = ANY ($5)
				FOR UPDATE
			) d
		)
		UPDATE deliveries d
		SET status = 'cancelled', closed_at = now(), next_attempt_at = NULL, waiting_on = NULL
		WHERE d.id = ANY (ARRAY(SELECT id FROM open))
		  AND d.id BETWEEN $2 AND $3
		  AND d.status = ANY ($5)
		RETURNING d.claim_id`, open, low, high, account, openStatuses)
	n, err := t.passTurnsOfClosed(ctx, rows, err)
	return n, wrap("cancel open deliveries", err)
}

// openStatuses are those of deliveries that are still to be sent.
var openStatuses = []string{string(gateway.DeliveryPending), string(gateway.DeliverySending)}

// oldestOpen finds an endpoint's oldest open deliveries. The statuses are
// literals: a generic plan can use their partial indexes.
func (t Tx) oldestOpen(ctx context.Context, account gateway.AccountID, id gateway.EndpointID, limit int) ([]gateway.DeliveryID, error) {
	rows, err := t.tx.Query(ctx, `
		SELECT id
		FROM (
			(SELECT id FROM deliveries WHERE endpoint_id = $1 AND account_id = $2 AND status = 'pending' ORDER BY id LIMIT $3)
			UNION ALL
			(SELECT id FROM deliveries WHERE endpoint_id = $1 AND account_id = $2 AND status = 'sending' ORDER BY id LIMIT $3)
		) o
		ORDER BY id
		LIMIT $3`, id, account, limit)
	if err != nil {
		return nil, wrap("find open deliveries", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[gateway.DeliveryID])
	return ids, wrap("find open deliveries", err)
}

// LeavingEndpoints returns deleted endpoints where something may still be open:
// who deleted them did not get to the end.
func (s *Store) LeavingEndpoints(ctx context.Context, limit int) ([]LaneRef, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT account_id, id
		FROM endpoints
		WHERE deleted_at IS NOT NULL
		  AND emptied_at IS NULL
		ORDER BY id
		LIMIT $1`, limit)
	if err != nil {
		return nil, wrap("look for leaving endpoints", err)
	}
	refs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[LaneRef])
	return refs, wrap("look for leaving endpoints", err)
}
