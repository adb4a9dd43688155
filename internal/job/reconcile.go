package job

import (
	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Reconcile has a reconciliation go on.
type Reconcile struct {
	AccountID        gateway.AccountID        `json:"account_id"`
	ReconciliationID gateway.ReconciliationID `json:"reconciliation_id"`
}

// Kind is the job's name in the queue's table.
func (Reconcile) Kind() string { return "reconcile" }

// InsertOpts puts the job in its queue. It is tried once: what it leaves undone
// is found in the tables, and gets a new job.
func (Reconcile) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: QueueMaintenance, MaxAttempts: 1}
}
