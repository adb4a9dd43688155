package store_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// explained is a store with a history, and what in it is asked for.
type explained struct {
	*store.Store
	past
	b bundle
}

// past names things of the history.
type past struct {
	owner    fill.Account
	endpoint gateway.EndpointID
	source   gateway.SourceID
	// idle has no deliveries and no address, quiet no events.
	idle     gateway.EndpointID
	quiet    gateway.SourceID
	lane     store.Lane
	event    gateway.Event
	delivery gateway.Delivery
	now      time.Time
	// operation opened some of the history.
	operation gateway.Operation
	// reconciled is a comparison of all of the history.
	reconciled store.ReconciliationRun
}

// newPast lays the history and picks an event of its middle that was
// delivered.
func newPast(t *testing.T, b bundle) past {
	t.Helper()
	p := past{owner: fillHistory(t, b), now: b.clock.Now()}
	p.endpoint, p.source = p.owner.Endpoints[0], p.owner.Sources[1]
	p.addUnused(t, b)
	p.addOperation(t, b)
	p.addReconciled(t, b)
	p.lane = b.laneOf(t, p.owner.ID, p.endpoint)
	middle := store.Page[gateway.DeliveryID]{Until: p.now.AddDate(0, 0, -1), Limit: 1}
	delivered, err := b.Deliveries(t.Context(), p.owner.ID, store.DeliveryFilter{Endpoint: &p.endpoint, Status: gateway.DeliveryDelivered}, middle)
	if err != nil || len(delivered) != 1 {
		t.Fatalf("deliveries %v, %v; want one", delivered, err)
	}
	p.delivery = delivered[0]
	if p.event, err = b.Event(t.Context(), p.owner.ID, p.delivery.EventID); err != nil {
		t.Fatal(err)
	}
	return p
}

// addUnused adds an endpoint and a source to the account's others.
func (p *past) addUnused(t *testing.T, b bundle) {
	t.Helper()
	b.in(t, func(tx store.Tx) error {
		idle, err := tx.CreateEndpoint(t.Context(), p.owner.ID, b.listened(), 0)
		if err != nil {
			return err
		}
		p.idle = idle.ID
		id := gateway.SourceID(b.clock.NewID())
		quiet, err := tx.CreateSource(t.Context(), p.owner.ID, gateway.Source{ID: id, Name: "quiet", Kind: "github", Token: id.String()})
		p.quiet = quiet.ID
		return err
	})
}

// laneOf takes an endpoint's lane.
func (b bundle) laneOf(t *testing.T, account gateway.AccountID, endpoint gateway.EndpointID) store.Lane {
	t.Helper()
	lane, ok, err := b.AcquireLane(t.Context(), account, endpoint, "explained")
	if err != nil || !ok {
		t.Fatalf("acquire lane: %t, %v", ok, err)
	}
	return lane
}

// eventIDs are new ones of several days, as a batch may hold them.
func (x *explained) eventIDs() []gateway.EventID {
	return []gateway.EventID{x.event.ID, gateway.EventID(x.b.clock.NewID())}
}

// newEventOf is an event that came in now, not stored yet.
func (x *explained) newEventOf() store.NewEvent {
	return store.NewEvent{
		Event: gateway.Event{
			ID: gateway.EventID(x.b.clock.NewID()), AccountID: x.owner.ID, SourceID: x.source,
			Type: "order.created", Status: gateway.EventAccepted,
		},
		Body: gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: []byte(`{}`)},
	}
}

// attempt is one of the delivery that was not made yet.
func (x *explained) attempt() gateway.Attempt {
	return gateway.Attempt{
		DeliveryID: x.delivery.ID, N: x.delivery.Attempts + 1, AccountID: x.owner.ID, EndpointID: x.endpoint,
		EventID: x.event.ID, Trigger: gateway.TriggerAuto, StartedAt: x.now, Duration: time.Millisecond,
		Outcome: gateway.OutcomeRejected, StatusCode: 500,
	}
}
