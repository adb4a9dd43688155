package worker

import (
	"context"

	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/operate"
)

// runOperation has a bulk operation go on for a while.
type runOperation struct {
	river.WorkerDefaults[job.Operation]

	operate *operate.Service
}

// Work runs the operation, unless somebody else does.
func (w *runOperation) Work(ctx context.Context, j *river.Job[job.Operation]) error {
	return w.operate.Run(ctx, j.Args.AccountID, j.Args.OperationID)
}
