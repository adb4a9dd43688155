package store_test

import (
	"context"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// relaying gives attempts to a listener and hears how they went.
func (x *explained) relaying() []call {
	account, endpoint, listener := x.owner.ID, x.idle, gateway.Listener{ID: "explained-listener", Host: "here"}
	lane := store.Lane{AccountID: account, EndpointID: endpoint, Fence: 1}
	id := gateway.DeriveAttemptID(x.delivery.ID, 1)
	asking := store.Asking{AccountID: account, EndpointID: endpoint, Listener: listener.ID, Holding: []gateway.AttemptID{id}}
	made := func(ctx context.Context, tx store.Tx) error {
		return tx.MakeRelays(ctx, lane, []store.NewRelay{{Delivery: x.delivery.ID, N: 2, Event: x.event.ID, Timeout: time.Second}})
	}
	return []call{
		done("hear the listener", func(ctx context.Context, _ store.Tx) error {
			heard, mine, err := x.HearListener(ctx, account, endpoint, listener)
			if err == nil && !mine {
				err = errors.New("the listener was not heard")
			}
			asking.Poll = heard.Poll
			return err
		}),
		only("see the listener", func(ctx context.Context) (bool, error) {
			return x.SeeListener(ctx, account, endpoint, listener.ID, asking.Poll)
		}),
		only("listeners", func(ctx context.Context) (map[gateway.EndpointID]gateway.Listener, error) {
			return x.Listeners(ctx, account, []gateway.EndpointID{endpoint})
		}),
		done("make relays", made),
		only("has relays", func(ctx context.Context) (bool, error) { return x.HasRelays(ctx, asking) }),
		done("take relays", func(ctx context.Context, tx store.Tx) error {
			if err := made(ctx, tx); err != nil {
				return err
			}
			taken, err := tx.TakeRelays(ctx, asking)
			if err == nil && len(taken) != 1 {
				err = errors.New("nothing was taken")
			}
			return err
		}),
		done("keep the headers of relays", func(ctx context.Context, tx store.Tx) error {
			return tx.KeepRelayHeaders(ctx, account, []gateway.AttemptID{id}, [][]byte{{}})
		}),
		inTx("report relays", func(ctx context.Context, tx store.Tx) (map[gateway.AttemptID]bool, error) {
			return tx.ReportRelays(ctx, account, endpoint, listener.ID, []gateway.Attempt{x.attempt()})
		}),
		done("adopt relays", func(ctx context.Context, tx store.Tx) error {
			if err := made(ctx, tx); err != nil {
				return err
			}
			next := lane
			next.Fence++
			adopted, err := tx.AdoptRelays(ctx, next)
			if err == nil && len(adopted) != 1 {
				err = errors.New("nothing was adopted")
			}
			return err
		}),
		done("end relays", func(ctx context.Context, tx store.Tx) error {
			return tx.EndRelays(ctx, account, []gateway.AttemptID{id})
		}),
		done("give relays up", func(ctx context.Context, _ store.Tx) error { return x.GiveUpRelays(ctx, lane) }),
		only("ended relays", func(ctx context.Context) ([]store.RelayEnd, error) {
			return x.EndedRelays(ctx, lane, []gateway.AttemptID{id})
		}),
		done("prune relays", func(ctx context.Context, _ store.Tx) error { return x.PruneRelays(ctx, time.Hour) }),
		done("drop the listener", func(ctx context.Context, _ store.Tx) error {
			return x.DropListener(ctx, account, endpoint, listener.ID)
		}),
	}
}
