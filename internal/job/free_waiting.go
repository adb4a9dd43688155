package job

import (
	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/gateway"
)

// FreeWaiting has deliveries freed that wait for facts of an event type which is
// single-fire no more.
type FreeWaiting struct {
	AccountID gateway.AccountID `json:"account_id"`
	// EventType is the type's name: types have no other id.
	EventType string `json:"event_type"`
}

// Kind is the job's name in the queue's table.
func (FreeWaiting) Kind() string { return "free_waiting" }

// InsertOpts puts the job in its queue. It is tried once: what it leaves undone
// is found among the claims that are waited for.
func (FreeWaiting) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: QueueMaintenance, MaxAttempts: 1}
}
