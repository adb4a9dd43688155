package store_test

import (
	"context"
	"errors"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// calls are all of them: what writes goes last, and the lane's end at the very
// end.
func (x *explained) calls() []call {
	return slices.Concat(x.reads(), x.ownerReads(), x.lists(), x.pages(), x.accepting(), x.wholeRequests(), x.ruling(), x.deciding(), x.delivering(), x.relaying(), x.operations(), x.reconciliations(),
		x.failingOver(), x.ledger(), x.singleFire(), x.editing(), x.changingState(), x.people(), x.alerting(), x.housekeeping(), x.rotation(), x.instanceReads(), x.lanes())
}

// done is a call that returns an error alone.
func done(name string, do func(context.Context, store.Tx) error) call {
	return call{name: name, do: do}
}

// missing is a call that must find nothing.
func missing(name string, do func(context.Context) error) call {
	return done(name, func(ctx context.Context, _ store.Tx) error {
		return wantMissing(do(ctx))
	})
}

// wantMissing is what stands for the error of a call that must find nothing.
func wantMissing(err error) error {
	if !errors.Is(err, gateway.ErrNotFound) {
		return errors.Join(errors.New("something was found"), err)
	}
	return nil
}

func (x *explained) accepting() []call {
	return []call{
		done("claim keys", func(ctx context.Context, tx store.Tx) error {
			first := store.EventKey{AccountID: x.owner.ID, SourceID: x.source, EventID: x.newEventOf().Event.ID}
			second := first
			second.EventID = x.newEventOf().Event.ID
			firsts, err := tx.ClaimKeys(ctx, []store.EventKey{first, second})
			if err == nil && firsts[1] == nil {
				err = errors.New("a key was claimed twice")
			}
			return err
		}),
		done("insert events", func(ctx context.Context, tx store.Tx) error {
			traced := x.newEventOf()
			traced.Event.Span.Trace[0] = 1
			if err := tx.InsertEvents(ctx, []store.NewEvent{traced}); err != nil {
				return err
			}
			return tx.InsertEvents(ctx, []store.NewEvent{x.newEventOf(), x.newEventOf()})
		}),
		done("insert requests", func(ctx context.Context, tx store.Tx) error {
			return tx.InsertRequests(ctx, []gateway.Request{{
				ID: gateway.RequestID(x.b.clock.NewID()), AccountID: x.owner.ID, SourceID: x.source, Cause: gateway.CauseDuplicate,
			}})
		}),
		done("emit", func(ctx context.Context, tx store.Tx) error {
			return tx.Emit(ctx, x.owner.ID, gateway.EventID(x.b.clock.NewID()), "rowlock.test", []byte(`{}`))
		}),
		done("enqueue", func(ctx context.Context, tx store.Tx) error {
			return tx.Enqueue(ctx, job.Deliver{AccountID: x.owner.ID, EndpointID: x.endpoint})
		}),
	}
}

func (x *explained) deciding() []call {
	return []call{
		done("in order", func(ctx context.Context, tx store.Tx) error {
			_, _, err := tx.InOrder(ctx, x.eventIDs())
			return err
		}),
		inTx("take undecided", func(ctx context.Context, tx store.Tx) ([]store.Undecided, error) {
			return tx.TakeUndecided(ctx, x.eventIDs())
		}),
		inTx("paused sources", func(ctx context.Context, tx store.Tx) (map[gateway.SourceID]bool, error) {
			return tx.PausedSources(ctx, x.owner.Sources)
		}),
		inTx("candidates", func(ctx context.Context, tx store.Tx) ([]store.Candidate, error) {
			return tx.Candidates(ctx, []gateway.AccountID{x.owner.ID}, gateway.PatternsFor(x.event.Type))
		}),
		inTx("contents", func(ctx context.Context, tx store.Tx) (map[gateway.EventID]gateway.Content, error) {
			return tx.Contents(ctx, []gateway.AccountID{x.owner.ID}, x.eventIDs())
		}),
		inTx("insert deliveries", func(ctx context.Context, tx store.Tx) (int64, error) {
			return tx.InsertDeliveries(ctx, []store.NewDelivery{{AccountID: x.owner.ID, EventID: x.event.ID, EndpointID: x.endpoint}})
		}),
		done("set decisions", func(ctx context.Context, tx store.Tx) error {
			return tx.SetDecisions(ctx, []store.Decision{{ID: x.event.ID, Status: gateway.EventNoEndpoints}})
		}),
		done("add usage", func(ctx context.Context, tx store.Tx) error {
			return tx.AddUsage(ctx, "n", map[store.SourceRef]store.Usage{{AccountID: x.owner.ID, SourceID: x.source}: {Events: 1, Bytes: 1}}, map[store.TypeRef]int64{{AccountID: x.owner.ID, Type: x.event.Type}: 1})
		}),
		inTx("reopen event", func(ctx context.Context, tx store.Tx) (bool, error) {
			return tx.ReopenEvent(ctx, x.owner.ID, x.event.ID, gateway.ReprocessableStatuses)
		}),
		inTx("reopen held", func(ctx context.Context, tx store.Tx) ([]gateway.EventID, error) {
			return tx.ReopenHeld(ctx, x.owner.ID, x.source, 100)
		}),
		inTx("delete payload", func(ctx context.Context, tx store.Tx) (bool, error) {
			return tx.DeletePayload(ctx, x.owner.ID, x.event.ID)
		}),
	}
}

func (x *explained) delivering() []call {
	return []call{
		inTx("extend lane", func(ctx context.Context, tx store.Tx) (bool, error) { return tx.ExtendLane(ctx, x.lane) }),
		done("read target", func(ctx context.Context, tx store.Tx) error {
			_, _, err := tx.ReadTarget(ctx, x.lane)
			return err
		}),
		done("reopen and take", x.reopenAndTake),
		inTx("take over", func(ctx context.Context, tx store.Tx) (int64, error) { return tx.TakeOver(ctx, x.lane) }),
		done("record", func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Record(ctx, x.lane, []store.Result{{Attempt: x.attempt(), Status: gateway.DeliveryFailed}})
			return err
		}),
		done("add tally", func(ctx context.Context, tx store.Tx) error {
			return tx.AddTally(ctx, x.lane, "n", store.Stats{Succeeded: 1})
		}),
		done("reset failures", func(ctx context.Context, tx store.Tx) error { return tx.ResetFailures(ctx, x.lane) }),
		inTx("count failure", func(ctx context.Context, tx store.Tx) (store.Counted, error) {
			return tx.CountFailure(ctx, x.lane, 100)
		}),
		inTx("disable endpoint", func(ctx context.Context, tx store.Tx) (bool, error) {
			return tx.DisableEndpoint(ctx, x.lane, "test")
		}),
		inTx("cancel delivery", func(ctx context.Context, tx store.Tx) (bool, error) {
			return tx.CancelDelivery(ctx, x.owner.ID, x.delivery.ID)
		}),
		done("insert tested", func(ctx context.Context, tx store.Tx) error {
			return tx.InsertTested(ctx, x.attempt(), gateway.DeliveryFailed)
		}),
		done("wake lane", func(ctx context.Context, tx store.Tx) error { return tx.WakeLane(ctx, x.owner.ID, x.endpoint) }),
	}
}

// reopenAndTake takes a delivery, so that its payload is loaded.
func (x *explained) reopenAndTake(ctx context.Context, tx store.Tx) error {
	open, err := tx.Reopen(ctx, x.owner.ID, x.delivery.ID, x.delivery.Attempts, gateway.TriggerManual, false)
	if err != nil || !open {
		return errors.Join(errors.New("the delivery was not reopened"), err)
	}
	taken, err := tx.TakeDue(ctx, x.lane, listed)
	if err == nil && len(taken) == 0 {
		err = errors.New("nothing was taken")
	}
	return err
}

// lanes end the lane of the history, on connections of their own.
func (x *explained) lanes() []call {
	return []call{
		only("has due", func(ctx context.Context) (bool, error) { return x.HasDue(ctx, x.owner.ID, x.endpoint) }),
		done("acquire lane", func(ctx context.Context, _ store.Tx) error {
			_, _, err := x.AcquireLane(ctx, x.owner.ID, x.endpoint, "another")
			return err
		}),
		done("abandon lane", func(ctx context.Context, _ store.Tx) error { return x.AbandonLane(ctx, x.lane) }),
		done("release lane", func(ctx context.Context, _ store.Tx) error {
			_, _, err := x.ReleaseLane(ctx, x.lane)
			return err
		}),
	}
}
