package reconcile

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// SweepEvery is how often reconciliations whose alarm has come are looked for.
	SweepEvery = time.Second
	// sweepLimit bounds one look; what is left rings a second later.
	sweepLimit = 100
)

// Sweep gives a job to each reconciliation whose alarm has come: the node that
// worked on it is gone, its job is lost, or its upload has broken off. It returns
// how many.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	found := 0
	err := s.Store.InTx(ctx, func(tx store.Tx) error {
		due, err := tx.RingReconciliations(ctx, sweepLimit)
		if err != nil {
			return err
		}
		found = len(due)
		jobs := make([]job.Args, len(due))
		for i, r := range due {
			jobs[i] = job.Reconcile{AccountID: r.AccountID, ReconciliationID: r.ReconciliationID}
		}
		return tx.Enqueue(ctx, jobs...)
	})
	return found, err
}

// Cancel stops a reconciliation and returns it. What was found stays.
// gateway.ErrStateChanged tells that it had ended before.
func (s *Service) Cancel(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.ReconciliationID) (r gateway.Reconciliation, err error) {
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		stopped, err := tx.CancelReconciliation(ctx, account, id)
		if err != nil {
			return err
		}
		if r, err = tx.Reconciliation(ctx, account, id); err != nil {
			return err
		}
		if !stopped {
			return gateway.ErrStateChanged
		}
		return tx.Audit(ctx, account, actor, "reconciliation.cancel", id.String(), r.Name, s.Clock.NewID())
	})
	return r, err
}

// Delete takes a reconciliation away, and its rows soon after. One that goes on
// is stopped.
func (s *Service) Delete(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.ReconciliationID) error {
	return s.Store.InTx(ctx, func(tx store.Tx) error {
		r, err := tx.Reconciliation(ctx, account, id)
		if err != nil {
			return err
		}
		if err := tx.DeleteReconciliation(ctx, account, id); err != nil {
			return err
		}
		return tx.Audit(ctx, account, actor, "reconciliation.delete", id.String(), r.Name, s.Clock.NewID())
	})
}
