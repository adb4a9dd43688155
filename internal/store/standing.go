package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// MaxStandingCount is up to where what is open, and the jobs of one state, are
	// counted: that many may be more.
	MaxStandingCount = 10_000
	// MaxStandingClaims is up to where an account's claims in doubt are counted.
	MaxStandingClaims = 100
	// standingLanes is how many lanes are asked for what is due: half of those that
	// are held, longest first, and half of those whose alarm rings.
	standingLanes = 200
	// standingEvents is how many undecided events are looked at for the oldest.
	standingEvents = 1000
	// StandingDays is up to where the days that are made ahead are counted.
	StandingDays = 60
)

// Standing is how the whole instance stands, as far as an operator watches it.
type Standing struct {
	// DueFor is how long the longest due delivery of an active endpoint waits, by
	// its priority; zero where none is due.
	DueFor [gateway.PriorityBulk + 1]time.Duration
	// Pending and Sending are open deliveries of active endpoints, Held those of
	// others. Of what is pending, and of what is sending, no more than
	// MaxStandingCount are counted.
	Pending, Sending, Held int
	// UndecidedFor is how long the longest due event waits to be decided.
	UndecidedFor time.Duration
	// SingleFireInDoubt and LedgerInDoubt are claims whose lease has ended while
	// somebody held them, of each account up to MaxStandingClaims.
	SingleFireInDoubt, LedgerInDoubt int
	// DaysAhead is for how many days after today every big table has a partition,
	// up to StandingDays.
	DaysAhead int
	// Jobs are those that are not done, by queue and state.
	Jobs []JobStanding
}

// StandingJobStates are those of jobs that are not done.
var StandingJobStates = []string{"available", "pending", "retryable", "running", "scheduled", "discarded"}

// JobStanding is how many jobs of a queue are in a state.
type JobStanding struct {
	Queue, State string
	Jobs         int
}

// Standing looks how the instance stands. It reads what is open, through indexes
// of what is open, and each part of it up to a bound: it costs the same beside a
// long history and a large backlog.
func (s *Store) Standing(ctx context.Context) (n Standing, err error) {
	batch := &pgx.Batch{}
	n.queueDue(batch)
	n.queueOpen(batch)
	n.queueUndecided(batch)
	n.queueClaims(batch)
	n.queueDays(batch)
	n.queueJobs(batch)
	return n, wrap("look how the instance stands", s.pool.SendBatch(ctx, batch).Close())
}

// queueDue asks what is due for longest: of lanes that are held, and of those
// whose alarm rings. A lane that sleeps after failures is not asked: its endpoint
// is waited for.
func (n *Standing) queueDue(batch *pgx.Batch) {
	batch.Queue(`
		SELECT p.priority, extract(epoch FROM now() - min(d.next_attempt_at))::float8
		FROM (
			(SELECT endpoint_id
			 FROM lanes
			 WHERE leased_until IS NOT NULL
			 ORDER BY held_since
			 LIMIT $1)
			UNION ALL
			(SELECT endpoint_id
			 FROM lanes
			 WHERE leased_until IS NULL
			   AND wake_at <= now() + $2::interval
			   AND (sleep_until IS NULL OR sleep_until <= now())
			 ORDER BY wake_at
			 LIMIT $1)
		) l
		JOIN endpoints e
		  ON e.id = l.endpoint_id
		 AND e.state = 'active'
		 AND e.deleted_at IS NULL
		CROSS JOIN (VALUES (0), (1), (2)) AS p (priority)
		CROSS JOIN LATERAL (
			SELECT next_attempt_at
			FROM deliveries
			WHERE endpoint_id = l.endpoint_id
			  AND priority = p.priority
			  AND status = 'pending'
			  AND next_attempt_at <= now()
			  AND `+notAhead+`
			ORDER BY next_attempt_at
			LIMIT 1
		) d
		GROUP BY p.priority`, standingLanes/2, alarmPush).
		Query(func(rows pgx.Rows) error {
			var priority int
			var seconds float64
			_, err := pgx.ForEachRow(rows, []any{&priority, &seconds}, func() error {
				n.DueFor[priority] = fromSeconds(seconds)
				return nil
			})
			return err
		})
}

// queueOpen counts what is open.
func (n *Standing) queueOpen(batch *pgx.Batch) {
	for status, into := range map[string]*int{"pending": &n.Pending, "sending": &n.Sending} {
		batch.Queue(`
			SELECT count(*) FILTER (WHERE p.state = 'active'), count(*) FILTER (WHERE p.state <> 'active')
			FROM (
				SELECT endpoint_id
				FROM deliveries
				WHERE status = '`+status+`'
				  AND `+notAhead+`
				LIMIT $1
			) d
			JOIN endpoints p
			  ON p.id = d.endpoint_id`, MaxStandingCount).
			QueryRow(func(row pgx.Row) error {
				var held int
				err := row.Scan(into, &held)
				n.Held += held
				return err
			})
	}
}

// queueUndecided asks what waits for longest to be decided. Of an event that the
// sweep gave a job, which puts its turn off, it is since it came.
func (n *Standing) queueUndecided(batch *pgx.Batch) {
	batch.Queue(`
		SELECT coalesce(extract(epoch FROM now() - min(CASE WHEN e.sweeps = 0 THEN e.decide_after ELSE e.came END)), 0)::float8
		FROM (
			SELECT sweeps, decide_after, `+timeOfID+` AS came
			FROM events
			WHERE status = 'accepted'
			  AND (wait_until IS NULL OR wait_until <= now())
			  AND `+notAhead+`
			ORDER BY decide_after
			LIMIT $1
		) e`, standingEvents).
		QueryRow(func(row pgx.Row) error {
			var seconds float64
			err := row.Scan(&seconds)
			n.UndecidedFor = fromSeconds(seconds)
			return err
		})
}

// queueClaims counts the claims in doubt, account by account, as they are indexed.
func (n *Standing) queueClaims(batch *pgx.Batch) {
	batch.Queue(`
		SELECT count(*) FILTER (WHERE c.single_fire), count(*) FILTER (WHERE NOT c.single_fire)
		FROM accounts a
		CROSS JOIN LATERAL (
			SELECT event_type IS NOT NULL AS single_fire
			FROM claims
			WHERE account_id = a.id
			  AND state = 'in_progress'
			  AND lease_expires_at < now()
			LIMIT $1
		) c`, MaxStandingClaims).
		QueryRow(func(row pgx.Row) error { return row.Scan(&n.SingleFireInDoubt, &n.LedgerInDoubt) })
}

// queueDays counts the days that are made ahead, up to the first that is missing.
func (n *Standing) queueDays(batch *pgx.Batch) {
	batch.Queue(`
		SELECT coalesce(min(day), $1::int + 1) - 1
		FROM generate_series(1, $1::int) AS day
		CROSS JOIN unnest(ARRAY['events', 'event_bodies', 'requests', 'deliveries', 'attempts']) AS parent
		WHERE to_regclass(parent || '_' || to_char((now() AT TIME ZONE 'UTC')::date + day, 'YYYYMMDD')) IS NULL`, StandingDays).
		QueryRow(func(row pgx.Row) error { return row.Scan(&n.DaysAhead) })
}

// queueJobs counts the jobs that are not done.
func (n *Standing) queueJobs(batch *pgx.Batch) {
	batch.Queue(`
		SELECT j.queue, s.state::text, count(*)
		FROM unnest($2::text[]::river_job_state[]) AS s (state)
		CROSS JOIN LATERAL (
			SELECT queue
			FROM river_job
			WHERE state = s.state
			LIMIT $1
		) j
		GROUP BY j.queue, s.state
		ORDER BY j.queue, s.state`, MaxStandingCount, StandingJobStates).
		Query(func(rows pgx.Rows) (err error) {
			n.Jobs, err = pgx.CollectRows(rows, pgx.RowToStructByPos[JobStanding])
			return err
		})
}

func fromSeconds(seconds float64) time.Duration {
	return max(time.Duration(seconds*float64(time.Second)), 0)
}
