package store_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// grace is how long the tests let an event wait for its job.
const grace = 5 * time.Second

// overdue looks for overdue events in a transaction of its own.
func (b bundle) overdue(t *testing.T, limit int) (ids []gateway.EventID) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		ids, err = tx.OverdueEvents(t.Context(), grace, limit)
		return err
	})
	return ids
}

// An event is overdue when its job is lost: not while one that was inserted no
// later still waits; but a job that runs may be a dead node's.
func TestOverdueEvents(t *testing.T) {
	t.Parallel()
	type queuedJob struct {
		state, queue string
		after        string // when it was inserted, after the event
	}
	for name, test := range map[string]struct {
		due  string // how long ago
		job  queuedJob
		want bool
	}{
		"no job":                      {"6 s", queuedJob{}, true},
		"no job, within the grace":    {"4 s", queuedJob{}, false},
		"not due yet":                 {"-60 s", queuedJob{}, false},
		"its job waits":               {"60 s", queuedJob{"available", job.QueueProcess, "0 s"}, false},
		"an older job waits":          {"60 s", queuedJob{"available", job.QueueProcess, "-1 s"}, false},
		"only younger jobs wait":      {"60 s", queuedJob{"available", job.QueueProcess, "1 s"}, true},
		"its job runs":                {"60 s", queuedJob{"running", job.QueueProcess, "0 s"}, true},
		"its job is to be retried":    {"60 s", queuedJob{"retryable", job.QueueProcess, "0 s"}, true},
		"its job was cancelled":       {"60 s", queuedJob{"cancelled", job.QueueProcess, "0 s"}, true},
		"its job is done":             {"60 s", queuedJob{"completed", job.QueueProcess, "0 s"}, true},
		"a job of another queue":      {"60 s", queuedJob{"available", job.QueueDeliver, "0 s"}, true},
		"a young one within the time": {"4 s", queuedJob{"available", job.QueueProcess, "1 s"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			id := b.accepted(t, b.newSource(t).ID, 1)[0]
			b.exec(t, 1, `UPDATE events SET decide_after = now() - $1::text::interval`, test.due)
			if test.job.state != "" {
				b.exec(t, 1, `
					INSERT INTO river_job (kind, max_attempts, args, state, queue, scheduled_at, finalized_at)
					SELECT 'process', 25, '{}', $1::text::river_job_state, $2, decide_after + $3::text::interval,
					       CASE WHEN $1::text IN ('completed', 'cancelled') THEN now() END
					FROM events`, test.job.state, test.job.queue, test.job.after)
			}
			var want []gateway.EventID
			if test.want {
				want = []gateway.EventID{id}
			}
			if got := b.overdue(t, 100); !slices.Equal(got, want) {
				t.Errorf("overdue: %v, want %v", got, want)
			}
		})
	}
}

// What was found is left alone for a while, and only what is accepted is found.
func TestOverdueEventsAreFoundOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	want := b.accepted(t, source, 5)
	for _, status := range gateway.EventStatuses {
		if status != gateway.EventAccepted {
			b.decided(t, source, status)
		}
	}
	b.exec(t, int64(4+len(gateway.EventStatuses)), `UPDATE events SET decide_after = now() - interval '1 minute'`)
	got := append(b.overdue(t, 3), b.overdue(t, 3)...)
	slices.SortFunc(got, gateway.EventID.Compare)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if more := b.overdue(t, 3); len(more) != 0 {
		t.Errorf("%d are found again", len(more))
	}
}

func TestOverdueEventsAtOnce(t *testing.T) {
	t.Parallel()
	const sweepers, n = 20, 100
	b := newBundle(t)
	b.accepted(t, b.newSource(t).ID, n)
	b.exec(t, n, `UPDATE events SET decide_after = now() - interval '1 minute'`)
	var found atomic.Int32
	errs := b.wide(t, sweepers).atOnce(t.Context(), sweepers, func(tx store.Tx, _ int) error {
		ids, err := tx.OverdueEvents(t.Context(), grace, n)
		found.Add(int32(len(ids)))
		return err
	})
	wantErrors(t, errs, sweepers, nil)
	if found.Load() != n {
		t.Errorf("%d of %d were found", found.Load(), n)
	}
}

// One transaction at a time sweeps, and the next may when it has ended,
// however it did.
func TestSweepLock(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	try := func(ctx context.Context, end error) (mine bool) {
		err := b.InTx(ctx, func(tx store.Tx) (err error) {
			if mine, err = tx.TrySweepLock(ctx); err != nil {
				t.Error(err)
			}
			return end
		})
		if end == nil && err != nil {
			t.Error(err)
		}
		return mine
	}
	b.in(t, func(tx store.Tx) error {
		mine, err := tx.TrySweepLock(t.Context())
		if !mine {
			t.Error("a free lock is not had")
		}
		if try(t.Context(), nil) {
			t.Error("two sweep at once")
		}
		return err
	})
	if !try(t.Context(), errRollBack) || !try(t.Context(), nil) {
		t.Error("the lock outlives its transaction")
	}
	if n := b.count(t, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`); n != 0 {
		t.Errorf("%d locks are left", n)
	}
}
