package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// restoreSome puts back a part of what a stopped operation has opened and
// nobody has tried: the lanes first, as everybody locks them.
func (r *runner) restoreSome(ctx context.Context) error {
	untried, err := r.Store.Untried(ctx, r.run, batchSize)
	if err != nil {
		return err
	}
	endpoints := map[gateway.EndpointID]bool{}
	for _, id := range untried {
		endpoints[id] = true
	}
	return r.change(ctx, func(tx store.Tx, step *store.OperationStep) (err error) {
		if err := tx.WakeLanes(ctx, r.run.AccountID, slices.Collect(maps.Keys(endpoints))); err != nil {
			return err
		}
		step.Settled = len(untried) < batchSize
		step.Restored, err = tx.RestoreUntried(ctx, r.run, slices.Collect(maps.Keys(untried)))
		return err
	})
}

// tell emits Rowlock's own event in the transaction that ends an operation. One
// that only counted has nothing to tell.
func (s *Service) tell(ctx context.Context, tx store.Tx, o gateway.Operation) error {
	if o.DryRun {
		return nil
	}
	data, err := json.Marshal(gateway.OperationDoneData{
		ID: o.ID, Kind: o.Kind, State: o.State, Total: o.Total, Done: o.Done, Failed: o.Failed, EndpointID: o.Filter.Endpoint,
	})
	if err != nil {
		return fmt.Errorf("write own event: %w", err)
	}
	return tx.Emit(ctx, o.AccountID, gateway.EventID(s.Clock.NewID()), gateway.TypeOperationDone, data)
}
