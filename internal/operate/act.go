package operate

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// actOnSome acts on a batch, as large as pace and window allow.
func (r *runner) actOnSome(ctx context.Context) (pause, error) {
	room, err := r.room(ctx)
	if err != nil {
		return pause{}, err
	}
	if room < leastRoom {
		return pause{wait: lookAgain, full: true}, nil
	}
	most := min(room, batchSize)
	if r.run.PerSecond > 0 {
		most = min(most, r.run.PerSecond)
	}
	began := r.Clock.Now()
	batch, err := r.look(ctx, r.run, r.run.Cursor, lookedAt, most)
	if err != nil {
		return pause{}, err
	}
	batch.cut(most)
	lanes, err := r.act(ctx, batch)
	if err != nil {
		return pause{}, err
	}
	r.Wake(lanes)
	return pause{wait: r.pace(batch.count(), began)}, nil
}

// pace is how long to wait after a batch that began at a time.
func (r *runner) pace(opened int, began time.Time) time.Duration {
	if r.run.PerSecond == 0 {
		return 0
	}
	due := time.Duration(opened) * time.Second / time.Duration(r.run.PerSecond)
	return max(due-r.Clock.Now().Sub(began), 0)
}

// room is how many more may wait.
func (r *runner) room(ctx context.Context) (int, error) {
	most, count := window, r.Store.CountUntried
	switch {
	case r.run.Kind == gateway.OperationReprocess:
		count = r.Store.CountUndecided
	case r.run.Filter.Endpoint == nil:
		most = windowShare
	}
	untried, err := count(ctx, r.run, most)
	return window - untried, err
}

// act is one batch's transaction. It returns the lanes that got work.
func (r *runner) act(ctx context.Context, batch found) (lanes []store.LaneRef, err error) {
	err = r.change(ctx, func(tx store.Tx, step *store.OperationStep) (err error) {
		step.Cursor = batch.last
		if batch.end {
			step.State, step.Settled = gateway.OperationDone, true
		}
		switch r.run.Kind {
		case gateway.OperationRecoverFailed, gateway.OperationRedeliver:
			lanes, err = r.reopen(ctx, tx, batch, step)
		case gateway.OperationRecoverMissing:
			lanes, err = r.makeMissing(ctx, tx, batch, step)
		case gateway.OperationReconcile:
			lanes, err = r.sendMissing(ctx, tx, batch, step)
		case gateway.OperationReprocess:
			err = r.decideAgain(ctx, tx, batch, step)
		}
		if err != nil {
			return err
		}
		return tx.Enqueue(ctx, job.Delivers(lanes)...)
	})
	return lanes, err
}

// reopen opens closed deliveries: the lanes first, as everybody locks them.
func (r *runner) reopen(ctx context.Context, tx store.Tx, batch found, step *store.OperationStep) ([]store.LaneRef, error) {
	endpoints := map[gateway.EndpointID]bool{}
	ids := make([]gateway.DeliveryID, len(batch.deliveries))
	for i, d := range batch.deliveries {
		ids[i], endpoints[d.EndpointID] = d.ID, true
	}
	if err := tx.WakeLanes(ctx, r.run.AccountID, slices.Collect(maps.Keys(endpoints))); err != nil {
		return nil, err
	}
	opened, err := tx.ReopenMany(ctx, r.run, ids)
	step.Done, step.Failed = len(opened), len(ids)-len(opened)
	return r.lanesOf(endpoints), err
}

// makeMissing makes the deliveries that were never made. The endpoint is read
// under its lane's lock: a deletion came before, or waits. After a deletion
// nothing more can be made.
func (r *runner) makeMissing(ctx context.Context, tx store.Tx, batch found, step *store.OperationStep) ([]store.LaneRef, error) {
	id := *r.run.Filter.Endpoint
	endpoints := map[gateway.EndpointID]bool{id: true}
	if err := tx.WakeLanes(ctx, r.run.AccountID, []gateway.EndpointID{id}); err != nil {
		return nil, err
	}
	there, err := tx.EndpointIsThere(ctx, r.run.AccountID, id)
	if err != nil {
		return nil, err
	}
	if !there {
		step.Failed = max(r.run.Total-r.run.Done-r.run.Failed, 0)
		step.State, step.Settled = gateway.OperationDone, true
		return nil, nil
	}
	events := make([]gateway.EventID, len(batch.events))
	for i, e := range batch.events {
		events[i] = e.ID
	}
	made, err := tx.InsertMissing(ctx, r.run, id, events)
	step.Done = made
	return r.lanesOf(endpoints), err
}

// eventsPerJob is how many events one job decides: a group commit's.
const eventsPerJob = 100

// decideAgain puts events back to be decided, with the jobs that do so.
func (r *runner) decideAgain(ctx context.Context, tx store.Tx, batch found, step *store.OperationStep) error {
	events := make([]gateway.EventID, len(batch.events))
	for i, e := range batch.events {
		events[i] = e.ID
	}
	opened, err := tx.ReopenEvents(ctx, r.run, events)
	if err != nil {
		return err
	}
	step.Done, step.Failed = len(opened), len(events)-len(opened)
	var jobs []job.Args
	for part := range slices.Chunk(opened, eventsPerJob) {
		jobs = append(jobs, job.Process{EventIDs: part})
	}
	return tx.Enqueue(ctx, jobs...)
}

func (r *runner) lanesOf(endpoints map[gateway.EndpointID]bool) []store.LaneRef {
	lanes := make([]store.LaneRef, 0, len(endpoints))
	for id := range endpoints {
		lanes = append(lanes, store.LaneRef{AccountID: r.run.AccountID, EndpointID: id})
	}
	return lanes
}
