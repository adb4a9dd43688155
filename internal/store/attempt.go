package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// attemptLine is an attempt without the headers and the answer's body.
const attemptLine = `delivery_id, n, account_id, endpoint_id, event_id, trigger, started_at, duration_us,
	dns_us, connect_us, tls_us, first_byte_us, outcome, error_kind, detail, status_code`

const attemptFields = attemptLine + `, request_headers, response_headers, response_body`

func scanAttempt(row pgx.CollectableRow) (a gateway.Attempt, err error) {
	return a, scanLine(row, &a, &a.RequestHeaders, &a.ResponseHeaders, &a.ResponseBody)
}

func scanAttemptLine(row pgx.CollectableRow) (a gateway.Attempt, err error) {
	return a, scanLine(row, &a)
}

// scanLine reads attemptLine into a, and what follows it into the others.
func scanLine(row pgx.CollectableRow, a *gateway.Attempt, others ...any) error {
	var took, dns, connect, tls, firstByte int64
	err := row.Scan(append([]any{
		&a.DeliveryID, &a.N, &a.AccountID, &a.EndpointID, &a.EventID, &a.Trigger, &a.StartedAt, &took,
		&dns, &connect, &tls, &firstByte, &a.Outcome, &a.ErrorKind, &a.Detail, &a.StatusCode,
	}, others...)...)
	a.Duration = micros(took)
	a.Timing = gateway.Timing{DNS: micros(dns), Connect: micros(connect), TLS: micros(tls), FirstByte: micros(firstByte)}
	return err
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// Attempt reads one attempt.
func (s *Store) Attempt(ctx context.Context, account gateway.AccountID, id gateway.AttemptID) (gateway.Attempt, error) {
	delivery, n, err := gateway.SplitAttemptID(id)
	if err != nil {
		return gateway.Attempt{}, wrap("read attempt", gateway.ErrNotFound)
	}
	rows, err := s.pool.Query(ctx, `
		SELECT `+attemptFields+`
		FROM attempts
		WHERE delivery_id = $1
		  AND n = $2
		  AND account_id = $3`, delivery, n, account)
	if err != nil {
		return gateway.Attempt{}, wrap("read attempt", err)
	}
	attempt, err := pgx.CollectExactlyOneRow(rows, scanAttempt)
	return attempt, s.missing(ctx, account, id.Time(), wrap("read attempt", err))
}

// DeliveryAttempts lists a delivery's attempts, oldest first.
func (s *Store) DeliveryAttempts(ctx context.Context, account gateway.AccountID, delivery gateway.DeliveryID) ([]gateway.Attempt, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+attemptFields+`
		FROM attempts
		WHERE delivery_id = $1
		  AND account_id = $2
		ORDER BY n
		LIMIT $3`, delivery, account, maxAttemptsShown)
	if err != nil {
		return nil, wrap("list the delivery's attempts", err)
	}
	attempts, err := pgx.CollectRows(rows, scanAttempt)
	return attempts, wrap("list the delivery's attempts", err)
}

// maxAttemptsShown bounds what one delivery shows at once; the list of
// attempts has them all.
const maxAttemptsShown = 500

// AttemptFilter narrows a list of attempts; the zero value narrows nothing.
type AttemptFilter struct {
	Endpoint *gateway.EndpointID
	Delivery *gateway.DeliveryID
	Outcome  gateway.Outcome
	// Failed leaves out those that succeeded.
	Failed bool
	// Cause is why it failed.
	Cause *gateway.Cause
	// Since and Until bound when it started: from Since, before Until.
	Since, Until time.Time
}

// AttemptCursor is the last attempt of the page before.
type AttemptCursor struct {
	StartedAt time.Time
	Delivery  gateway.DeliveryID
	N         int
}

// Attempts lists an account's attempts, those that started last first.
func (s *Store) Attempts(ctx context.Context, account gateway.AccountID, f AttemptFilter, before *AttemptCursor, limit int) ([]gateway.Attempt, error) {
	q := attemptsQuery(attemptFields, account, f, before)
	q.addAttemptPlace(f, before, limit)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("list attempts", err)
	}
	attempts, err := pgx.CollectRows(rows, scanAttempt)
	return attempts, wrap("list attempts", err)
}

// attemptsQuery asks for fields of attempts, without the place in the list.
func attemptsQuery(fields string, account gateway.AccountID, f AttemptFilter, before *AttemptCursor) *query {
	q := &query{}
	q.add(`SELECT `+fields+`
		FROM attempts
		WHERE account_id = `, account)
	if f.Endpoint != nil {
		q.add(` AND endpoint_id = `, *f.Endpoint)
	}
	if f.Delivery != nil {
		q.add(` AND delivery_id = `, *f.Delivery)
	}
	if f.Outcome != "" {
		q.add(` AND outcome = `, string(f.Outcome))
	}
	if f.Cause != nil {
		q.add(` AND error_kind = `, string(f.Cause.ErrorKind))
		compare := ` AND status_code = `
		if before != nil && f.Delivery == nil {
			compare = ` AND status_code >= ` // see addAttemptPlace
		}
		q.add(compare, f.Cause.StatusCode)
	}
	if f.Failed || f.Cause != nil || f.Outcome != "" && f.Outcome != gateway.OutcomeSucceeded {
		q.put(` AND outcome <> 'succeeded'`)
	}
	if !f.Since.IsZero() {
		q.add(` AND started_at >= `, f.Since)
	}
	if !f.Until.IsZero() {
		q.add(` AND started_at < `, f.Until)
		// No attempt is older than its event.
		q.add(` AND delivery_id < `, gateway.FirstIDAt[gateway.DeliveryID](f.Until.Add(time.Millisecond)))
	}
	return q
}

// addCursor ends the comparison of an attempt's place with a cursor.
func (q *query) addCursor(begin string, before *AttemptCursor) {
	q.add(begin, before.StartedAt)
	q.add(`, `, before.Delivery)
	q.add(`, `, before.N)
	q.put(`)`)
}

// addAttemptPlace adds the order, and where in it the page is.
func (q *query) addAttemptPlace(f AttemptFilter, before *AttemptCursor, limit int) {
	if f.Delivery != nil {
		// They start in the order of their numbers, in which the key has them.
		if before != nil {
			q.add(` AND n < `, before.N)
		}
		q.add(` ORDER BY n DESC LIMIT `, limit)
		return
	}
	order := ` ORDER BY started_at DESC, delivery_id DESC, n DESC LIMIT `
	switch {
	case before != nil && f.Cause != nil:
		// That it has this status code is said as part of its place, so that the index of
		// causes alone has this order: in any other all that failed would be read.
		q.add(` AND (status_code, started_at, delivery_id, n) < (`, f.Cause.StatusCode)
		q.addCursor(`, `, before)
		order = ` ORDER BY status_code DESC, started_at DESC, delivery_id DESC, n DESC LIMIT `
	case before != nil:
		q.addCursor(` AND (started_at, delivery_id, n) < (`, before)
	}
	q.add(order, limit)
}
