package job

import (
	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Operation has a bulk operation go on.
type Operation struct {
	AccountID   gateway.AccountID   `json:"account_id"`
	OperationID gateway.OperationID `json:"operation_id"`
}

// Kind is the job's name in the queue's table.
func (Operation) Kind() string { return "operation" }

// InsertOpts puts the job in its queue. It is tried once: what it leaves undone
// is found in the tables, and gets a new job.
func (Operation) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: QueueMaintenance, MaxAttempts: 1}
}
