package operate

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// Request says what is to be done.
type Request struct {
	Kind   gateway.OperationKind
	Filter gateway.OperationFilter
	// DryRun: count, and do nothing else.
	DryRun bool
	// PerSecond limits how many are opened a second; zero does not.
	PerSecond int
}

// actions are what the audit log calls the start of each kind.
var actions = map[gateway.OperationKind]string{
	gateway.OperationRecoverFailed:  "endpoint.recover",
	gateway.OperationRecoverMissing: "endpoint.recover",
	gateway.OperationRedeliver:      "delivery.redeliver_many",
	gateway.OperationReprocess:      "event.process_many",
	gateway.OperationReconcile:      "reconciliation.redeliver",
}

// Start makes an operation, which then runs by itself. Errors: what is wrong
// with the request, as gateway.InvalidError; gateway.ErrNotFound for an endpoint
// that is not there; gateway.ErrLimitReached when gateway.MaxOpenOperations have
// not ended.
func (s *Service) Start(ctx context.Context, account gateway.AccountID, actor gateway.Actor, r Request) (gateway.Operation, error) {
	if err := s.check(ctx, account, &r); err != nil {
		return gateway.Operation{}, err
	}
	o := gateway.Operation{
		ID: gateway.OperationID(s.Clock.NewID()), Kind: r.Kind, Filter: r.Filter, DryRun: r.DryRun, PerSecond: r.PerSecond, Actor: actor,
	}
	err := s.Store.InTx(ctx, func(tx store.Tx) (err error) {
		if o, err = tx.CreateOperation(ctx, account, o, s.until(r.Filter)); err != nil {
			return err
		}
		if err := s.endSleep(ctx, tx, o); err != nil {
			return err
		}
		if err := tx.Enqueue(ctx, job.Operation{AccountID: account, OperationID: o.ID}); err != nil || o.DryRun {
			return err
		}
		return tx.Audit(ctx, account, actor, actions[o.Kind], o.ID.String(), string(o.Kind), s.Clock.NewID())
	})
	return o, err
}

// endSleep wakes the endpoint's lane from a sleep after failures: somebody
// says that it is well again.
func (s *Service) endSleep(ctx context.Context, tx store.Tx, o gateway.Operation) error {
	if o.Filter.Endpoint == nil || o.DryRun {
		return nil
	}
	return tx.WakeLane(ctx, o.AccountID, *o.Filter.Endpoint)
}

// until is the time from which on nothing belongs to an operation that is made
// now: what is still to come does not.
func (s *Service) until(f gateway.OperationFilter) time.Time {
	now := s.Clock.Now().Add(time.Millisecond)
	if f.Until.IsZero() || f.Until.After(now) {
		return now
	}
	return f.Until
}

// Cancel stops an operation and returns it. What it has opened and nobody has
// tried yet is put back to what it was, soon after. gateway.ErrStateChanged
// tells that it had ended before.
func (s *Service) Cancel(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.OperationID) (gateway.Operation, error) {
	var o gateway.Operation
	err := s.Store.InTx(ctx, func(tx store.Tx) error {
		stopped, err := tx.CancelOperation(ctx, account, id)
		if err != nil {
			return err
		}
		if o, err = tx.Operation(ctx, account, id); err != nil {
			return err
		}
		if !stopped {
			return gateway.ErrStateChanged
		}
		if err := s.tell(ctx, tx, o); err != nil {
			return err
		}
		if err := tx.Audit(ctx, account, actor, "operation.cancel", id.String(), "", s.Clock.NewID()); err != nil {
			return err
		}
		return tx.Enqueue(ctx, job.Operation{AccountID: account, OperationID: id})
	})
	return o, err
}
