package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Result is how one attempt ended and what follows.
type Result struct {
	Attempt gateway.Attempt
	// Status is the delivery's next one; NextAttemptAt is set for pending.
	Status        gateway.DeliveryStatus
	NextAttemptAt time.Time
	// NoAttempt tells that nothing was sent: the payload is gone, or it was too late
	// to begin, or nobody listened.
	NoAttempt bool
}

// Record writes results of a lane: the deliveries that are still this drain's,
// and every attempt. It returns which attempts changed their delivery.
//
// The promise: a result is recorded by the drain that sent it, once. A row
// that was taken over, cancelled or recorded before is not touched, nor one
// that was cancelled and is being sent anew; the attempt is kept all the same.
func (t Tx) Record(ctx context.Context, lane Lane, results []Result) (map[gateway.AttemptID]bool, error) {
	changed := make(map[gateway.AttemptID]bool, len(results))
	if len(results) == 0 {
		return changed, nil
	}
	// In the order of their ids, as all lock deliveries.
	results = slices.SortedFunc(slices.Values(results), func(a, b Result) int { return compareIDs(a.Attempt.DeliveryID, b.Attempt.DeliveryID) })
	var c resultColumns
	for i := range results {
		c.add(&results[i])
	}
	low, high := idRange(c.ids)
	batch := &pgx.Batch{}
	batch.Queue(`
		UPDATE deliveries d
		SET status = u.status,
		    next_attempt_at = u.next,
		    attempts = d.attempts - u.untried,
		    step = d.step - u.untried,
		    last_outcome = CASE WHEN u.untried = 1 THEN d.last_outcome ELSE NULLIF(u.outcome, '') END,
		    last_error_kind = CASE WHEN u.untried = 1 THEN d.last_error_kind ELSE u.kind END,
		    last_status_code = CASE WHEN u.untried = 1 THEN d.last_status_code ELSE u.code END,
		    priority = GREATEST(d.priority, 1 - u.untried),
		    closed_at = CASE WHEN u.status <> 'pending' THEN now() END
		FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::timestamptz[], $10::text[], $11::int[], $12::int[])
		  AS u (id, n, status, outcome, next, kind, code, untried)
		WHERE d.id = u.id
		  AND d.id = ANY ($1)
		  AND d.id BETWEEN $6 AND $7
		  AND d.status = $9
		  AND d.fence = $8
		  AND d.attempts = u.n
		RETURNING d.id, u.n`,
		c.ids, c.numbers, c.statuses, c.outcomes, c.nexts, low, high, lane.Fence, string(gateway.DeliverySending), c.kinds, c.codes, c.untried).
		Query(func(rows pgx.Rows) error {
			var id gateway.DeliveryID
			var n int
			_, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error {
				changed[gateway.DeriveAttemptID(id, n)] = true
				return nil
			})
			return err
		})
	queueAttempts(batch, lane, results)
	return changed, wrap("record results", t.tx.SendBatch(ctx, batch).Close())
}

// untried is one for what goes back as if it had not been taken: its number and
// its place in the schedule are those of the next attempt.
func (r *Result) untried() int {
	if r.NoAttempt && r.Status == gateway.DeliveryPending {
		return 1
	}
	return 0
}

// resultColumns turns results into the arrays that one UPDATE takes.
type resultColumns struct {
	ids                       []gateway.DeliveryID
	numbers, codes, untried   []int
	statuses, outcomes, kinds []string
	nexts                     []*time.Time
}

func (c *resultColumns) add(r *Result) {
	c.ids = append(c.ids, r.Attempt.DeliveryID)
	c.numbers = append(c.numbers, r.Attempt.N)
	c.codes = append(c.codes, r.Attempt.StatusCode)
	c.statuses = append(c.statuses, string(r.Status))
	c.outcomes = append(c.outcomes, string(r.Attempt.Outcome))
	c.kinds = append(c.kinds, string(r.Attempt.ErrorKind))
	c.nexts = append(c.nexts, nullTime(r.NextAttemptAt))
	c.untried = append(c.untried, r.untried())
}

// queueAttempts adds the statement that stores the attempts.
func queueAttempts(batch *pgx.Batch, lane Lane, results []Result) {
	var c attemptColumns
	for i := range results {
		if !results[i].NoAttempt {
			c.add(&results[i].Attempt)
		}
	}
	if len(c.deliveries) == 0 {
		return
	}
	batch.Queue(insertAttempts, c.deliveries, c.numbers, lane.AccountID, lane.EndpointID, c.events, c.triggers, lane.Fence,
		c.started, c.durations, c.dns, c.connect, c.tls, c.firstByte, c.outcomes, c.kinds, c.details, c.codes,
		c.requestHeaders, c.responseHeaders, c.responseBodies)
}

const insertAttempts = `
	INSERT INTO attempts (delivery_id, n, account_id, endpoint_id, event_id, trigger, fence,
	                      started_at, duration_us, dns_us, connect_us, tls_us, first_byte_us,
	                      outcome, error_kind, detail, status_code, request_headers, response_headers, response_body)
	SELECT u.delivery_id, u.n, $3, $4, u.event_id, u.trigger, $7,
	       u.started_at, u.duration_us, u.dns_us, u.connect_us, u.tls_us, u.first_byte_us,
	       u.outcome, u.error_kind, u.detail, u.status_code, u.request_headers, u.response_headers, u.response_body
	FROM unnest($1::uuid[], $2::int[], $5::uuid[], $6::text[],
	            $8::timestamptz[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[],
	            $14::text[], $15::text[], $16::text[], $17::int[], $18::bytea[], $19::bytea[], $20::bytea[])
	  AS u (delivery_id, n, event_id, trigger,
	        started_at, duration_us, dns_us, connect_us, tls_us, first_byte_us,
	        outcome, error_kind, detail, status_code, request_headers, response_headers, response_body)
	ON CONFLICT (delivery_id, n) DO NOTHING`

// attemptColumns turns attempts into the arrays that one INSERT takes.
type attemptColumns struct {
	deliveries                                      []gateway.DeliveryID
	numbers                                         []int
	events                                          []gateway.EventID
	triggers                                        []string
	started                                         []time.Time
	durations, dns, connect, tls, firstByte         []int64
	outcomes, kinds, details                        []string
	codes                                           []int
	requestHeaders, responseHeaders, responseBodies [][]byte
}

func (c *attemptColumns) add(a *gateway.Attempt) {
	c.deliveries = append(c.deliveries, a.DeliveryID)
	c.numbers = append(c.numbers, a.N)
	c.events = append(c.events, a.EventID)
	c.triggers = append(c.triggers, string(a.Trigger))
	c.started = append(c.started, a.StartedAt)
	c.durations = append(c.durations, a.Duration.Microseconds())
	c.dns = append(c.dns, a.Timing.DNS.Microseconds())
	c.connect = append(c.connect, a.Timing.Connect.Microseconds())
	c.tls = append(c.tls, a.Timing.TLS.Microseconds())
	c.firstByte = append(c.firstByte, a.Timing.FirstByte.Microseconds())
	c.outcomes = append(c.outcomes, string(a.Outcome))
	c.kinds = append(c.kinds, string(a.ErrorKind))
	c.details = append(c.details, a.Detail)
	c.codes = append(c.codes, a.StatusCode)
	c.requestHeaders = append(c.requestHeaders, notNil(a.RequestHeaders))
	c.responseHeaders = append(c.responseHeaders, notNil(a.ResponseHeaders))
	c.responseBodies = append(c.responseBodies, notNil(a.ResponseBody))
}

// ResetFailures ends a run of failures after a success.
func (t Tx) ResetFailures(ctx context.Context, lane Lane) error {
	_, err := t.tx.Exec(ctx, `
		UPDATE endpoints
		SET consecutive_failures = 0,
		    failure_counted_at = NULL,
		    failing_since = NULL
		WHERE id = $1
		  AND account_id = $2
		  AND consecutive_failures <> 0`, lane.EndpointID, lane.AccountID)
	return wrap("reset failures", err)
}

// Counted is a failure in a row.
type Counted struct {
	// Failures is how many there are with it; zero when it was not counted.
	Failures int
	// Since is when the first of them was counted.
	Since time.Time
	// Disabled tells that this one disabled the endpoint.
	Disabled bool
}

// CountFailure counts a failure, unless one was counted within the last
// second, and disables the endpoint at the limit.
//
// The promise: an endpoint is disabled once, whoever counts the last failure,
// and each number is counted by one: whoever gets it tells what it means.
func (t Tx) CountFailure(ctx context.Context, lane Lane, limit int) (c Counted, err error) {
	err = t.tx.QueryRow(ctx, `
		UPDATE endpoints
		SET consecutive_failures = consecutive_failures + 1,
		    failure_counted_at = now(),
		    failing_since = COALESCE(failing_since, now()),
		    state = CASE WHEN consecutive_failures + 1 >= $3 THEN 'disabled' ELSE state END,
		    disabled_reason = CASE WHEN consecutive_failures + 1 >= $3 THEN $4 ELSE disabled_reason END,
		    state_changed_at = CASE WHEN consecutive_failures + 1 >= $3 THEN now() ELSE state_changed_at END
		WHERE id = $1
		  AND account_id = $2
		  AND state = 'active'
		  AND (failure_counted_at IS NULL OR failure_counted_at <= now() - interval '1 second')
		RETURNING consecutive_failures, failing_since, state = 'disabled'`,
		lane.EndpointID, lane.AccountID, limit, fmt.Sprintf("%d failures in a row", limit)).Scan(&c.Failures, &c.Since, &c.Disabled)
	if errors.Is(err, pgx.ErrNoRows) {
		return Counted{}, nil
	}
	return c, wrap("count failure", err)
}

// DisableEndpoint stops an endpoint for a reason. It tells whether this call
// did it.
func (t Tx) DisableEndpoint(ctx context.Context, lane Lane, reason string) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE endpoints
		SET state = 'disabled',
		    disabled_reason = $3,
		    state_changed_at = now()
		WHERE id = $1
		  AND account_id = $2
		  AND state = 'active'`, lane.EndpointID, lane.AccountID, reason)
	return tag.RowsAffected() == 1, wrap("disable endpoint", err)
}
