package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Stats is what happened in some time: how many attempts ended how.
type Stats struct {
	Succeeded, Rejected, Unreachable, Unknown int64
	// GaveUp is how many of those that did not succeed ended their delivery.
	GaveUp int64
	// Duration is the time of all attempts together.
	Duration time.Duration
	// Latencies are how long the answers took; an attempt without one is not
	// in them.
	Latencies Latencies
}

// Count adds one attempt. gaveUp tells that it ended its delivery as failed.
func (y *Stats) Count(outcome gateway.Outcome, took time.Duration, gaveUp bool) {
	switch outcome {
	case gateway.OutcomeSucceeded:
		y.Succeeded++
		y.Latencies.Count(took)
	case gateway.OutcomeRejected:
		y.Rejected++
		y.Latencies.Count(took)
	case gateway.OutcomeUnreachable:
		y.Unreachable++
	case gateway.OutcomeUnknown:
		y.Unknown++
	}
	if gaveUp {
		y.GaveUp++
	}
	y.Duration += took
}

// Add adds what was counted elsewhere, or at another time.
func (y *Stats) Add(more Stats) {
	y.Succeeded += more.Succeeded
	y.Rejected += more.Rejected
	y.Unreachable += more.Unreachable
	y.Unknown += more.Unknown
	y.GaveUp += more.GaveUp
	y.Duration += more.Duration
	for i, n := range more.Latencies {
		y.Latencies[i] += n
	}
}

// Failed is how many attempts did not succeed.
func (y Stats) Failed() int64 { return y.Rejected + y.Unreachable + y.Unknown }

// Attempts is how many there were.
func (y Stats) Attempts() int64 { return y.Succeeded + y.Failed() }

// Retried is how many attempts failed and were not the delivery's last.
func (y Stats) Retried() int64 { return max(y.Failed()-y.GaveUp, 0) }

// P95 is how long 19 of 20 answers took at most; zero when there was none.
func (y Stats) P95() time.Duration { return y.Latencies.Quantile(0.95) }

// The spans that rollups are kept by.
const (
	minutes    = 1
	quarters   = 15
	twoHours   = 120
	everyThree = `(VALUES (1), (15), (120)) AS s (span)`
)

// spanFor returns the longest span, in minutes, that a step is made of.
func spanFor(step time.Duration) int {
	for _, span := range []int{twoHours, quarters} {
		if step%(time.Duration(span)*time.Minute) == 0 {
			return span
		}
	}
	return minutes
}

// addTally adds to the row of the present span of each length.
var addTally = `
	INSERT INTO rollups AS r (minute, span, endpoint_id, node, account_id,
	                          succeeded, rejected, unreachable, unknown, gave_up, duration_us,
	                          ` + eachLatency(`%[1]s`) + `)
	SELECT ` + binOf(`s.span * interval '1 minute'`, `now()`) + `, s.span, $1, $2, $3, $4, $5, $6, $7, $8, $9,
	       ` + eachLatency(`($10::integer[])[%[2]d]`) + `
	FROM ` + everyThree + `
	ON CONFLICT (endpoint_id, span, minute, node) DO UPDATE
	SET succeeded = r.succeeded + EXCLUDED.succeeded,
	    rejected = r.rejected + EXCLUDED.rejected,
	    unreachable = r.unreachable + EXCLUDED.unreachable,
	    unknown = r.unknown + EXCLUDED.unknown,
	    gave_up = r.gave_up + EXCLUDED.gave_up,
	    duration_us = r.duration_us + EXCLUDED.duration_us,
	    ` + eachLatency(`%[1]s = r.%[1]s + EXCLUDED.%[1]s`)

// binOf says in which bin of a length a time lies. Bins begin with the UTC day,
// of which each length is a part.
func binOf(length, at string) string {
	return `date_bin(` + length + `, ` + at + `, timestamptz '2000-01-01 00:00:00+00')`
}

// AddTally adds to the endpoint's present spans, on rows of this node alone.
func (t Tx) AddTally(ctx context.Context, lane Lane, node string, y Stats) error {
	if y == (Stats{}) {
		return nil
	}
	_, err := t.tx.Exec(ctx, addTally, lane.EndpointID, node, lane.AccountID,
		y.Succeeded, y.Rejected, y.Unreachable, y.Unknown, y.GaveUp, y.Duration.Microseconds(), y.Latencies[:])
	return wrap("add to rollup", err)
}

// addedUp reads Stats, as scanStats expects them.
var addedUp = `coalesce(sum(succeeded), 0)::bigint, coalesce(sum(rejected), 0)::bigint,
	       coalesce(sum(unreachable), 0)::bigint, coalesce(sum(unknown), 0)::bigint,
	       coalesce(sum(gave_up), 0)::bigint, coalesce(sum(duration_us), 0)::bigint,
	       ` + eachLatency(`coalesce(sum(%[1]s), 0)`)

// scanStats reads what stands first in a row into the others, and then Stats.
func scanStats(row pgx.Row, y *Stats, first ...any) error {
	var took int64
	into := append(first, &y.Succeeded, &y.Rejected, &y.Unreachable, &y.Unknown, &y.GaveUp, &took)
	for i := range y.Latencies {
		into = append(into, &y.Latencies[i])
	}
	err := row.Scan(into...)
	y.Duration = micros(took)
	return err
}

// EndpointStats adds up an endpoint's minutes since a time.
func (s *Store) EndpointStats(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, since time.Time) (Stats, error) {
	var y Stats
	err := scanStats(s.pool.QueryRow(ctx, `
		SELECT `+addedUp+`
		FROM rollups
		WHERE endpoint_id = $1
		  AND account_id = $2
		  AND span = 1
		  AND minute >= $3`, endpoint, account, since), &y)
	return y, wrap("add up rollups", err)
}
