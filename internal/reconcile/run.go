package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// restTime is how long a reconciliation is left alone that could not go on.
	restTime = 3 * time.Second
	// leaveTimeout bounds giving it back when the process stops.
	leaveTimeout = 3 * time.Second
)

// errMoved tells that somebody else made the step, or that the reconciliation was
// stopped: what was read before is not true any more.
var errMoved = errors.New("the reconciliation has moved")

// Run compares for a while, if nobody else does. What is left is for the job that
// it makes, or for the alarm that it sets. A list that has broken off it says so
// of.
func (s *Service) Run(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID) error {
	run, mine, err := s.Store.ClaimReconciliation(ctx, account, id, lease)
	if err != nil || !mine {
		return err
	}
	if run.State == gateway.ReconciliationUploading {
		return s.Store.InTx(ctx, func(tx store.Tx) error {
			_, err := tx.FailReconciliation(ctx, account, id, "The upload broke off before its end.")
			return err
		})
	}
	r := &runner{Service: s, run: run}
	rest, err := r.work(ctx)
	if errors.Is(err, errMoved) {
		return nil // whoever moved it has set its alarm
	}
	return errors.Join(err, s.leave(ctx, account, id, rest))
}

// runner is one node's work on one reconciliation.
type runner struct {
	*Service

	run store.ReconciliationRun
}

// work makes steps until it is done or the time is over. It returns after what
// time to go on.
func (r *runner) work(ctx context.Context) (rest time.Duration, err error) {
	ends := r.Clock.Now().Add(runFor)
	for r.run.State == gateway.ReconciliationComparing && r.Clock.Now().Before(ends) {
		step := r.compareOurs
		if r.run.OursDone {
			step = r.judgeTheirs
		}
		err := step(ctx)
		switch {
		case ctx.Err() != nil:
			return 0, nil
		case err != nil:
			return restTime, err
		}
	}
	return 0, nil
}

// change is the transaction of a step: it holds the reconciliation, notes, and
// moves it to where that got, all or nothing.
func (r *runner) change(ctx context.Context, note func(store.Tx, *store.ReconciliationStep) error) error {
	step := store.ReconciliationStep{Cursor: r.run.Cursor, OursDone: r.run.OursDone, RowCursor: r.run.RowCursor}
	var now store.ReconciliationRun
	err := r.Store.InTx(ctx, func(tx store.Tx) error {
		mine, err := tx.HoldReconciliation(ctx, r.run, lease)
		if err != nil {
			return err
		}
		if !mine {
			return errMoved
		}
		if err := note(tx, &step); err != nil {
			return err
		}
		now, err = tx.MoveReconciliation(ctx, r.run, step)
		return err
	})
	if err == nil {
		r.run = now
	}
	return err
}

// leave gives the reconciliation back. One that is to go on at once gets a job.
func (s *Service) leave(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, after time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	return s.Store.InTx(ctx, func(tx store.Tx) error {
		more, err := tx.LeaveReconciliation(ctx, account, id, after)
		if err != nil || !more || after > 0 {
			return err
		}
		return tx.Enqueue(ctx, job.Reconcile{AccountID: account, ReconciliationID: id})
	})
}
