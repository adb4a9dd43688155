package decide

import (
	"context"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// SweepEvery is how often events are looked for that nobody is about to decide.
	SweepEvery = 5 * time.Second
	// sweepGrace is how long an event may wait for its node, or its job.
	sweepGrace = 5 * time.Second
	// sweepLimit bounds one sweep.
	sweepLimit = 10_000
	// eventsPerJob is the size of a job that a sweep makes: a group commit's.
	eventsPerJob = 100
)

// Sweep gives a job to events that are accepted and that nobody is about to decide:
// the node that was to is gone, or their job is lost. It returns how many there
// were. Only one node sweeps at a time.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	found := 0
	err := s.store.InTx(ctx, func(tx store.Tx) error {
		mine, err := tx.TrySweepLock(ctx)
		if err != nil || !mine {
			return err
		}
		ids, err := tx.OverdueEvents(ctx, sweepGrace, sweepLimit)
		if err != nil {
			return err
		}
		found = len(ids)
		return tx.Enqueue(ctx, jobsFor(ids)...)
	})
	if err == nil && found > 0 {
		s.log.Info("undecided events were given jobs", "events", found)
	}
	return found, err
}

// jobsFor are the jobs that decide events.
func jobsFor(ids []gateway.EventID) (jobs []job.Args) {
	for part := range slices.Chunk(ids, eventsPerJob) {
		jobs = append(jobs, job.Process{EventIDs: part})
	}
	return jobs
}
