package deliver

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// freeBatch is how many deliveries one transaction frees: tens of
	// milliseconds.
	freeBatch = 500
	// freeBatches is how many of them one job makes: a few seconds.
	freeBatches = 40
)

// FreeWaiting has every delivery go out that waits for facts of a type which is
// single-fire no more: each for itself, as of any type that repeats. Of one that
// is single-fire it changes nothing. What one call leaves has a job of its own,
// and what is parked by somebody who has not heard of the change is for
// RepairTurns to find.
func (s *Service) FreeWaiting(ctx context.Context, account gateway.AccountID, eventType string) error {
	var after gateway.ClaimID
	for range freeBatches {
		freed, err := s.freeSome(ctx, account, eventType, after)
		if err != nil || !freed.More {
			return err
		}
		after = freed.After
	}
	return s.Store.InTx(ctx, func(tx store.Tx) error {
		return tx.Enqueue(ctx, job.FreeWaiting{AccountID: account, EventType: eventType})
	})
}

// freeSome frees one batch in a transaction of its own.
func (s *Service) freeSome(ctx context.Context, account gateway.AccountID, eventType string, after gateway.ClaimID) (freed store.Freed, err error) {
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		freed, err = tx.FreeWaiting(ctx, account, eventType, after, freeBatch)
		return err
	})
	if err == nil {
		s.Wake(freed.Lanes)
	}
	return freed, err
}
