// Package metrics is what an operator's Prometheus reads of a process: what the
// use cases tell while they work, and how the instance stands. Labels have few
// values, which are known beforehand; none names an account, an endpoint or a
// type of event.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
)

// Metrics is told what happens. Each of its methods costs some additions: what
// it adds to was looked up before.
type Metrics struct {
	commits map[Work]commit
	decided map[gateway.EventStatus]prometheus.Counter
	waited  prometheus.Observer

	attempts  map[ending]prometheus.Counter
	durations map[gateway.Outcome]prometheus.Observer
	delivered prometheus.Observer
}

// Work is what a group commit does.
type Work string

// The kinds of work that is done in groups.
const (
	Accept Work = "accept"
	Decide Work = "decide"
	Record Work = "record"
)

// commit is where the transactions of one kind of work are counted.
type commit struct{ rows, took prometheus.Observer }

// ending is how an attempt ended.
type ending struct {
	outcome gateway.Outcome
	kind    gateway.ErrorKind
}

// New makes the metrics of a process of this version.
func New(registry prometheus.Registerer, version string) *Metrics {
	m := &Metrics{
		commits: map[Work]commit{}, decided: map[gateway.EventStatus]prometheus.Counter{},
		attempts: map[ending]prometheus.Counter{}, durations: map[gateway.Outcome]prometheus.Observer{},
	}
	registry.MustRegister(build(version))
	m.addCommits(registry)
	m.addDecisions(registry)
	m.addAttempts(registry)
	return m
}

func build(version string) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "rowlock_build_info", Help: "Always 1; the label says which version runs.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	g.Set(1)
	return g
}

func (m *Metrics) addCommits(registry prometheus.Registerer) {
	rows := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "rowlock_commit_rows",
		Help:    "How many events (accept, decide) or results (record) one transaction had.",
		Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 1024},
	}, []string{"work"})
	took := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "rowlock_commit_duration_seconds",
		Help:    "How long these transactions took, from their beginning to the commit.",
		Buckets: []float64{.001, .002, .004, .008, .016, .032, .064, .128, .256, .512, 1, 2, 5, 10},
	}, []string{"work"})
	registry.MustRegister(rows, took)
	for _, work := range []Work{Accept, Decide, Record} {
		m.commits[work] = commit{rows: rows.WithLabelValues(string(work)), took: took.WithLabelValues(string(work))}
	}
}

func (m *Metrics) addDecisions(registry prometheus.Registerer) {
	decided := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rowlock_events_decided_total",
		Help: "Events that were decided, by what they became.",
	}, []string{"status"})
	waited := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "rowlock_decide_latency_seconds",
		Help:    "From an event's acceptance to its decision. Events that were put off, decided before, or left undecided until the sweep found them are left out; held ones count from their release.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
	})
	registry.MustRegister(decided, waited)
	m.waited = waited
	for _, status := range gateway.EventStatuses {
		if status != gateway.EventAccepted {
			m.decided[status] = decided.WithLabelValues(string(status))
		}
	}
}

func (m *Metrics) addAttempts(registry prometheus.Registerer) {
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rowlock_attempts_total",
		Help: "Attempts that ended, by their outcome; error_kind says why one was unreachable, and is empty for the others.",
	}, []string{"outcome", "error_kind"})
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "rowlock_attempt_duration_seconds",
		Help:    "How long attempts took, from connecting to the last byte of the answer.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 30, 60},
	}, []string{"outcome"})
	delivered := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "rowlock_deliver_latency_seconds",
		Help:    "From an event's acceptance to the first success of a delivery. Those that somebody sent again are left out.",
		Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 43200, 86400},
	})
	registry.MustRegister(attempts, durations, delivered)
	m.delivered = delivered
	for _, outcome := range gateway.Outcomes {
		if outcome != gateway.OutcomeUnknown { // nobody knows how long it took
			m.durations[outcome] = durations.WithLabelValues(string(outcome))
		}
		kinds := []gateway.ErrorKind{""}
		if outcome == gateway.OutcomeUnreachable {
			kinds = gateway.ErrorKinds
		}
		for _, kind := range kinds {
			m.attempts[ending{outcome, kind}] = attempts.WithLabelValues(string(outcome), string(kind))
		}
	}
}

// Committed counts a transaction.
func (m *Metrics) Committed(work Work, rows int, took time.Duration) {
	m.commits[work].rows.Observe(float64(rows))
	m.commits[work].took.Observe(took.Seconds())
}

// Decided counts what a transaction decided.
func (m *Metrics) Decided(r decide.Round) {
	m.Committed(Decide, len(r.Events), r.Ended.Sub(r.Began))
	for i := range r.Events {
		e := &r.Events[i]
		if counter := m.decided[e.Status]; counter != nil {
			counter.Inc()
		}
		if !e.DueAt.IsZero() {
			m.waited.Observe(max(r.Ended.Sub(e.DueAt).Seconds(), 0))
		}
	}
}

// Attempted counts an attempt that ended.
func (m *Metrics) Attempted(a *gateway.Attempt, status gateway.DeliveryStatus) {
	if counter := m.attempts[ending{a.Outcome, a.ErrorKind}]; counter != nil {
		counter.Inc()
	}
	if histogram := m.durations[a.Outcome]; histogram != nil {
		histogram.Observe(a.Duration.Seconds())
	}
	if status == gateway.DeliveryDelivered && a.Trigger == gateway.TriggerAuto {
		m.delivered.Observe(max(a.StartedAt.Add(a.Duration).Sub(a.EventID.Time()).Seconds(), 0))
	}
}

// Lost counts attempts whose end nobody knows.
func (m *Metrics) Lost(attempts int64) {
	m.attempts[ending{outcome: gateway.OutcomeUnknown}].Add(float64(attempts))
}
