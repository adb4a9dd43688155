package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Many events of one millisecond are to two endpoints: each is listed once, and
// in the order of events, whatever the order of their deliveries, and wherever a
// page ends.
func TestEventsSentComeInOrder(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	first, second := b.newEndpoint(t), b.newEndpoint(t)
	b.queued(t, first.ID, 300)
	all, err := b.Events(t.Context(), b.account, store.EventFilter{}, store.Page[gateway.EventID]{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var more []store.NewDelivery
	want := make([]gateway.EventID, len(all))
	for i, e := range all {
		want[i] = e.ID
		more = append(more, store.NewDelivery{AccountID: b.account, EventID: e.ID, EndpointID: second.ID})
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.InsertDeliveries(t.Context(), more)
		return err
	})
	for name, f := range map[string]store.DeliveryFilter{"all": {}, "endpoint": {Endpoint: &second.ID}, "open": {Status: gateway.DeliveryPending}} {
		for _, limit := range []int{1, 7, 299, 300, 301} {
			if diff := cmp.Diff(want, b.sentInPages(t, f, store.Page[gateway.EventID]{Limit: limit})); diff != "" {
				t.Errorf("%s, %d at once (-want +got):\n%s", name, limit, diff)
			}
		}
	}
	since := want[150].Time()
	part := b.sentInPages(t, store.DeliveryFilter{}, store.Page[gateway.EventID]{Limit: 9, Since: since})
	if diff := cmp.Diff(want[:1+slices.IndexFunc(want, func(id gateway.EventID) bool { return id == part[len(part)-1] })], part); diff != "" || part[len(part)-1].Time().Before(since) {
		t.Errorf("since a time (-want +got):\n%s", diff)
	}
}

// sentInPages reads a list to its end.
func (b bundle) sentInPages(t *testing.T, f store.DeliveryFilter, page store.Page[gateway.EventID]) (ids []gateway.EventID) {
	t.Helper()
	for {
		events, err := b.EventsSent(t.Context(), b.account, f, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			ids = append(ids, e.ID)
			page.Before = &e.ID
		}
		if len(events) < page.Limit {
			return ids
		}
	}
}

func TestTroubledDeliveriesAreThoseThatFailed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	b.queued(t, e.ID, 2)
	retried := b.fail(t, e.ID, gateway.Cause{StatusCode: 500}, 1)
	b.exec(t, 1, `UPDATE deliveries SET status = 'pending' WHERE id = $1`, retried[0])
	events, err := b.EventsSent(t.Context(), b.account, store.DeliveryFilter{Status: gateway.DeliveryPending, Troubled: true}, store.Page[gateway.EventID]{Limit: 9})
	if err != nil || len(events) != 1 || events[0].ID != b.delivery(t, retried[0]).EventID {
		t.Errorf("%v, %v; want the one that failed before", events, err)
	}
}

func TestArrivedIsShownToItsAccountAlone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	ids := b.accepted(t, source, 3)
	arrived := func(account gateway.AccountID, ids []gateway.EventID) map[gateway.EventID]string {
		bodies := map[gateway.EventID]string{}
		if err := b.EachArrived(t.Context(), account, ids, func(id gateway.EventID, headers, body []byte) {
			bodies[id] = string(headers) + string(body)
		}); err != nil {
			t.Fatal(err)
		}
		return bodies
	}
	b.in(t, func(tx store.Tx) error { _, err := tx.DeletePayload(t.Context(), b.account, ids[0]); return err })
	want := string(store.JSONHeaders) + queuedBody
	if diff := cmp.Diff(map[gateway.EventID]string{ids[1]: want, ids[2]: want}, arrived(b.account, ids)); diff != "" {
		t.Error(diff)
	}
	if got := arrived(b.newAccount(t, "other"), ids); len(got) != 0 {
		t.Errorf("another account is shown %v", got)
	}
	if got := arrived(b.account, nil); len(got) != 0 {
		t.Errorf("of no events there is %v", got)
	}
}

func TestEventTimes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	ids := b.accepted(t, source, 3)
	b.decided(t, b.newSource(t).ID, gateway.EventIgnored)
	times, err := b.EventTimes(t.Context(), b.account, store.EventFilter{Source: &source}, store.Page[gateway.EventID]{Limit: 2})
	if diff := cmp.Diff([]time.Time{ids[2].Time(), ids[1].Time()}, times); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
