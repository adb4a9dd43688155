package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// someStats are three rounds of ten attempts, one of which was the last of its
// delivery.
func someStats() (y store.Stats) {
	for _, o := range []gateway.Outcome{
		gateway.OutcomeSucceeded, gateway.OutcomeSucceeded, gateway.OutcomeSucceeded, gateway.OutcomeSucceeded,
		gateway.OutcomeRejected, gateway.OutcomeRejected, gateway.OutcomeRejected,
		gateway.OutcomeUnreachable, gateway.OutcomeUnreachable, gateway.OutcomeUnknown,
	} {
		y.Count(o, 10*time.Millisecond, o == gateway.OutcomeUnknown)
	}
	return y
}

func TestStatsAddUp(t *testing.T) {
	t.Parallel()
	y := someStats()
	want := store.Stats{Succeeded: 4, Rejected: 3, Unreachable: 2, Unknown: 1, GaveUp: 1, Duration: 100 * time.Millisecond}
	want.Latencies[2] = 7 // of 8 to 13 ms; without an answer there is none
	if diff := cmp.Diff(want, y); diff != "" {
		t.Error(diff)
	}
	if y.Attempts() != 10 || y.Failed() != 6 || y.Retried() != 5 {
		t.Errorf("%d attempts, %d failed, %d retried; want 10, 6, 5", y.Attempts(), y.Failed(), y.Retried())
	}
	if p := y.P95(); p <= 8*time.Millisecond || p > 13*time.Millisecond {
		t.Errorf("p95 of answers of 10 ms is %s", p)
	}
	if none := (store.Stats{}); none.Attempts() != 0 || none.Retried() != 0 || none.P95() != 0 {
		t.Errorf("nothing adds up to %+v", none)
	}
}

// Each span of each node has a row of its own, and all say the same.
func TestTally(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	for _, node := range []string{"n", "n", "m"} {
		b.in(t, func(tx store.Tx) error { return tx.AddTally(t.Context(), lane, node, someStats()) })
	}
	b.in(t, func(tx store.Tx) error { return tx.AddTally(t.Context(), lane, "idle", store.Stats{}) })
	if n := b.count(t, `SELECT count(DISTINCT node) FROM rollups`); n != 2 {
		t.Errorf("rows of %d nodes, want 2: nothing to add makes no row", n)
	}
	for _, span := range []int{1, 15, 120} {
		if n := b.count(t, `SELECT sum(succeeded)::int FROM rollups WHERE span = $1`, span); n != 12 {
			t.Errorf("spans of %d minutes count %d, want 12", span, n)
		}
		if n := b.count(t, `SELECT count(*) FROM rollups WHERE span = $1 AND extract(epoch FROM minute)::bigint % (60 * $1) <> 0`, span); n != 0 {
			t.Errorf("%d spans of %d minutes begin within one", n, span)
		}
	}
	got, err := b.EndpointStats(t.Context(), b.account, lane.EndpointID, b.clock.Now().Add(-time.Hour))
	want := store.Stats{Succeeded: 12, Rejected: 9, Unreachable: 6, Unknown: 3, GaveUp: 3, Duration: 300 * time.Millisecond}
	want.Latencies[2] = 21
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	for name, c := range map[string]struct {
		account gateway.AccountID
		since   time.Time
	}{
		"another account": {b.newAccount(t, "other"), b.clock.Now().Add(-time.Hour)},
		"since later":     {b.account, b.clock.Now().Add(time.Hour)},
	} {
		if got, err := b.EndpointStats(t.Context(), c.account, lane.EndpointID, c.since); err != nil || got != (store.Stats{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// Every answer is counted in the column of its length.
func TestTallyKeepsLatencies(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	var y store.Stats
	for i := range y.Latencies {
		y.Latencies[i] = int64(i + 1)
	}
	b.in(t, func(tx store.Tx) error { return tx.AddTally(t.Context(), lane, "n", y) })
	got, err := b.EndpointStats(t.Context(), b.account, lane.EndpointID, time.Time{})
	if diff := cmp.Diff(y, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	if n := b.count(t, `SELECT ms_5 + 100 * ms_8 + 10000 * ms_60000 FROM rollups WHERE span = 1`); n != 1+100*2+10000*len(y.Latencies) {
		t.Errorf("columns say %d", n)
	}
}

// Nodes, and transactions of one node, that count at once lose nothing.
func TestTallyAtOnce(t *testing.T) {
	t.Parallel()
	const n = 20
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	errs := b.wide(t, n).atOnce(t.Context(), n, func(tx store.Tx, i int) error {
		return tx.AddTally(t.Context(), lane, []string{"one", "two"}[i%2], someStats())
	})
	wantErrors(t, errs, n, nil)
	got, err := b.EndpointStats(t.Context(), b.account, lane.EndpointID, time.Time{})
	if err != nil || got.Attempts() != 10*n || got.GaveUp != n {
		t.Errorf("%d attempts, %d given up, %v; want %d and %d", got.Attempts(), got.GaveUp, err, 10*n, n)
	}
}

// Whatever is counted is added: a field that Add forgets fails the test.
func TestStatsAdd(t *testing.T) {
	t.Parallel()
	var counted, sum store.Stats
	for _, outcome := range gateway.Outcomes {
		counted.Count(outcome, 7*time.Millisecond, outcome != gateway.OutcomeSucceeded)
	}
	sum.Add(counted)
	if diff := cmp.Diff(counted, sum); diff != "" {
		t.Errorf("added to nothing (-want +got):\n%s", diff)
	}
	for _, outcome := range gateway.Outcomes {
		counted.Count(outcome, 7*time.Millisecond, outcome != gateway.OutcomeSucceeded)
	}
	sum.Add(sum)
	if diff := cmp.Diff(counted, sum); diff != "" {
		t.Errorf("added twice (-want +got):\n%s", diff)
	}
}
