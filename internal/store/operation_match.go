package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// An operation goes over what it may be about in the order of ids, a bounded
// number at a time: an index leads from one to the next, and what else is asked
// for is looked at row by row. So no step takes long, however rare a match is.

// Looked is one thing that was looked at.
type Looked[I gateway.AnyID] struct {
	ID I
	// Matches tells that the operation is about it.
	Matches bool
	// EndpointID is a delivery's, EventType an event's.
	EndpointID gateway.EndpointID
	EventType  string
}

// LookAtDeliveries looks at the next deliveries after an id, up to limit, in
// the order of ids. Fewer than limit means that there are no more.
//
// The promise: what an operation is about is the same whenever it looks: what
// had closed when it was made, and whose endpoint was there then.
func (s *Store) LookAtDeliveries(ctx context.Context, run OperationRun, after gateway.DeliveryID, limit int) ([]Looked[gateway.DeliveryID], error) {
	q := &query{}
	q.addMatch(run)
	q.addCandidates(run, after, limit)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("look at deliveries", err)
	}
	looked, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Looked[gateway.DeliveryID], err error) {
		return l, row.Scan(&l.ID, &l.EndpointID, &l.Matches)
	})
	return looked, wrap("look at deliveries", err)
}

// addMatch asks of each candidate c whether the operation is about it.
func (q *query) addMatch(run OperationRun) { q.addMatchOf(run, ``) }

// addMatchOf is addMatch with columns behind it.
func (q *query) addMatchOf(run OperationRun, columns string) {
	f := run.Filter
	q.add(`SELECT c.id, c.endpoint_id,
		c.status = ANY (`, texts(closedStatuses(f)))
	q.add(`) AND c.closed_at <= `, run.CreatedAt)
	q.add(` AND c.endpoint_id <> ALL (ARRAY(
			SELECT p.id
			FROM endpoints p
			WHERE p.account_id = `, run.AccountID)
	q.add(` AND p.deleted_at <= `, run.CreatedAt)
	q.put(`))`)
	if f.Endpoint != nil {
		q.add(` AND c.endpoint_id = `, *f.Endpoint)
	}
	if f.Event != nil {
		q.add(` AND c.event_id = `, *f.Event)
	}
	if f.Outcome != "" {
		q.add(` AND coalesce(c.last_outcome, '') = `, string(f.Outcome))
	}
	if run.Kind == gateway.OperationRecoverFailed {
		q.put(` AND c.failover_to IS NULL`) // the next of the chain has got it
	}
	if cause := f.Cause(); cause != nil {
		q.add(` AND c.last_error_kind = `, string(cause.ErrorKind))
		q.add(` AND c.last_status_code = `, cause.StatusCode)
	}
	q.put(columns)
}

// closedStatuses are those that an operation opens again.
func closedStatuses(f gateway.OperationFilter) []gateway.DeliveryStatus {
	if f.Status != "" {
		return []gateway.DeliveryStatus{f.Status}
	}
	return []gateway.DeliveryStatus{
		gateway.DeliveryDelivered, gateway.DeliveryFailed, gateway.DeliverySuppressed, gateway.DeliveryCancelled, gateway.DeliveryExpired,
	}
}

// addCandidates finds candidates by the index that has fewest others in it.
func (q *query) addCandidates(run OperationRun, after gateway.DeliveryID, limit int) {
	f := run.Filter
	q.put(` FROM (SELECT d.id, d.endpoint_id, d.status, d.closed_at, d.last_error_kind, d.last_status_code, d.failover_to`)
	if f.Event != nil {
		q.put(`, d.event_id`)
	}
	if f.Outcome != "" {
		q.put(`, d.last_outcome`)
	}
	q.add(` FROM deliveries d WHERE d.account_id = `, run.AccountID)
	q.addAfter(f, after, gateway.DeliveryID(run.Bound))
	outcome := DeliveryFilter{Status: f.Status, Outcome: f.Outcome, Cause: f.Cause()}.outcome()
	switch {
	case len(f.Deliveries) > 0:
		q.add(` AND d.id = ANY (`, f.Deliveries)
		q.put(`)`)
	case f.Event != nil:
	case f.Status != "" && f.Status != gateway.DeliveryDelivered:
		q.addClosedStatus(f.Status)
	case outcome != "" && outcome != gateway.OutcomeSucceeded:
		q.add(` AND d.last_outcome = `, string(outcome))
		q.put(` AND d.last_outcome <> 'succeeded'`)
	case f.Endpoint != nil:
		q.add(` AND d.endpoint_id = `, *f.Endpoint)
	}
	q.add(` ORDER BY d.id LIMIT `, limit)
	q.put(`) c ORDER BY c.id`)
}

// addAfter bounds the ids of candidates. Those that were named lead to their
// days.
func (q *query) addAfter(f gateway.OperationFilter, after, bound gateway.DeliveryID) {
	if f.Event != nil {
		from, to := sameMillisecond(*f.Event)
		bound = earlierID(bound, to)
		q.add(` AND d.id >= `, from)
	}
	if len(f.Deliveries) > 0 {
		low, high := idRange(f.Deliveries)
		q.add(` AND d.id >= `, low)
		q.add(` AND d.id <= `, high)
	}
	q.add(` AND d.id > `, after)
	q.add(` AND d.id < `, bound)
}

// LookAtEvents looks at the next events after an id, up to limit, in the order
// of ids. Fewer than limit means that there are no more. For
// gateway.OperationRecoverMissing it tells which were decided to go somewhere,
// or would have if somebody had asked: whether the endpoint wants them is for
// the caller to say.
func (s *Store) LookAtEvents(ctx context.Context, run OperationRun, after gateway.EventID, limit int) ([]Looked[gateway.EventID], error) {
	q := &query{}
	q.put(`SELECT c.id, c.type, c.payload_deleted_at IS NULL`)
	f := run.Filter
	if run.Kind == gateway.OperationRecoverMissing {
		q.put(` AND c.status IN ('processed', 'no_endpoints')`)
	}
	if f.Type != "" {
		q.add(` AND c.type = `, f.Type)
	}
	if f.Source != nil {
		q.add(` AND c.source_id = `, *f.Source)
	}
	q.add(` FROM (SELECT e.id, e.type, e.source_id, e.status, e.payload_deleted_at FROM events e WHERE e.account_id = `, run.AccountID)
	q.add(` AND e.id > `, after)
	q.add(` AND e.id < `, gateway.EventID(run.Bound))
	if f.EventStatus != "" {
		q.add(` AND e.status = `, string(f.EventStatus))
		q.put(statusLiteral(f.EventStatus))
	}
	q.add(` ORDER BY e.id LIMIT `, limit)
	q.put(`) c ORDER BY c.id`)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("look at events", err)
	}
	looked, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Looked[gateway.EventID], err error) {
		return l, row.Scan(&l.ID, &l.EventType, &l.Matches)
	})
	return looked, wrap("look at events", err)
}

// KnownDeliveries tells which of the deliveries were ever made. The account is
// compared where they are read, so that each is looked up in the primary key.
func (s *Store) KnownDeliveries(ctx context.Context, account gateway.AccountID, ids []gateway.DeliveryID) (map[gateway.DeliveryID]bool, error) {
	known := make(map[gateway.DeliveryID]bool, len(ids))
	if len(ids) == 0 {
		return known, nil
	}
	low, high := idRange(ids)
	rows, err := s.pool.Query(ctx, `
		SELECT id, account_id
		FROM deliveries
		WHERE id = ANY ($1)
		  AND id BETWEEN $2 AND $3`, ids, low, high)
	if err != nil {
		return nil, wrap("look for deliveries", err)
	}
	var id gateway.DeliveryID
	var owner gateway.AccountID
	_, err = pgx.ForEachRow(rows, []any{&id, &owner}, func() error {
		if owner == account {
			known[id] = true
		}
		return nil
	})
	return known, wrap("look for deliveries", err)
}

// SendableEvents tells which of an account's events can be sent to an endpoint
// that never got them: they are still there with their payload, and were decided
// to go somewhere, or would have been if somebody had asked. Account and status
// are compared where they are read, so that each is looked up in the primary key.
func (s *Store) SendableEvents(ctx context.Context, account gateway.AccountID, ids []gateway.EventID) (map[gateway.EventID]bool, error) {
	sendable := make(map[gateway.EventID]bool, len(ids))
	if len(ids) == 0 {
		return sendable, nil
	}
	low, high := idRange(ids)
	rows, err := s.pool.Query(ctx, `
		SELECT id, account_id, status IN ('processed', 'no_endpoints') AND payload_deleted_at IS NULL
		FROM events
		WHERE id = ANY ($1)
		  AND id BETWEEN $2 AND $3`, ids, low, high)
	if err != nil {
		return nil, wrap("look for events to send", err)
	}
	var id gateway.EventID
	var owner gateway.AccountID
	var ok bool
	_, err = pgx.ForEachRow(rows, []any{&id, &owner, &ok}, func() error {
		if ok && owner == account {
			sendable[id] = true
		}
		return nil
	})
	return sendable, wrap("look for events to send", err)
}
