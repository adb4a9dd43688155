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
		SET state = 'active', disabled_reason = '', consecutive_failures = 0, failure_counted_at = NULL, updated_at = now(),
		    state_changed_at = CASE state WHEN 'active' THEN state_changed_at ELSE now() END
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		RETURNING `+endpointFields, id, account)
	return oneEndpoint("resume endpoint", rows, err)
}

// deletedReason is why a deleted endpoint is disabled. Nobody is shown it.
const deletedReason = "deleted"

// DeleteEndpoint makes an endpoint and its secrets end, and cancels what is
// still to be sent there. What was sent stays, and a send that is under way is
// still recorded. Its uid can be used again.
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
	// One after the other: each has a partial index. The lane's lock keeps rows
	// from passing from one to the other meanwhile.
	for _, open := range []string{"pending", "sending"} {
		batch.Queue(`
			UPDATE deliveries
			SET status = 'cancelled', closed_at = now(), next_attempt_at = NULL, waiting_on = NULL
			WHERE endpoint_id = $1
			  AND account_id = $2
			  AND status = '`+open+`'`, id, account)
	}
	return wrap("delete endpoint", t.tx.SendBatch(ctx, batch).Close())
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
