package decide

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// Reprocess has an event decided again that ended without a decision a person
// can live with: no endpoint asked for it, its rule failed, its subject is
// unknown. gateway.ErrStateChanged tells that it is in no such state.
func (s *Service) Reprocess(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EventID) error {
	reopened := false
	err := s.store.InTx(ctx, func(tx store.Tx) (err error) {
		reopened, err = tx.ReopenEvent(ctx, account, id, gateway.ReprocessableStatuses)
		if err != nil || !reopened {
			return err
		}
		if err := tx.Enqueue(ctx, job.Process{EventIDs: []gateway.EventID{id}}); err != nil {
			return err
		}
		return tx.Audit(ctx, account, actor, "event.process", id.String(), "", s.clock.NewID())
	})
	if err != nil || reopened {
		return err
	}
	return s.whyNot(ctx, account, id)
}

func (s *Service) whyNot(ctx context.Context, account gateway.AccountID, id gateway.EventID) error {
	if _, err := s.store.Event(ctx, account, id); err != nil {
		return err
	}
	return errors.Join(gateway.ErrStateChanged, errors.New("the event is not one that can be decided again"))
}
