package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// standingFor is how long an answer of the database is told again: however
	// often a node is scraped, it asks no more often.
	standingFor = 15 * time.Second
	// standingTimeout bounds how long the database may take, and how long a scrape
	// waits for it: less than scrapes wait.
	standingTimeout = 5 * time.Second
)

// priorities names them, as pages do.
var priorities = map[int]string{
	gateway.PriorityFirst: "first", gateway.PriorityRetry: "retry", gateway.PriorityBulk: "bulk",
}

// WatchStanding adds how the instance stands. The database is asked when somebody
// scrapes, and no more often than each standingFor; what it says is the same for
// all nodes.
func WatchStanding(registry prometheus.Registerer, log *slog.Logger, now func() time.Time, ask func(context.Context) (store.Standing, error)) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	registry.MustRegister(&standing{
		log: log, now: now, ask: ask,
		up:        desc("rowlock_database_up", "1 when the database answered the last time that it was asked for the numbers that come from it, else 0: then these are left out."),
		took:      desc("rowlock_database_read_seconds", "How long the database took to answer that."),
		dueFor:    desc("rowlock_due_oldest_seconds", "How long the longest due delivery has waited to be sent, by priority; of endpoints that are active and are not waited for after failures.", "priority"),
		open:      desc("rowlock_deliveries_open", "Deliveries that are pending, being sent, or held at an endpoint that is not active; 10000 may be more.", "status"),
		undecided: desc("rowlock_undecided_oldest_seconds", "How long the longest due event has waited to be decided."),
		inDoubt:   desc("rowlock_claims_in_doubt", "Claims whose lease has ended while somebody held them: of single-fire types, and of the ledger; of each account 100 may be more.", "kind"),
		daysAhead: desc("rowlock_partition_days_ahead", "For how many days after today the database has a place for events."),
		jobs:      desc("rowlock_jobs", "Jobs of the queue that are not done; 10000 of one state may be more.", "queue", "state"),
	})
}

// standing asks the database, and remembers what it said.
type standing struct {
	log *slog.Logger
	now func() time.Time
	ask func(context.Context) (store.Standing, error)

	up, took, dueFor, open, undecided, inDoubt, daysAhead, jobs *prometheus.Desc

	mu      sync.Mutex // guards the rest, and has scrapes at the same time ask once
	askedAt time.Time
	answer  store.Standing
	lasted  time.Duration
	failed  bool
}

// Describe tells which metrics there are.
func (s *standing) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{s.up, s.took, s.dueFor, s.open, s.undecided, s.inDoubt, s.daysAhead, s.jobs} {
		to <- desc
	}
}

// Collect tells how the instance stands.
func (s *standing) Collect(to chan<- prometheus.Metric) {
	n, took, ok := s.read()
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	gauge(s.took, took.Seconds())
	if !ok {
		gauge(s.up, 0)
		return
	}
	gauge(s.up, 1)
	for priority, name := range priorities {
		gauge(s.dueFor, n.DueFor[priority].Seconds(), name)
	}
	gauge(s.open, float64(n.Pending), string(gateway.DeliveryPending))
	gauge(s.open, float64(n.Sending), string(gateway.DeliverySending))
	gauge(s.open, float64(n.Held), string(gateway.DeliveryHeld))
	gauge(s.undecided, n.UndecidedFor.Seconds())
	gauge(s.inDoubt, float64(n.SingleFireInDoubt), "single_fire")
	gauge(s.inDoubt, float64(n.LedgerInDoubt), "ledger")
	gauge(s.daysAhead, float64(n.DaysAhead))
	s.collectJobs(n.Jobs, to)
}

// collectJobs tells of every queue that this version has, in every state, and of
// those of other versions that have jobs.
func (s *standing) collectJobs(jobs []store.JobStanding, to chan<- prometheus.Metric) {
	type place struct{ queue, state string }
	count := map[place]int{}
	for _, queue := range job.AllQueues {
		for _, state := range store.StandingJobStates {
			count[place{queue, state}] = 0
		}
	}
	for _, j := range jobs {
		count[place{j.Queue, j.State}] = j.Jobs
	}
	for at, n := range count {
		to <- prometheus.MustNewConstMetric(s.jobs, prometheus.GaugeValue, float64(n), at.queue, at.state)
	}
}

// read asks the database if its last answer, or its last failure, is old.
func (s *standing) read() (n store.Standing, took time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	began := s.now()
	if !s.askedAt.IsZero() && began.Sub(s.askedAt) < standingFor {
		return s.answer, s.lasted, !s.failed
	}
	ctx, cancel := context.WithTimeout(context.Background(), standingTimeout)
	defer cancel()
	answer, err := s.ask(ctx)
	s.answer, s.askedAt, s.lasted, s.failed = answer, began, s.now().Sub(began), err != nil
	if err != nil {
		s.log.Warn("reading the numbers for metrics", "error", err)
	}
	return s.answer, s.lasted, !s.failed
}
