package store_test

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// wholeRequests are about requests that brought several events, that were
// refused first, or that may come once.
func (x *explained) wholeRequests() []call {
	account := x.owner.ID
	of := x.event
	of.RequestID = new(gateway.RequestID(x.event.ID))
	guard := store.ReplayGuard{AccountID: account, SourceID: x.source, Hash: [32]byte{1}, EventID: x.event.ID, Window: time.Hour}
	return []call{
		only("siblings", func(ctx context.Context) ([]gateway.Event, error) { return x.Siblings(ctx, account, of, listed) }),
		only("whole request", func(ctx context.Context) (gateway.Body, error) {
			return x.WholeRequest(ctx, account, *of.RequestID) // the event's own body has that id
		}),
		done("insert whole request", func(ctx context.Context, tx store.Tx) error {
			return tx.InsertRaw(ctx, account, gateway.RequestID(x.b.clock.NewID()), x.newEventOf().Body)
		}),
		inTx("accept request", func(ctx context.Context, tx store.Tx) (bool, error) {
			return tx.AcceptRequest(ctx, account, x.source, *of.RequestID, of.ID)
		}),
		inTx("claim what may come once", func(ctx context.Context, tx store.Tx) ([]bool, error) {
			return tx.ClaimReplays(ctx, []store.ReplayGuard{guard})
		}),
		done("release keys", func(ctx context.Context, tx store.Tx) error {
			key := store.EventKey{AccountID: account, SourceID: x.source, EventID: x.newEventOf().Event.ID}
			if _, err := tx.ClaimKeys(ctx, []store.EventKey{key}); err != nil {
				return err
			}
			return tx.ReleaseKeys(ctx, []store.EventKey{key})
		}),
		inTx("wait for a secret and take it", func(ctx context.Context, tx store.Tx) (bool, error) {
			if err := tx.AwaitCapture(ctx, account, x.source, time.Hour); err != nil {
				return false, err
			}
			return tx.TakeCapture(ctx, account, x.source)
		}),
	}
}
