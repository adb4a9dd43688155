package endpoint

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// Pause stops sending to an endpoint: deliveries to it wait. One that Rowlock
// had disabled is paused from now on; pausing a paused one changes nothing. An
// endpoint that is not there is gateway.ErrNotFound.
func (s *Service) Pause(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID) (gateway.Endpoint, error) {
	var e gateway.Endpoint
	err := s.store.InTx(ctx, func(tx store.Tx) (err error) {
		e, err = s.pause(ctx, tx, account, actor, id)
		return err
	})
	return e, err
}

func (s *Service) pause(ctx context.Context, tx store.Tx, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID) (gateway.Endpoint, error) {
	changed, err := tx.PauseEndpoint(ctx, account, id)
	if err != nil {
		return gateway.Endpoint{}, err
	}
	e, err := tx.Endpoint(ctx, account, id)
	if err != nil || !changed {
		return e, err
	}
	return e, s.audit(ctx, tx, e, actor, "endpoint.pause", "")
}

// Resume makes an endpoint active, forgets its failures and has everything
// sent that waits for it. Resuming an active one does so too. An endpoint that
// is not there is gateway.ErrNotFound.
func (s *Service) Resume(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID) (gateway.Endpoint, error) {
	var e gateway.Endpoint
	err := s.store.InTx(ctx, func(tx store.Tx) (err error) {
		if e, err = tx.ResumeEndpoint(ctx, account, id); err != nil {
			return err
		}
		if err := tx.Enqueue(ctx, job.Deliver{AccountID: account, EndpointID: id}); err != nil {
			return err
		}
		return s.audit(ctx, tx, e, actor, "endpoint.resume", "")
	})
	return e, err
}
