// Package eventtype keeps what an account declares of its event types: what
// their data looks like, and whether an endpoint gets one event for each
// subject. Every change is written to the audit log.
package eventtype

import (
	"context"
	"strings"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// AuditObject stands before a type's name where the audit log says what was
// acted on, so that no name is taken for the id of something else.
const AuditObject = "event-types/"

// Options are what a Service is made of.
type Options struct {
	Store *store.Store
	Clock *clock.Clock
	// Changed is told after a type was changed, so that nothing older is used of
	// it. It must not block. May be nil.
	Changed func()
}

// Service declares and changes event types.
type Service struct {
	store   *store.Store
	clock   *clock.Clock
	changed func()
}

// New makes a Service.
func New(o Options) *Service {
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return &Service{store: o.Store, clock: o.Clock, changed: o.Changed}
}

// Create declares a type. Errors: gateway.InvalidError, joined if there are
// several; gateway.ErrNameTaken; gateway.ErrLimitReached.
func (s *Service) Create(ctx context.Context, account gateway.AccountID, actor gateway.Actor, in Input) (gateway.EventType, error) {
	made := gateway.EventType{AccountID: account, OnDoubt: gateway.OnDoubtResend}
	if err := in.fillNew(&made); err != nil {
		return gateway.EventType{}, err
	}
	err := s.inTx(ctx, func(tx store.Tx) (err error) {
		if made, err = tx.CreateEventType(ctx, account, made, gateway.MaxEventTypes); err != nil {
			return err
		}
		return s.audit(ctx, tx, made, actor, "event_type.create", fires(made))
	})
	return made, err
}

// Update changes what the input holds and leaves the rest. What waits for facts of
// a type that is made to repeat goes on. Errors: as Create, and
// gateway.ErrNotFound.
func (s *Service) Update(ctx context.Context, account gateway.AccountID, actor gateway.Actor, name string, in Input) (gateway.EventType, error) {
	var changed gateway.EventType
	err := s.inTx(ctx, func(tx store.Tx) (err error) {
		if changed, err = tx.LockEventType(ctx, account, name); err != nil {
			return err
		}
		once := changed.SingleFire
		if err := in.applyTo(&changed); err != nil {
			return err
		}
		given := in.given(changed)
		if len(given) == 0 {
			return nil
		}
		if changed, err = tx.UpdateEventType(ctx, account, changed); err != nil {
			return err
		}
		if once && !changed.SingleFire {
			if err := freeWaiting(ctx, tx, account, name); err != nil {
				return err
			}
		}
		return s.audit(ctx, tx, changed, actor, "event_type.update", strings.Join(given, ", "))
	})
	return changed, err
}

// Delete takes a declaration away: events of the type are asked for nothing any
// more, and repeat: what waits for facts goes on. Errors: gateway.ErrNotFound.
func (s *Service) Delete(ctx context.Context, account gateway.AccountID, actor gateway.Actor, name string) error {
	return s.inTx(ctx, func(tx store.Tx) error {
		if err := tx.DeleteEventType(ctx, account, name); err != nil {
			return err
		}
		if err := freeWaiting(ctx, tx, account, name); err != nil {
			return err
		}
		return s.audit(ctx, tx, gateway.EventType{AccountID: account, Name: name}, actor, "event_type.delete", "")
	})
}

// freeWaiting has what waits for facts of a type that repeats from now on freed by
// a job, of which there may be much.
func freeWaiting(ctx context.Context, tx store.Tx, account gateway.AccountID, name string) error {
	return tx.Enqueue(ctx, job.FreeWaiting{AccountID: account, EventType: name})
}

// inTx changes types in a transaction, and tells of it when that is committed.
func (s *Service) inTx(ctx context.Context, do func(store.Tx) error) error {
	err := s.store.InTx(ctx, do)
	if err == nil {
		s.changed()
	}
	return err
}

func (s *Service) audit(ctx context.Context, tx store.Tx, t gateway.EventType, actor gateway.Actor, action, detail string) error {
	return tx.Audit(ctx, t.AccountID, actor, action, AuditObject+t.Name, detail, s.clock.NewID())
}

// fires says how often an endpoint gets what is of a type, for the audit log.
func fires(t gateway.EventType) string {
	if t.SingleFire {
		return "single-fire, when in doubt: " + string(t.OnDoubt)
	}
	return "repeats"
}
