package job

import (
	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Process has events decided: those of one group commit.
type Process struct {
	EventIDs []gateway.EventID `json:"event_ids"`
}

// Kind is the job's name in the queue's table.
func (Process) Kind() string { return "process" }

// InsertOpts puts the job in its queue. It is tried once: what it leaves undone
// is found in the tables, and gets a new job.
func (Process) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: QueueProcess, MaxAttempts: 1}
}
