package store_test

import (
	"context"
	"errors"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// failingOver gives to others what an endpoint could not be given.
func (x *explained) failingOver() []call {
	account := x.owner.ID
	return []call{
		done("lock chains", func(ctx context.Context, tx store.Tx) error { return tx.LockChains(ctx, account) }),
		done("check failover", func(ctx context.Context, tx store.Tx) error {
			return tx.CheckFailover(ctx, account, gateway.EndpointID(x.b.clock.NewID()), x.endpoint)
		}),
		inTx("bridge", func(ctx context.Context, tx store.Tx) ([]gateway.EndpointID, error) {
			return tx.Bridge(ctx, account, x.endpoint)
		}),
		done("fail over", func(ctx context.Context, tx store.Tx) error {
			if err := x.chain(ctx, tx); err != nil {
				return err
			}
			_, heir, err := tx.FailOver(ctx, x.lane, []gateway.EventID{x.event.ID}, 0)
			if err == nil && heir == nil {
				err = errors.New("nobody got it")
			}
			return err
		}),
		done("hand on", func(ctx context.Context, tx store.Tx) error {
			if err := x.chain(ctx, tx); err != nil {
				return err
			}
			if _, err := tx.DisableEndpoint(ctx, x.lane, "test"); err != nil {
				return err
			}
			_, heir, err := tx.FailOver(ctx, x.lane, nil, 100)
			if err == nil && heir == nil {
				err = errors.New("nobody got it")
			}
			return err
		}),
		only("hands on", func(ctx context.Context) (bool, error) { return x.HandsOn(ctx, account, x.endpoint) }),
		only("stalled heads", func(ctx context.Context) ([]store.LaneRef, error) { return x.StalledHeads(ctx, 100) }),
	}
}

// chain gives the endpoint a failover, one of the history: plans are made after
// the transaction was undone.
func (x *explained) chain(ctx context.Context, tx store.Tx) error {
	other := slices.IndexFunc(x.owner.Endpoints, func(id gateway.EndpointID) bool { return id != x.endpoint })
	head, err := tx.LockEndpoint(ctx, x.owner.ID, x.endpoint)
	if err != nil {
		return err
	}
	head.Failover = &x.owner.Endpoints[other]
	_, err = tx.UpdateEndpoint(ctx, x.owner.ID, head)
	return err
}
