package deliver

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// MaxSentNow is how many deliveries one SendNow makes due: as many as take
	// a few seconds. What is left waits for its own time, or the next press.
	MaxSentNow = 100_000
	// dueBatch is how many of them one transaction makes due, while which
	// nothing is sent there: tens of milliseconds.
	dueBatch = 2000
)

// SendNow makes everything due that waits at an active endpoint for a later
// attempt, at most MaxSentNow deliveries, and returns how many these were.
// Schedules stay as they are. gateway.ErrNotFound tells that there is no such
// endpoint, ErrStateChanged that it is paused or disabled: what is held there
// goes on when it is resumed.
func (s *Service) SendNow(ctx context.Context, account gateway.AccountID, actor gateway.Actor, endpoint gateway.EndpointID) (int, error) {
	e, err := s.Store.Endpoint(ctx, account, endpoint)
	switch {
	case err != nil:
		return 0, err
	case e.State != gateway.EndpointActive:
		return 0, gateway.ErrStateChanged
	}
	// What fails again at once waits again: it is not made due a second time.
	waiting, err := s.Store.QueueOf(ctx, account, endpoint, MaxSentNow)
	if err != nil {
		return 0, err
	}
	due := 0
	for due < waiting.Later {
		batch := min(dueBatch, waiting.Later-due)
		n, err := s.makeDue(ctx, e, actor, batch, due == 0)
		if due += n; err != nil || n < batch {
			return due, err
		}
	}
	return due, nil
}

// makeDue makes one batch due in a transaction of its own; the first one says in
// the audit log who did it.
func (s *Service) makeDue(ctx context.Context, e gateway.Endpoint, actor gateway.Actor, batch int, first bool) (n int, err error) {
	ref := store.LaneRef{AccountID: e.AccountID, EndpointID: e.ID}
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.WakeLane(ctx, e.AccountID, e.ID); err != nil {
			return err
		}
		if n, err = tx.MakeDue(ctx, e.AccountID, e.ID, batch); err != nil || n == 0 {
			return err
		}
		if first {
			if err := tx.Audit(ctx, e.AccountID, actor, "endpoint.send_now", e.ID.String(), "", s.Clock.NewID()); err != nil {
				return err
			}
		}
		return tx.Enqueue(ctx, job.Deliver(ref))
	})
	if err != nil {
		return 0, err
	}
	s.Wake([]store.LaneRef{ref})
	return n, nil
}
