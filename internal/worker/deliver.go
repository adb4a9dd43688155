package worker

import (
	"context"

	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
)

// deliverLane has a lane drained. The drain goes on after the job is done: a
// lane that hangs must not hold a worker.
type deliverLane struct {
	river.WorkerDefaults[job.Deliver]

	deliver *deliver.Service
}

// Work wakes the lane's drain on this node.
func (w *deliverLane) Work(_ context.Context, j *river.Job[job.Deliver]) error {
	w.deliver.Wake([]gateway.LaneRef{{AccountID: j.Args.AccountID, EndpointID: j.Args.EndpointID}})
	return nil
}
