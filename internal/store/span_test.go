package store_test

import (
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// The span that accepted an event is there wherever it is gone on with, and an
// event that came beside it has none.
func TestSpanOfAnEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source, endpoint := b.newSource(t).ID, b.newEndpoint(t)
	traced, other := b.newEvent(source, queuedBody), b.newEvent(source, queuedBody)
	traced.Event.Span = gateway.Span{Trace: [16]byte{1, 15: 2}, ID: [8]byte{3, 7: 4}}
	b.insert(t, traced, other)
	want := map[gateway.EventID]gateway.Span{traced.Event.ID: traced.Event.Span, other.Event.ID: {}}
	for id, span := range want {
		if got := b.event(t, id).Span; got != span {
			t.Errorf("the event has %v, want %v", got, span)
		}
	}
	for _, e := range b.takeUndecided(t, traced.Event.ID, other.Event.ID) {
		if e.Span != want[e.ID] {
			t.Errorf("it is decided with %v, want %v", e.Span, want[e.ID])
		}
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.InsertDeliveries(t.Context(), []store.NewDelivery{
			{AccountID: b.account, EventID: traced.Event.ID, EndpointID: endpoint.ID},
			{AccountID: b.account, EventID: other.Event.ID, EndpointID: endpoint.ID},
		})
		return err
	})
	taken := b.takeDue(t, b.acquire(t, endpoint.ID, "n1"), 2)
	for _, d := range taken {
		if d.Span != want[d.EventID] {
			t.Errorf("it is sent with %v, want %v", d.Span, want[d.EventID])
		}
	}
	if len(taken) != 2 {
		t.Errorf("%d were taken", len(taken))
	}
}
