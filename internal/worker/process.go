package worker

import (
	"context"

	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/job"
)

// process has events decided. When that fails the queue tries again, and the
// sweep would without it.
type process struct {
	river.WorkerDefaults[job.Process]

	decide *decide.Service
}

// Work decides the job's events.
func (w *process) Work(ctx context.Context, j *river.Job[job.Process]) error {
	return w.decide.Process(ctx, j.Args.EventIDs)
}
