package store

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/rowlock/rowlock/internal/job"
)

// Enqueue inserts jobs in the transaction: they exist if and only if it
// commits. They are due at the transaction's time.
func (t Tx) Enqueue(ctx context.Context, jobs ...job.Args) error {
	return t.EnqueueIn(ctx, 0, jobs...)
}

// EnqueueIn is Enqueue for jobs that are due so much later.
func (t Tx) EnqueueIn(ctx context.Context, wait time.Duration, jobs ...job.Args) error {
	if len(jobs) == 0 {
		return nil
	}
	var now time.Time
	if err := t.tx.QueryRow(ctx, `SELECT now()`).Scan(&now); err != nil {
		return wrap("read the transaction's time", err)
	}
	params := make([]river.InsertManyParams, len(jobs))
	for i, args := range jobs {
		params[i] = river.InsertManyParams{Args: args, InsertOpts: &river.InsertOpts{ScheduledAt: now.Add(wait)}}
	}
	if _, err := t.store.queue.InsertManyFastTx(ctx, t.tx, params); err != nil {
		return wrap("insert jobs", err)
	}
	return nil
}

// dueAtOnce makes a job available at the time that Enqueue read, or at the later
// one that it was told: it is not fetched before. Without a
// time the queue would take the node's own clock, and the jobs of a node that
// is an hour ahead would wait for an hour; with one it would leave the job to
// its scheduler, which runs on one node every few seconds.
type dueAtOnce struct{ river.HookDefaults }

var _ rivertype.HookInsertBegin = (*dueAtOnce)(nil)

// InsertBegin is called for each job before it is inserted.
func (*dueAtOnce) InsertBegin(_ context.Context, params *rivertype.JobInsertParams) error {
	params.CreatedAt = params.ScheduledAt
	params.State = rivertype.JobStateAvailable
	return nil
}
