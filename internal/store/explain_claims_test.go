package store_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// claim claims a key of the ledger.
func (x *explained) claim(ctx context.Context, tx store.Tx) (gateway.Claim, error) {
	c, won, err := tx.Claim(ctx, x.owner.ID, store.NewClaim{
		ID: gateway.ClaimID(x.b.clock.NewID()), Scope: "mails", Key: "k", Lease: time.Minute, CallHash: []byte("call"),
	})
	if err == nil && !won {
		err = errors.New("the claim was not won")
	}
	return c, err
}

// onClaim is a call that does something to a claim of the ledger.
func (x *explained) onClaim(name string, do func(context.Context, store.Tx, gateway.Claim) error) call {
	return done(name, func(ctx context.Context, tx store.Tx) error {
		c, err := x.claim(ctx, tx)
		if err != nil {
			return err
		}
		return do(ctx, tx, c)
	})
}

// ended tells that a claim was to be changed and was not.
func ended(_ gateway.Claim, changed bool, err error) error {
	if err == nil && !changed {
		err = errors.New("nothing was changed")
	}
	return err
}

// ledger is what receivers do, and people who look on.
func (x *explained) ledger() []call {
	account, far := x.owner.ID, gateway.ClaimID(x.b.clock.NewID())
	page := store.Page[gateway.ClaimID]{Limit: listed}
	list := func(name string, f store.ClaimFilter) call {
		return only(name, func(ctx context.Context) ([]gateway.Claim, error) { return x.Claims(ctx, account, f, page) })
	}
	return []call{
		done("claim twice", func(ctx context.Context, tx store.Tx) error {
			_, first := x.claim(ctx, tx)
			_, second := x.claim(ctx, tx)
			return errors.Join(first, second)
		}),
		x.onClaim("complete claim", func(ctx context.Context, tx store.Tx, c gateway.Claim) error {
			return ended(tx.CompleteClaim(ctx, account, c.ID, c.Fence, []byte(`1`)))
		}),
		x.onClaim("release claim", func(ctx context.Context, tx store.Tx, c gateway.Claim) error {
			return ended(tx.ReleaseClaim(ctx, account, c.ID, c.Fence))
		}),
		x.onClaim("extend claim", func(ctx context.Context, tx store.Tx, c gateway.Claim) error {
			return ended(tx.ExtendClaim(ctx, account, c.ID, c.Fence, time.Hour))
		}),
		x.onClaim("reclaim", func(ctx context.Context, tx store.Tx, c gateway.Claim) error {
			return ended(tx.ReclaimClaim(ctx, account, c.ID, c.Fence, gateway.ActorRowlock, "r"))
		}),
		x.onClaim("resolve claim", func(ctx context.Context, tx store.Tx, c gateway.Claim) error {
			return ended(tx.ResolveClaim(ctx, account, c.ID, c.Fence, gateway.ActorRowlock, "r"))
		}),
		x.onClaim("claim in a transaction", func(ctx context.Context, tx store.Tx, c gateway.Claim) error {
			_, read := tx.ClaimNow(ctx, account, c.ID)
			_, held := tx.HoldEnd(ctx, account, c.ID, c.Fence)
			return errors.Join(read, held)
		}),
		missing("claim", func(ctx context.Context) error { _, err := x.Claim(ctx, account, far); return err }),
		only("holds", func(ctx context.Context) ([]gateway.Hold, error) { return x.Holds(ctx, account, far, listed) }),
		list("claims", store.ClaimFilter{}),
		list("claims of a scope", store.ClaimFilter{Scope: "mails"}),
		list("claims of a key", store.ClaimFilter{Key: "k"}),
		list("claims of a subject", store.ClaimFilter{Subject: "s"}),
		list("claims that are done", store.ClaimFilter{State: gateway.ClaimDone}),
		list("claims that are free", store.ClaimFilter{State: gateway.ClaimReleased}),
		list("claims that are stuck", store.ClaimFilter{Stuck: true}),
		list("claims of a key or subject", store.ClaimFilter{Text: "k"}),
		list("claims that are live", store.ClaimFilter{Live: true}),
		list("single claims", store.ClaimFilter{IDs: []gateway.ClaimID{far}}),
		x.onClaim("reclaim what has ended", func(ctx context.Context, tx store.Tx, _ gateway.Claim) error {
			_, err := tx.ReclaimEnded(ctx, account, store.EndedClaims{Until: x.now}, 100, gateway.ActorRowlock, "r")
			return err
		}),
		x.onClaim("reclaim of a scope", func(ctx context.Context, tx store.Tx, _ gateway.Claim) error {
			ended := store.EndedClaims{ClaimFilter: store.ClaimFilter{Scope: "mails", Text: "k"}, Until: x.now}
			_, err := tx.ReclaimEnded(ctx, account, ended, 100, gateway.ActorRowlock, "r")
			return err
		}),
		x.onClaim("write many entries of the audit log", func(ctx context.Context, tx store.Tx, c gateway.Claim) error {
			return tx.AuditMany(ctx, account, gateway.ActorRowlock, "claim.reclaim", []store.AuditLine{{ID: gateway.AuditID(x.b.clock.NewID()), Object: c.ID.String()}})
		}),
		only("count what has ended", func(ctx context.Context) (int, error) {
			return x.CountEnded(ctx, account, store.EndedClaims{Until: x.now}, 100)
		}),
		only("count stuck claims", func(ctx context.Context) (int, error) { return x.CountStuck(ctx, account, 100) }),
		only("longest stuck claims", func(ctx context.Context) ([]gateway.Claim, error) { return x.LongestStuck(ctx, account, listed) }),
		only("who waits", func(ctx context.Context) (map[gateway.ClaimID]int, error) {
			return x.CountWaiting(ctx, account, []gateway.ClaimID{far}, 100)
		}),
		only("last holds", func(ctx context.Context) (map[gateway.ClaimID]gateway.Hold, error) {
			return x.LastHolds(ctx, account, []gateway.ClaimID{far})
		}),
		only("scopes", func(ctx context.Context) ([]store.ClaimScope, error) { return x.ClaimScopes(ctx, account, "", listed) }),
		only("pulse of the ledger", func(ctx context.Context) (store.ClaimPulse, error) { return x.ClaimPulse(ctx, account, far) }),
		only("count claims", func(ctx context.Context) (store.ClaimCounts, error) { return x.CountClaims(ctx, account, 100) }),
		only("work times", func(ctx context.Context) (map[string]store.WorkTime, error) {
			return x.WorkTimes(ctx, account, []string{"mails"}, x.now.AddDate(0, 0, -7), 1000)
		}),
		only("prune claims", func(ctx context.Context) (int64, error) { return x.PruneClaims(ctx, x.now, 100) }),
	}
}

// taken is a delivery that was taken, and another of the same fact that waits
// for its claim.
type taken struct {
	claim store.WonClaim
	tx    store.Tx
}

// takeFact takes two deliveries of one fact, one of which is parked.
func (x *explained) takeFact(ctx context.Context, tx store.Tx) (taken, error) {
	if err := x.reopenAndTake(ctx, tx); err != nil {
		return taken{}, err
	}
	other := x.newEventOf()
	if err := tx.InsertEvents(ctx, []store.NewEvent{other}); err != nil {
		return taken{}, err
	}
	if _, err := tx.InsertDeliveries(ctx, []store.NewDelivery{{AccountID: x.owner.ID, EventID: other.Event.ID, EndpointID: x.endpoint}}); err != nil {
		return taken{}, err
	}
	if _, err := tx.TakeDue(ctx, x.lane, listed); err != nil {
		return taken{}, err
	}
	want := func(id gateway.DeliveryID) store.WantedClaim {
		return store.WantedClaim{
			Delivery: id, ID: gateway.ClaimID(x.b.clock.NewID()), Scope: x.endpoint, EventType: "a", Subject: "s", OnDoubt: gateway.OnDoubtResend,
		}
	}
	won, err := tx.ClaimTaken(ctx, x.lane, []store.WantedClaim{
		want(x.delivery.ID), want(gateway.DeriveDeliveryID(other.Event.ID, x.endpoint)),
	}, time.Minute)
	if err == nil && len(won) != 1 {
		err = errors.New("not one claim was won")
	}
	if err != nil {
		return taken{}, err
	}
	return taken{won[0], tx}, nil
}

// onFact is a call that does something to a fact that is in the air.
func (x *explained) onFact(name string, do func(context.Context, taken) error) call {
	return done(name, func(ctx context.Context, tx store.Tx) error {
		t, err := x.takeFact(ctx, tx)
		if err != nil {
			return err
		}
		return do(ctx, t)
	})
}

// singleFire is what becomes of deliveries of single-fire types.
func (x *explained) singleFire() []call {
	account := x.owner.ID
	end := func(ctx context.Context, t taken, confirmed bool) error {
		return t.tx.EndClaims(ctx, account, []store.ClaimEnd{{ID: t.claim.ID, Fence: t.claim.Fence, Done: confirmed}})
	}
	return []call{
		x.onFact("confirm a fact", func(ctx context.Context, t taken) error { return end(ctx, t, true) }),
		x.onFact("release a fact", func(ctx context.Context, t taken) error { return end(ctx, t, false) }),
		x.onFact("cancel the holder", func(ctx context.Context, t taken) error {
			if err := end(ctx, t, false); err != nil {
				return err
			}
			_, err := t.tx.CancelDelivery(ctx, account, x.delivery.ID)
			return err
		}),
		x.onFact("settle who waits", func(ctx context.Context, t taken) error {
			c, _, err := t.tx.ReclaimClaim(ctx, account, t.claim.ID, 0, gateway.ActorRowlock, "r")
			if err != nil {
				return err
			}
			return t.tx.SettleWaiting(ctx, c)
		}),
		x.onFact("settle what was freed", func(ctx context.Context, t taken) error {
			if _, _, err := t.tx.ReclaimClaim(ctx, account, t.claim.ID, 0, gateway.ActorRowlock, "r"); err != nil {
				return err
			}
			return t.tx.SettleFreed(ctx, []gateway.ClaimID{t.claim.ID})
		}),
		x.onFact("free what waits for facts of a type", func(ctx context.Context, t taken) error {
			freed, err := t.tx.FreeWaiting(ctx, account, "a", gateway.ClaimID{}, 100)
			if err == nil && freed.N != 1 {
				err = fmt.Errorf("%d were freed", freed.N)
			}
			return err
		}),
		x.onFact("overridden claim", func(ctx context.Context, t taken) error {
			_, err := t.tx.OverriddenClaim(ctx, account, t.claim.ID)
			return err
		}),
		x.onFact("doubt before", func(ctx context.Context, t taken) error {
			_, err := t.tx.NoteDoubtBefore(ctx, account, []gateway.ClaimID{t.claim.ID})
			return err
		}),
		inTx("doubt", func(ctx context.Context, tx store.Tx) ([]gateway.Claim, error) { return tx.NoteDoubt(ctx, 100) }),
		inTx("repair turns", func(ctx context.Context, tx store.Tx) (store.TurnCursor, error) {
			return tx.RepairTurns(ctx, store.TurnCursor{}, 100)
		}),
		inTx("heads of chains", func(ctx context.Context, tx store.Tx) (map[gateway.EventID]gateway.EndpointID, error) {
			return tx.HeadsOf(ctx, account, x.endpoint, []gateway.EventID{x.event.ID})
		}),
		only("deliveries of a claim", func(ctx context.Context) ([]gateway.Delivery, error) {
			id := gateway.ClaimID(x.b.clock.NewID())
			return x.Deliveries(ctx, account, store.DeliveryFilter{Claim: &id}, store.Page[gateway.DeliveryID]{Limit: listed})
		}),
	}
}
