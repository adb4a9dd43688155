package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// DeliveryInTx reads one delivery within the transaction.
func (t Tx) DeliveryInTx(ctx context.Context, account gateway.AccountID, id gateway.DeliveryID) (gateway.Delivery, error) {
	rows, err := t.tx.Query(ctx, deliveryByID, id, account)
	if err != nil {
		return gateway.Delivery{}, wrap("read delivery", err)
	}
	delivery, err := pgx.CollectExactlyOneRow(rows, scanDelivery)
	return delivery, wrap("read delivery", err)
}

// Reopen makes a closed delivery due now, with its schedule at the start, and
// a pending one due now without changing its schedule. seen is how many
// attempts the presser saw. It tells whether something changed.
//
// The promise: of two presses that saw the same, one makes a new attempt, and
// nothing is opened at a deleted endpoint: the caller has woken the lane, for
// whose lock a deletion waits. A fact that the receiver has confirmed is not
// opened, unless that is overridden, and not while another delivery of it may be
// in the air, or a person is to decide about it; taking asks again.
func (t Tx) Reopen(ctx context.Context, account gateway.AccountID, id gateway.DeliveryID, seen int, trigger gateway.Trigger, override bool) (bool, error) {
	// A delivery carries its event's time.
	low, high := gateway.FirstIDAt[gateway.EventID](id.Time()), gateway.FirstIDAt[gateway.EventID](id.Time().Add(time.Millisecond))
	tag, err := t.tx.Exec(ctx, `
		UPDATE deliveries d
		SET status = 'pending',
		    next_attempt_at = now(),
		    priority = 0,
		    step = CASE WHEN d.status = 'pending' THEN d.step ELSE 0 END,
		    trigger = $4,
		    closed_at = NULL,
		    waiting_on = NULL,
		    overrides_claim = $8 AND EXISTS (SELECT FROM claims c WHERE c.id = d.claim_id AND c.state = 'done')
		FROM events e
		WHERE d.id = $1
		  AND d.account_id = $2
		  AND e.id = d.event_id
		  AND e.id >= $6
		  AND e.id < $7
		  AND e.payload_deleted_at IS NULL
		  AND d.attempts = $3::bigint
		  AND d.attempts <= $5
		  AND EXISTS (SELECT FROM endpoints p WHERE p.id = d.endpoint_id AND p.deleted_at IS NULL)
		  AND d.status IN ('pending', 'delivered', 'failed', 'suppressed', 'cancelled', 'expired')
		  AND NOT EXISTS (
			SELECT
			FROM claims c
			WHERE c.id = d.claim_id
			  AND (c.state = 'done' AND NOT $8
			       OR c.state = 'in_progress' AND (c.on_doubt = 'hold' OR c.lease_expires_at > clock_timestamp())))`,
		id, account, seen, string(trigger), gateway.MaxReopenedAttempts, low, high, override)
	return tag.RowsAffected() == 1, wrap("reopen delivery", err)
}

// CancelDelivery closes an open delivery. It tells whether it was open.
//
// The promise: what was cancelled is not sent again; what is in the air keeps
// its attempt.
func (t Tx) CancelDelivery(ctx context.Context, account gateway.AccountID, id gateway.DeliveryID) (bool, error) {
	var claim *gateway.ClaimID
	err := t.tx.QueryRow(ctx, `
		UPDATE deliveries
		SET status = 'cancelled',
		    next_attempt_at = NULL,
		    waiting_on = NULL,
		    closed_at = now()
		WHERE id = $1
		  AND account_id = $2
		  AND status IN ('pending', 'sending')
		RETURNING claim_id`, id, account).Scan(&claim)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case err != nil:
		return false, wrap("cancel delivery", err)
	case claim == nil:
		return true, nil
	}
	return true, t.passTurnsOf(ctx, []gateway.ClaimID{*claim})
}

// EventDeliveries lists an event's deliveries, to all endpoints or to one,
// newest first. Whoever changes several of them begins with the last, as all
// lock deliveries in the order of their ids.
func (t Tx) EventDeliveries(ctx context.Context, account gateway.AccountID, event gateway.EventID, endpoint *gateway.EndpointID) ([]gateway.Delivery, error) {
	q := deliveriesQuery(account, DeliveryFilter{Event: &event, Endpoint: endpoint}, Page[gateway.DeliveryID]{Limit: maxEventDeliveries})
	rows, err := t.tx.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("list the event's deliveries", err)
	}
	deliveries, err := pgx.CollectRows(rows, scanDelivery)
	return deliveries, wrap("list the event's deliveries", err)
}

// maxEventDeliveries is above the number of endpoints that an account can have.
const maxEventDeliveries = 100_000

// InsertTested stores a delivery that was made by hand and is closed already,
// with its attempt.
func (t Tx) InsertTested(ctx context.Context, a gateway.Attempt, status gateway.DeliveryStatus) error {
	lane := Lane{AccountID: a.AccountID, EndpointID: a.EndpointID}
	batch := &pgx.Batch{}
	batch.Queue(`
		INSERT INTO deliveries (id, account_id, event_id, endpoint_id, status, trigger, attempts, step,
		                        last_outcome, last_error_kind, last_status_code, closed_at)
		VALUES ($1, $2, $3, $4, $5, 'test', 1, 1, $6, $7, $8, now())
		ON CONFLICT (id) DO NOTHING`,
		a.DeliveryID, a.AccountID, a.EventID, a.EndpointID, string(status), string(a.Outcome), string(a.ErrorKind), a.StatusCode)
	queueAttempts(batch, lane, []Result{{Attempt: a}})
	return wrap("store the test delivery", t.tx.SendBatch(ctx, batch).Close())
}
