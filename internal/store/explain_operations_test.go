package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const explainedLease = 10 * time.Second

// addOperation lets an operation have opened some of the history, of every
// status, so that it is one of many things that a day holds.
func (p *past) addOperation(t *testing.T, b bundle) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		p.operation, err = tx.CreateOperation(t.Context(), p.owner.ID, gateway.Operation{
			ID: gateway.OperationID(b.clock.NewID()), Kind: gateway.OperationRedeliver, Actor: gateway.ActorRowlock,
		}, p.now)
		return err
	})
	_, err := b.pool.Exec(t.Context(), `
		UPDATE deliveries
		SET operation_id = $1, trigger = 'recover'
		WHERE account_id = $2
		  AND last_status_code = 503`, p.operation.ID, p.owner.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := fill.Settle(t.Context(), b.pool); err != nil {
		t.Fatal(err)
	}
}

// filtered is a run of another kind or filter on the history's operation.
func (x *explained) filtered(kind gateway.OperationKind, f gateway.OperationFilter) store.OperationRun {
	o := x.operation
	o.Kind, o.Filter = kind, f
	run := store.NewOperationRun(o, x.now)
	run.State = gateway.OperationCounting
	return run
}

// operations are what bulk operations ask and do.
func (x *explained) operations() []call {
	account, id := x.owner.ID, x.operation.ID
	return append(x.looks(),
		only("operation", func(ctx context.Context) (gateway.Operation, error) { return x.Operation(ctx, account, id) }),
		only("operations", func(ctx context.Context) ([]gateway.Operation, error) {
			return x.Operations(ctx, account, store.Page[gateway.OperationID]{Limit: listed})
		}),
		only("operation's counts", func(ctx context.Context) (store.OperationCounts, error) {
			return x.OperationCounts(ctx, account, x.operation)
		}),
		only("operation's deliveries", func(ctx context.Context) ([]gateway.Delivery, error) {
			return x.Deliveries(ctx, account, store.DeliveryFilter{Operation: &id}, store.Page[gateway.DeliveryID]{Limit: listed})
		}),
		only("operation's failed deliveries", func(ctx context.Context) ([]gateway.Delivery, error) {
			return x.Deliveries(ctx, account, store.DeliveryFilter{Operation: &id, Status: gateway.DeliveryFailed}, store.Page[gateway.DeliveryID]{Limit: listed})
		}),
		only("operation's pending deliveries", func(ctx context.Context) ([]gateway.Delivery, error) {
			return x.Deliveries(ctx, account, store.DeliveryFilter{Operation: &id, Status: gateway.DeliveryPending}, store.Page[gateway.DeliveryID]{Limit: listed})
		}),
		only("delivery lines", func(ctx context.Context) ([]store.DeliveryLine, error) {
			return x.DeliveryLines(ctx, account, store.DeliveryFilter{Operation: &id}, store.Page[gateway.DeliveryID]{Limit: listed})
		}),
		only("actor names", func(ctx context.Context) (map[gateway.Actor]string, error) {
			return x.ActorNames(ctx, account, []gateway.Actor{gateway.Actor(gateway.UserID{1}.String()), gateway.Actor(gateway.KeyID{1}.String())})
		}),
		only("untried", func(ctx context.Context) (map[gateway.DeliveryID]gateway.EndpointID, error) {
			return x.Untried(ctx, x.filtered(gateway.OperationRedeliver, gateway.OperationFilter{}), listed)
		}),
		only("count untried", func(ctx context.Context) (int, error) {
			return x.CountUntried(ctx, x.filtered(gateway.OperationRedeliver, gateway.OperationFilter{}), listed)
		}),
		only("count untried of one", func(ctx context.Context) (int, error) {
			return x.CountUntried(ctx, x.filtered(gateway.OperationRecoverFailed, gateway.OperationFilter{Endpoint: &x.endpoint, Since: x.now.Add(-30 * time.Hour)}), listed)
		}),
		only("count undecided", func(ctx context.Context) (int, error) {
			run := x.filtered(gateway.OperationReprocess, gateway.OperationFilter{EventStatus: gateway.EventNoEndpoints})
			run.Cursor = run.Bound
			return x.CountUndecided(ctx, run, listed)
		}),
		only("known deliveries", func(ctx context.Context) (map[gateway.DeliveryID]bool, error) {
			return x.KnownDeliveries(ctx, account, []gateway.DeliveryID{x.delivery.ID, gateway.DeliveryID(x.b.clock.NewID())})
		}),
		done("step of an operation", x.stepOperation),
		inTx("ring operations", func(ctx context.Context, tx store.Tx) ([]store.OperationRef, error) {
			return tx.RingOperations(ctx, 100)
		}),
		inTx("leave operation", func(ctx context.Context, tx store.Tx) (bool, error) {
			return tx.LeaveOperation(ctx, account, id, time.Second)
		}),
		inTx("cancel operation", func(ctx context.Context, tx store.Tx) (bool, error) { return tx.CancelOperation(ctx, account, id) }),
		only("claim operation", func(ctx context.Context) (bool, error) {
			_, ok, err := x.ClaimOperation(ctx, account, id, explainedLease)
			return ok, err
		}),
	)
}

// looks look at the history by every filter.
func (x *explained) looks() (all []call) {
	since := x.now.Add(-30 * time.Hour)
	for name, f := range map[string]gateway.OperationFilter{
		"nothing":              {},
		"endpoint":             {Endpoint: &x.endpoint, Since: since},
		"idle endpoint":        {Endpoint: &x.idle},
		"failed of endpoint":   {Endpoint: &x.endpoint, Status: gateway.DeliveryFailed},
		"failed since":         {Status: gateway.DeliveryFailed, Since: since},
		"delivered":            {Status: gateway.DeliveryDelivered},
		"delivered to idle":    {Status: gateway.DeliveryDelivered, Endpoint: &x.idle},
		"event":                {Event: &x.event.ID},
		"unknown":              {Outcome: gateway.OutcomeUnknown},
		"succeeded":            {Outcome: gateway.OutcomeSucceeded},
		"cause":                {StatusCode: 503},
		"failed by a cause":    {Status: gateway.DeliveryFailed, ErrorKind: gateway.ErrorTimeout},
		"single ones":          {Deliveries: []gateway.DeliveryID{x.delivery.ID}},
		"cancelled, a timeout": {Status: gateway.DeliveryCancelled, Outcome: gateway.OutcomeUnreachable},
	} {
		run := x.filtered(gateway.OperationRedeliver, f)
		all = append(all, only("look at deliveries by "+name, func(ctx context.Context) ([]store.Looked[gateway.DeliveryID], error) {
			return x.LookAtDeliveries(ctx, run, gateway.DeliveryID(run.Cursor), listed)
		}))
	}
	for name, f := range map[string]gateway.OperationFilter{
		"type":            {Type: x.event.Type, Since: since},
		"type, failed":    {Type: x.event.Type, Status: gateway.DeliveryFailed},
		"subject":         {Subject: *x.event.Subject},
		"source":          {Source: &x.event.SourceID},
		"status":          {EventStatus: gateway.EventProcessed, Endpoint: &x.endpoint},
		"rare status":     {EventStatus: gateway.EventRuleError},
		"what came in":    {Search: "$.n = 1"},
		"single ones":     {Events: []gateway.EventID{x.event.ID}},
		"a type of a day": {Type: x.event.Type, Since: x.now.Add(-24 * time.Hour)},
	} {
		run := x.filtered(gateway.OperationRedeliver, f)
		all = append(all, only("look at deliveries of events by "+name, func(ctx context.Context) (store.EventsLooked, error) {
			return x.LookAtDeliveriesOf(ctx, run, gateway.DeliveryID(run.Cursor), listed)
		}))
	}
	for name, run := range map[string]store.OperationRun{
		"missing":        x.filtered(gateway.OperationRecoverMissing, gateway.OperationFilter{Endpoint: &x.endpoint, Since: since}),
		"rule errors":    x.filtered(gateway.OperationReprocess, gateway.OperationFilter{EventStatus: gateway.EventRuleError}),
		"type of source": x.filtered(gateway.OperationReprocess, gateway.OperationFilter{EventStatus: gateway.EventUnresolved, Type: "a.b", Source: &x.quiet}),
	} {
		all = append(all, only("look at events by "+name, func(ctx context.Context) ([]store.Looked[gateway.EventID], error) {
			return x.LookAtEvents(ctx, run, gateway.EventID(run.Cursor), listed)
		}))
	}
	return all
}

// stepOperation is the transaction of a step, with all that one can do.
func (x *explained) stepOperation(ctx context.Context, tx store.Tx) error {
	run := x.filtered(gateway.OperationRedeliver, gateway.OperationFilter{})
	run.Filter.EventStatus = gateway.EventNoEndpoints
	if mine, err := tx.HoldOperation(ctx, run, explainedLease); err != nil || !mine {
		return errors.Join(errors.New("the operation is not held"), err)
	}
	if err := tx.WakeLanes(ctx, run.AccountID, x.owner.Endpoints); err != nil {
		return err
	}
	opened, err := tx.ReopenMany(ctx, run, []gateway.DeliveryID{x.delivery.ID})
	if err != nil || len(opened) != 1 {
		return errors.Join(errors.New("nothing was opened"), err)
	}
	if restored, err := tx.RestoreUntried(ctx, run, opened); err != nil || restored != 1 {
		return errors.Join(errors.New("nothing was put back"), err)
	}
	there, err := tx.EndpointIsThere(ctx, run.AccountID, x.idle)
	if err != nil || !there {
		return errors.Join(errors.New("the endpoint is gone"), err)
	}
	if _, err := tx.InsertMissing(ctx, run, x.idle, []gateway.EventID{x.event.ID}); err != nil {
		return err
	}
	if _, err := tx.ReopenEvents(ctx, run, []gateway.EventID{x.event.ID}); err != nil {
		return err
	}
	if _, err := tx.MoveOperation(ctx, run, store.OperationStep{Done: 1, State: gateway.OperationRunning, Cursor: x.delivery.ID}); err != nil {
		return err
	}
	_, err = tx.Operation(ctx, run.AccountID, run.ID)
	if err != nil {
		return err
	}
	_, err = tx.CreateOperation(ctx, run.AccountID, gateway.Operation{ID: gateway.OperationID(x.b.clock.NewID()), Kind: gateway.OperationReprocess}, x.now)
	return err
}
