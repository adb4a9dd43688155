package decide_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// lost makes events look as if they had waited for their job for a while.
func (b *bundle) lost(t *testing.T, ids ...gateway.EventID) {
	t.Helper()
	for _, id := range ids {
		b.exec(t, `UPDATE events SET decide_after = now() - interval '6 s' WHERE id = $1`, id)
	}
}

// sweep sweeps; it must find so many events.
func (b *bundle) sweep(t *testing.T, want int) {
	t.Helper()
	if n, err := b.Sweep(t.Context()); n != want || err != nil {
		t.Errorf("the sweep found %d events, %v, want %d", n, err, want)
	}
}

func TestSweepReplacesLostJobs(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	ids := b.accept(t, 3, "a")
	b.accept(t, 1, "fresh")
	decided := b.accept(t, 1, "decided")
	b.process(t, decided...)
	b.lost(t, append(decided, ids...)...)
	b.sweep(t, 3)
	jobs := b.processJobs(t)
	if diff := cmp.Diff([][]gateway.EventID{ids}, jobs); diff != "" {
		t.Errorf("jobs: %s", diff)
	}
	b.sweep(t, 0) // their turn was put off
	b.process(t, jobs[0]...)
	b.wantStatus(t, gateway.EventProcessed, ids...)
	b.lost(t, ids...)
	b.sweep(t, 0)
}

// Whose job still waits in the queue, or has one in front that does, is not
// lost; a job that runs says nothing, since a dead node's stays so.
func TestSweepLeavesTheQueueItsTime(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]int{"available": 0, "running": 1, "completed": 1, "discarded": 1, "retryable": 1} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			ids := b.accept(t, 1, "a")
			b.lost(t, ids...)
			b.in(t, func(tx store.Tx) error { return tx.Enqueue(t.Context(), job.Process{EventIDs: ids}) })
			b.exec(t, `
				UPDATE river_job
				SET state = $1::river_job_state, scheduled_at = now() - interval '7 s', attempt = 1, attempted_at = now(),
				    finalized_at = CASE WHEN $1 IN ('completed', 'discarded') THEN now() END`, state)
			b.sweep(t, want)
		})
	}
}

// An event that came before the oldest job that waits has lost its own.
func TestSweepLooksBehindTheQueue(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.accept(t, 1, "a")
	b.lost(t, ids...)
	b.in(t, func(tx store.Tx) error { return tx.Enqueue(t.Context(), job.Process{EventIDs: b.accept(t, 1, "b")}) })
	b.sweep(t, 1)
}

func TestSweepMakesJobsOfAGroup(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.accept(t, 250, "a")
	b.exec(t, `UPDATE events SET decide_after = now() - interval '6 s'`)
	b.sweep(t, len(ids))
	var sizes []int
	var all []gateway.EventID
	for _, j := range b.processJobs(t) {
		sizes = append(sizes, len(j))
		all = append(all, j...)
	}
	slices.SortFunc(all, gateway.EventID.Compare)
	slices.Sort(sizes)
	if !slices.Equal(sizes, []int{50, 100, 100}) || !slices.Equal(all, ids) {
		t.Errorf("jobs of %v events, %d in all", sizes, len(all))
	}
}

// One node sweeps at a time, and many that try give one job.
func TestSweepIsOneNodesTurn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.lost(t, b.accept(t, 5, "a")...)
	b.in(t, func(tx store.Tx) error {
		if mine, err := tx.TrySweepLock(t.Context()); !mine || err != nil {
			t.Fatal(mine, err)
		}
		b.sweep(t, 0)
		return nil
	})
	pgtest.AtOnce(6, func(int) {
		if _, err := b.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if jobs := b.processJobs(t); len(jobs) != 1 || len(jobs[0]) != 5 {
		t.Errorf("jobs %v, want one for all", jobs)
	}
}
