package retain

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// PruneEvery is how often old event keys are forgotten.
	PruneEvery = time.Minute
	// pruneFor bounds one round of that: the next goes on.
	pruneFor = 30 * time.Second
	// TrimEvery is how often surplus requests are deleted.
	TrimEvery = time.Minute
	// batch bounds one deletion, so that none holds its locks for long.
	batch = 5000
	// maxBatches bounds one round of deleting requests or rollups.
	maxBatches = 200
)

// PruneKeys forgets event keys that are older than the de-dupe window, as many
// as it can in pruneFor. The parts of the table take turns, so that all become
// smaller when there is more to do than that.
func (s *Service) PruneKeys(ctx context.Context) error {
	now := s.Clock.Now()
	before, deadline := now.Add(-s.DedupeWindow), now.Add(pruneFor)
	left := make(map[int]time.Time, store.KeyPartitions)
	for part := range store.KeyPartitions {
		left[part] = time.Time{}
	}
	for len(left) > 0 && s.Clock.Now().Before(deadline) {
		for part, since := range left {
			n, until, err := s.Store.PruneKeys(ctx, part, since, before, batch)
			if err != nil {
				return err
			}
			left[part] = until
			if n < batch {
				delete(left, part)
			}
		}
	}
	return nil
}

// PruneRollups deletes the minutes that are older than the retention; what they
// say of confirmed deliveries is kept.
func (s *Service) PruneRollups(ctx context.Context) error {
	before := s.Clock.Now().Add(-s.Retention)
	return inBatches(func() (int64, error) { return s.Store.PruneRollups(ctx, before, batch) })
}

// PruneClaims forgets claims of the ledger that ended longer ago than they are
// kept.
func (s *Service) PruneClaims(ctx context.Context) error {
	before := s.Clock.Now().Add(-s.ClaimRetention)
	return inBatches(func() (int64, error) { return s.Store.PruneClaims(ctx, before, batch) })
}

// PruneDismissals deletes what was said of failures that are older than the
// retention.
func (s *Service) PruneDismissals(ctx context.Context) error {
	_, err := s.Store.PruneDismissals(ctx, s.Clock.Now().Add(-s.Retention))
	return err
}

// PruneTypeCounts deletes what was counted of types before the retention.
func (s *Service) PruneTypeCounts(ctx context.Context) error {
	before := s.Clock.Now().Add(-s.Retention)
	return inBatches(func() (int64, error) { return s.Store.PruneTypeCounts(ctx, before, batch) })
}

// PruneReconciliations deletes the rows of reconciliations that are older than the
// retention, of which the numbers are kept, and those that were deleted.
func (s *Service) PruneReconciliations(ctx context.Context) error {
	before := s.Clock.Now().Add(-s.Retention)
	for range maxBatches {
		more := false
		err := s.Store.InTx(ctx, func(tx store.Tx) (err error) {
			more, err = tx.EmptyReconciliation(ctx, before, batch)
			return err
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// TrimRequests deletes all but the newest requests of each source.
func (s *Service) TrimRequests(ctx context.Context) error {
	return inBatches(func() (int64, error) { return s.Store.TrimRequests(ctx, gateway.MaxRequestsKept, batch) })
}

// inBatches goes on until a batch is not full.
func inBatches(do func() (int64, error)) error {
	for range maxBatches {
		if n, err := do(); err != nil || n < batch {
			return err
		}
	}
	return nil
}
