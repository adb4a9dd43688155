package worker

import (
	"context"

	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/reconcile"
)

// runReconciliation has a reconciliation go on for a while.
type runReconciliation struct {
	river.WorkerDefaults[job.Reconcile]

	reconcile *reconcile.Service
}

// Work compares, unless somebody else does.
func (w *runReconciliation) Work(ctx context.Context, j *river.Job[job.Reconcile]) error {
	return w.reconcile.Run(ctx, j.Args.AccountID, j.Args.ReconciliationID)
}
