package endpoint_test

import (
	"context"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// backlog gives an endpoint n deliveries that are due.
func (b bundle) backlog(t *testing.T, id gateway.EndpointID, n int) {
	t.Helper()
	deliveries := make([]store.NewDelivery, n)
	for i, event := range b.clock.NewIDs(n) {
		deliveries[i] = store.NewDelivery{AccountID: b.account, EventID: gateway.EventID(event), EndpointID: id}
	}
	err := b.store.InTx(t.Context(), func(tx store.Tx) error {
		_, err := tx.InsertDeliveries(t.Context(), deliveries)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (b bundle) wantOpen(t *testing.T, id gateway.EndpointID, want int) {
	t.Helper()
	var open int
	err := b.pool.QueryRow(t.Context(), `
		SELECT count(*)
		FROM deliveries
		WHERE endpoint_id = $1
		  AND status <> 'cancelled'`, id).Scan(&open)
	if err != nil || open != want {
		t.Errorf("%d deliveries are open, %v; want %d", open, err, want)
	}
}

// More than one batch is cancelled when the deletion is answered, and nothing
// of a neighbour's.
func TestDeleteCancelsTheBacklog(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	stays, _ := b.create(t)
	b.backlog(t, e.ID, 5001)
	b.backlog(t, stays.ID, 1)
	if err := b.Delete(t.Context(), b.account, actor, e.ID); err != nil {
		t.Fatal(err)
	}
	b.wantOpen(t, e.ID, 0)
	b.wantOpen(t, stays.ID, 1)
	left, err := b.store.LeavingEndpoints(t.Context(), 9)
	if err != nil || len(left) != 0 {
		t.Errorf("leaving: %v, %v", left, err)
	}
}

// A deletion whose process ended after its first transaction is finished by
// whoever looks next, also if several do.
func TestEmptyDeletedGoesOnAfterAnInterruption(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	stays, _ := b.create(t)
	b.backlog(t, e.ID, 5001)
	b.backlog(t, stays.ID, 1)
	err := b.store.InTx(t.Context(), func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, e.ID) })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		atOnce(t, 4, nil, func(ctx context.Context) error { return b.EmptyDeleted(ctx) })
	}
	b.wantOpen(t, e.ID, 0)
	b.wantOpen(t, stays.ID, 1)
	left, err := b.store.LeavingEndpoints(t.Context(), 9)
	if err != nil || len(left) != 0 {
		t.Errorf("leaving: %v, %v", left, err)
	}
}
