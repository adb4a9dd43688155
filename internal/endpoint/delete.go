package endpoint

import (
	"context"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// EmptyEvery is how often deleted endpoints are looked for where something
	// is still open.
	EmptyEvery = 30 * time.Second
	// cancelBatch is how many open deliveries one transaction cancels: tens
	// of milliseconds.
	cancelBatch = 2000
	// batchesAtOnce bounds how long a deletion keeps its caller waiting for the
	// backlog: a second or so.
	batchesAtOnce = 10
	// leavingEndpoints bounds one round of EmptyDeleted; the next goes on.
	leavingEndpoints = 100
)

// Delete ends an endpoint, cancels what is still to be sent to it, and keeps
// its history. Those that fail over to it fail over to its next from now on.
// The end of a long backlog is cancelled by EmptyDeleted. An endpoint that is
// not there is gateway.ErrNotFound.
func (s *Service) Delete(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID) error {
	err := s.store.InTx(ctx, func(tx store.Tx) error {
		if err := s.bridge(ctx, tx, account, actor, id); err != nil {
			return err
		}
		if err := tx.DeleteEndpoint(ctx, account, id); err != nil {
			return err
		}
		return s.audit(ctx, tx, gateway.Endpoint{ID: id, AccountID: account}, actor, "endpoint.delete", "")
	})
	if err != nil {
		return err
	}
	for range batchesAtOnce {
		// The endpoint is gone, whatever comes of this: asking again would find
		// nothing to delete. What is still open is left to EmptyDeleted.
		if more, err := s.cancelSome(ctx, account, id); err != nil || !more {
			break
		}
	}
	return nil
}

// EmptyDeleted cancels what is still open at deleted endpoints: where a backlog
// was long, or a process ended in the middle of it.
func (s *Service) EmptyDeleted(ctx context.Context) error {
	leaving, err := s.store.LeavingEndpoints(ctx, leavingEndpoints)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range leaving {
		errs = append(errs, s.empty(ctx, e.AccountID, e.EndpointID))
	}
	return errors.Join(errs...)
}

func (s *Service) empty(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) error {
	for {
		if more, err := s.cancelSome(ctx, account, id); err != nil || !more {
			return err
		}
	}
}

// cancelSome cancels one batch in a transaction of its own and tells whether
// there may be more.
func (s *Service) cancelSome(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) (more bool, err error) {
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		n, err := tx.CancelOpen(ctx, account, id, cancelBatch)
		more = n == cancelBatch
		return err
	})
	return more && err == nil, err
}
