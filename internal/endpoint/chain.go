package endpoint

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// join makes sure that an endpoint can fail over to another, if that is asked
// for, and that it stays so until the transaction ends. It comes first: the
// account is locked before its endpoints, and their lanes are. What waits at
// the endpoint may be for the other one then, so its lane is woken.
func (s *Service) join(ctx context.Context, tx store.Tx, account gateway.AccountID, id gateway.EndpointID, next *gateway.EndpointID) error {
	if next == nil {
		return nil
	}
	if err := tx.LockChains(ctx, account); err != nil {
		return err
	}
	if next.IsZero() || *next == id {
		return nil
	}
	if err := tx.CheckFailover(ctx, account, id, *next); err != nil {
		return err
	}
	return tx.WakeLane(ctx, account, id)
}

// handOn has what waits at a disabled endpoint given to the failover that it
// has got.
func handOn(ctx context.Context, tx store.Tx, e gateway.Endpoint, next *gateway.EndpointID) error {
	if next == nil || next.IsZero() || e.State != gateway.EndpointDisabled {
		return nil
	}
	return tx.Enqueue(ctx, job.Deliver{AccountID: e.AccountID, EndpointID: e.ID})
}

// bridge takes an endpoint that is to be deleted out of its chain, and tells
// in the audit log of those that failed over to it.
func (s *Service) bridge(ctx context.Context, tx store.Tx, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID) error {
	bridged, err := tx.Bridge(ctx, account, id)
	if err != nil {
		return err
	}
	for _, before := range bridged {
		e := gateway.Endpoint{ID: before, AccountID: account}
		if err := s.audit(ctx, tx, e, actor, "endpoint.update", "failover, as "+id.String()+" was deleted"); err != nil {
			return err
		}
	}
	return nil
}
