package operate

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// SweepEvery is how often operations whose alarm has come are looked for.
	SweepEvery = time.Second
	// sweepLimit bounds one look; what is left rings a second later.
	sweepLimit = 100
)

// Sweep gives a job to each operation whose alarm has come: its pause is over,
// the node that worked on it is gone, or its job is lost. It returns how many.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	found := 0
	err := s.Store.InTx(ctx, func(tx store.Tx) error {
		due, err := tx.RingOperations(ctx, sweepLimit)
		if err != nil {
			return err
		}
		found = len(due)
		jobs := make([]job.Args, len(due))
		for i, o := range due {
			jobs[i] = job.Operation{AccountID: o.AccountID, OperationID: o.OperationID}
		}
		return tx.Enqueue(ctx, jobs...)
	})
	return found, err
}
