package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// shownStatus is a delivery's status as people see it: an open one whose
// endpoint is not active is held. It needs deliveries d and endpoints p.
const shownStatus = `CASE WHEN d.status IN ('pending', 'sending') AND p.state <> 'active' THEN 'held' ELSE d.status END`

const deliveryFields = `d.id, d.account_id, d.event_id, d.endpoint_id, ` + shownStatus + `, d.trigger, d.attempts,
	d.next_attempt_at, d.last_outcome, d.last_error_kind, d.last_status_code, d.created_at, d.closed_at,
	d.failover_of, d.failover_to, d.claim_id, d.waiting_on`

// DeliveryFilter narrows a list of deliveries; the zero value narrows nothing.
type DeliveryFilter struct {
	Endpoint *gateway.EndpointID
	Event    *gateway.EventID
	// Status is a shown one: pending leaves held ones out.
	Status  gateway.DeliveryStatus
	Outcome gateway.Outcome
	// Cause is why the last attempt failed.
	Cause *gateway.Cause
	// Operation is the one that opened them last.
	Operation *gateway.OperationID
	// Claim is that of a single-fire type's fact.
	Claim *gateway.ClaimID
	// Troubled asks for those whose last attempt did not succeed.
	Troubled bool
}

// outcome is the last attempt's that is asked for, if any: also by its cause,
// which without a status would be looked for in all deliveries.
func (f DeliveryFilter) outcome() gateway.Outcome {
	if f.Outcome == "" && f.Cause != nil && f.Status == "" {
		return f.Cause.Outcome()
	}
	return f.Outcome
}

func scanDelivery(row pgx.CollectableRow) (d gateway.Delivery, err error) {
	err = row.Scan(&d.ID, &d.AccountID, &d.EventID, &d.EndpointID, &d.Status, &d.Trigger, &d.Attempts,
		&d.NextAttemptAt, &d.LastOutcome, &d.LastCause.ErrorKind, &d.LastCause.StatusCode, &d.CreatedAt, &d.ClosedAt,
		&d.FailoverOf, &d.FailoverTo, &d.ClaimID, &d.WaitingOn)
	return d, err
}

// Delivery reads one delivery.
func (s *Store) Delivery(ctx context.Context, account gateway.AccountID, id gateway.DeliveryID) (gateway.Delivery, error) {
	rows, err := s.pool.Query(ctx, deliveryByID, id, account)
	if err != nil {
		return gateway.Delivery{}, wrap("read delivery", err)
	}
	delivery, err := pgx.CollectExactlyOneRow(rows, scanDelivery)
	return delivery, s.missing(ctx, account, id.Time(), wrap("read delivery", err))
}

const deliveryByID = `
	SELECT ` + deliveryFields + `
	FROM deliveries d
	JOIN endpoints p
	  ON p.id = d.endpoint_id
	WHERE d.id = $1
	  AND d.account_id = $2`

// Deliveries lists an account's deliveries, newest event first.
func (s *Store) Deliveries(ctx context.Context, account gateway.AccountID, f DeliveryFilter, page Page[gateway.DeliveryID]) ([]gateway.Delivery, error) {
	q := deliveriesQuery(account, f, page)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("list deliveries", err)
	}
	deliveries, err := pgx.CollectRows(rows, scanDelivery)
	return deliveries, wrap("list deliveries", err)
}

func deliveriesQuery(account gateway.AccountID, f DeliveryFilter, page Page[gateway.DeliveryID]) *query {
	if isOpenStatus(f.Status) {
		return openDeliveriesQuery(account, f, page)
	}
	q := &query{}
	q.add(`SELECT `+deliveryFields+`
		FROM deliveries d
		JOIN endpoints p
		  ON p.id = d.endpoint_id
		WHERE d.account_id = `, account)
	q.addDeliveryFilter(f, page)
	if f.Endpoint != nil {
		q.add(` AND d.endpoint_id = `, *f.Endpoint)
	}
	q.addClosedStatus(f.Status)
	q.add(` ORDER BY d.id DESC LIMIT `, page.Limit)
	return q
}

// addDeliveryFilter adds what narrows deliveries d by their own columns.
func (q *query) addDeliveryFilter(f DeliveryFilter, page Page[gateway.DeliveryID]) {
	low, high := page.bounds()
	if f.Event != nil {
		from, to := sameMillisecond(*f.Event)
		low, high = laterID(low, from), earlierID(high, to)
	}
	addRange(q, `d.id`, low, high)
	if f.Event != nil {
		q.add(` AND d.event_id = `, *f.Event)
	}
	if f.Operation != nil {
		q.add(` AND d.operation_id = `, *f.Operation)
		q.put(` AND d.operation_id IS NOT NULL`)
	}
	if f.Claim != nil {
		q.add(` AND d.claim_id = `, *f.Claim)
	}
	if outcome := f.outcome(); outcome != "" {
		q.add(` AND d.last_outcome = `, string(outcome))
		if outcome != gateway.OutcomeSucceeded {
			q.put(` AND d.last_outcome <> 'succeeded'`)
		}
	}
	if f.Troubled {
		q.put(` AND d.last_outcome <> 'succeeded'`)
	}
	if f.Cause != nil {
		q.add(` AND d.last_error_kind = `, string(f.Cause.ErrorKind))
		q.add(` AND d.last_status_code = `, f.Cause.StatusCode)
	}
}

// addClosedStatus filters by a status that is shown as it is stored. The
// literals let a generic plan use the partial index of the rare ones.
func (q *query) addClosedStatus(status gateway.DeliveryStatus) {
	if status == "" {
		return
	}
	q.add(` AND d.status = `, string(status))
	if status != gateway.DeliveryDelivered {
		q.put(` AND d.status IN ('failed', 'suppressed', 'cancelled', 'expired')`)
	}
}

func laterID[I gateway.AnyID](a, b I) I {
	if compareIDs(a, b) > 0 {
		return a
	}
	return b
}

func earlierID[I gateway.AnyID](a, b I) I {
	if compareIDs(a, b) < 0 {
		return a
	}
	return b
}
