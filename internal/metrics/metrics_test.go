package metrics_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/metrics"
	"github.com/rowlock/rowlock/internal/store"
)

var begin = time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)

// scrape is what a registry shows to Prometheus.
func scrape(registry *prometheus.Registry) string {
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return answer.Body.String()
}

// wantNumbers fails unless a registry shows these lines.
func wantNumbers(t *testing.T, registry *prometheus.Registry, lines ...string) {
	t.Helper()
	text := scrape(registry)
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
}

// Everything that can be counted is there from the start, as zero: what was never
// there has no rate when it comes.
func TestNumbersBeginAtZero(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	metrics.New(registry, "1.2.3")
	wantNumbers(t, registry,
		`rowlock_build_info{version="1.2.3"} 1`,
		`rowlock_attempts_total{error_kind="",outcome="succeeded"} 0`,
		`rowlock_attempts_total{error_kind="timeout",outcome="unreachable"} 0`,
		`rowlock_attempt_duration_seconds_count{outcome="rejected"} 0`,
		`rowlock_events_decided_total{status="no_endpoints"} 0`,
		`rowlock_commit_rows_count{work="record"} 0`,
		`rowlock_decide_latency_seconds_count 0`,
		`rowlock_deliver_latency_seconds_count 0`,
	)
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := metrics.New(registry, "")
	event := gateway.FirstIDAt[gateway.EventID](begin)
	attempt := func(outcome gateway.Outcome, kind gateway.ErrorKind, trigger gateway.Trigger, status gateway.DeliveryStatus) {
		m.Attempted(&gateway.Attempt{
			EventID: event, Outcome: outcome, ErrorKind: kind, Trigger: trigger, StartedAt: begin.Add(2 * time.Second), Duration: time.Second,
		}, status)
	}
	attempt(gateway.OutcomeUnreachable, gateway.ErrorTimeout, gateway.TriggerAuto, gateway.DeliveryPending)
	attempt(gateway.OutcomeRejected, "", gateway.TriggerAuto, gateway.DeliveryFailed)
	attempt(gateway.OutcomeSucceeded, "", gateway.TriggerAuto, gateway.DeliveryDelivered)
	attempt(gateway.OutcomeSucceeded, "", gateway.TriggerManual, gateway.DeliveryDelivered)
	attempt(gateway.OutcomeUnknown, "", gateway.TriggerAuto, gateway.DeliveryPending)
	m.Lost(2)
	wantNumbers(t, registry,
		`rowlock_attempts_total{error_kind="timeout",outcome="unreachable"} 1`,
		`rowlock_attempts_total{error_kind="",outcome="succeeded"} 2`,
		`rowlock_attempts_total{error_kind="",outcome="unknown"} 3`,
		`rowlock_attempt_duration_seconds_sum{outcome="succeeded"} 2`,
		`rowlock_deliver_latency_seconds_count 1`,
		`rowlock_deliver_latency_seconds_sum 3`,
	)
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	metrics.New(registry, "").Decided(decide.Round{Began: begin, Ended: begin.Add(time.Second), Events: []decide.Decided{
		{Status: gateway.EventProcessed, DueAt: begin.Add(-time.Second)},
		{Status: gateway.EventProcessed},
		{Status: gateway.EventHeld, DueAt: begin},
	}})
	wantNumbers(t, registry,
		`rowlock_events_decided_total{status="processed"} 2`,
		`rowlock_events_decided_total{status="held"} 1`,
		`rowlock_decide_latency_seconds_count 2`,
		`rowlock_decide_latency_seconds_sum 3`,
		`rowlock_commit_rows_sum{work="decide"} 3`,
		`rowlock_commit_duration_seconds_sum{work="decide"} 1`,
	)
}

// However often it is scraped, the database is asked at a pace of its own, also
// while it does not answer.
func TestDatabaseIsAskedAtAPace(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	now, asked := begin, 0
	var fault error
	metrics.WatchStanding(registry, slog.New(slog.DiscardHandler), func() time.Time { return now }, func(context.Context) (store.Standing, error) {
		asked++
		return store.Standing{Held: 7, DaysAhead: 30, Jobs: []store.JobStanding{{Queue: "process", State: "running", Jobs: 2}}}, fault
	})
	for range 3 {
		wantNumbers(t, registry,
			`rowlock_database_up 1`,
			`rowlock_deliveries_open{status="held"} 7`,
			`rowlock_partition_days_ahead 30`,
			`rowlock_due_oldest_seconds{priority="retry"} 0`,
			`rowlock_jobs{queue="process",state="running"} 2`,
		)
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	now, fault = now.Add(time.Minute), errors.New("gone")
	for range 3 {
		wantNumbers(t, registry, `rowlock_database_up 0`)
		if strings.Contains(scrape(registry), "rowlock_deliveries_open{") {
			t.Error("old numbers are shown")
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// What is counted on the way of each event and attempt costs next to nothing.
func BenchmarkAttempted(b *testing.B) {
	m := metrics.New(prometheus.NewRegistry(), "")
	a := &gateway.Attempt{Outcome: gateway.OutcomeSucceeded, Trigger: gateway.TriggerAuto, StartedAt: begin, Duration: time.Millisecond}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Attempted(a, gateway.DeliveryDelivered)
		}
	})
}
