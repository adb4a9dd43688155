package operate

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// completeReconcile adds to a filter what its reconciliation was about.
// gateway.ErrStateChanged tells that it is not done, or that its rows are gone.
func (s *Service) completeReconcile(ctx context.Context, account gateway.AccountID, f *gateway.OperationFilter) error {
	if f.Reconciliation == nil {
		return gateway.Invalid("reconciliation", "name the reconciliation")
	}
	r, err := s.Store.Reconciliation(ctx, account, *f.Reconciliation)
	if err != nil {
		return err
	}
	if r.State != gateway.ReconciliationDone || r.EmptiedAt != nil {
		return gateway.ErrStateChanged
	}
	f.Endpoint, f.Since, f.Until = &r.EndpointID, r.Since, r.Until
	return nil
}

// lookAtMissing looks at the next of what a reconciliation found missing, and
// finds what still stands as it stood then: what was sent since is left alone, and
// so is what has gone, of which no delivery could be made any more.
func (s *Service) lookAtMissing(ctx context.Context, run store.OperationRun, f *found, limit int) error {
	rows, err := s.Store.SendableRows(ctx, run.AccountID, *run.Filter.Reconciliation, f.last, run.Bound, limit)
	if err != nil {
		return err
	}
	ids, never := make([]gateway.DeliveryID, len(rows)), []gateway.EventID{}
	for i, row := range rows {
		if ids[i] = row.DeliveryID; !row.IsMade() {
			never = append(never, row.EventID)
		}
	}
	now, err := s.Store.DeliveriesNow(ctx, run.AccountID, ids)
	if err != nil {
		return err
	}
	there, err := s.Store.SendableEvents(ctx, run.AccountID, never)
	if err != nil {
		return err
	}
	if f.looked, f.end = len(rows), len(rows) < limit; len(rows) > 0 {
		f.last = rows[len(rows)-1].EventID
	}
	for _, row := range rows {
		d, made := now[row.DeliveryID]
		switch {
		case !made && !row.IsMade() && there[row.EventID]:
			f.events = append(f.events, store.Looked[gateway.EventID]{ID: row.EventID, Matches: true, EventType: row.Type})
		case made && row.IsMade() && d.Status.IsClosed() && d.Attempts == row.Attempts && !d.Confirmed && !d.FailedOver:
			f.deliveries = append(f.deliveries, store.Looked[gateway.DeliveryID]{ID: row.DeliveryID, Matches: true, EndpointID: *run.Filter.Endpoint})
		}
	}
	return nil
}

// sendMissing makes the deliveries that were never made, and opens the others. A
// batch holds no more than was looked for, so that none is cut.
func (r *runner) sendMissing(ctx context.Context, tx store.Tx, batch found, step *store.OperationStep) ([]store.LaneRef, error) {
	lanes, err := r.makeMissing(ctx, tx, batch, step)
	if err != nil || lanes == nil {
		return lanes, err
	}
	ids := make([]gateway.DeliveryID, len(batch.deliveries))
	for i, d := range batch.deliveries {
		ids[i] = d.ID
	}
	opened, err := tx.ReopenMany(ctx, r.run, ids)
	if err != nil {
		return nil, err
	}
	step.Done += len(opened)
	step.Failed += len(ids) - len(opened)
	if batch.end {
		err = r.countLost(ctx, tx, step)
	}
	return lanes, err
}

// countLost counts what is left as skipped when nothing leads to it any more: the
// reconciliation was deleted, or its rows were. Otherwise others have sent it.
func (r *runner) countLost(ctx context.Context, tx store.Tx, step *store.OperationStep) error {
	of, err := tx.Reconciliation(ctx, r.run.AccountID, *r.run.Filter.Reconciliation)
	lost := errors.Is(err, gateway.ErrNotFound)
	if err != nil && !lost {
		return err
	}
	if lost || of.EmptiedAt != nil {
		step.Failed += max(r.run.Total-r.run.Done-r.run.Failed-step.Done-step.Failed, 0)
	}
	return nil
}
