package worker

import (
	"context"

	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/job"
)

// freeWaiting has what waits for facts of a type go on.
type freeWaiting struct {
	river.WorkerDefaults[job.FreeWaiting]

	deliver *deliver.Service
}

// Work frees for a while, and leaves the rest to a job of its own.
func (w *freeWaiting) Work(ctx context.Context, j *river.Job[job.FreeWaiting]) error {
	return w.deliver.FreeWaiting(ctx, j.Args.AccountID, j.Args.EventType)
}
