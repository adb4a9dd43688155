package job

import (
	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Deliver has an endpoint's lane drained.
type Deliver struct {
	AccountID  gateway.AccountID  `json:"account_id"`
	EndpointID gateway.EndpointID `json:"endpoint_id"`
}

// Kind is the job's name in the queue's table.
func (Deliver) Kind() string { return "deliver" }

// InsertOpts puts the job in its queue. It is tried once: what it leaves undone
// is found in the tables, and gets a new job.
func (Deliver) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: QueueDeliver, MaxAttempts: 1}
}

// Delivers are the jobs that have lanes drained.
func Delivers(lanes []gateway.LaneRef) []Args {
	jobs := make([]Args, len(lanes))
	for i, l := range lanes {
		jobs[i] = Deliver(l)
	}
	return jobs
}
