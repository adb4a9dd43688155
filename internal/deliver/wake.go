package deliver

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// WakeLane ends the sleep of an endpoint's lane and has it looked at now,
// wherever a node can take it. What a node holds stays its own. An endpoint
// that is not there is gateway.ErrNotFound.
func (s *Service) WakeLane(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID) error {
	ref := store.LaneRef{AccountID: account, EndpointID: id}
	err := s.Store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.WakeLane(ctx, account, id); err != nil {
			return err
		}
		if _, err := tx.Endpoint(ctx, account, id); err != nil {
			return err
		}
		if err := tx.Enqueue(ctx, job.Delivers([]store.LaneRef{ref})...); err != nil {
			return err
		}
		return tx.Audit(ctx, account, actor, "endpoint.wake", id.String(), "", s.Clock.NewID())
	})
	if err == nil {
		s.Wake([]store.LaneRef{ref})
	}
	return err
}
