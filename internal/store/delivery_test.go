package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// delivery reads a delivery that must be there.
func (b bundle) delivery(t *testing.T, id gateway.DeliveryID) gateway.Delivery {
	t.Helper()
	d, err := b.Delivery(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// list returns the ids of a list, newest first.
func (b bundle) list(t *testing.T, f store.DeliveryFilter, page store.Page[gateway.DeliveryID]) []gateway.DeliveryID {
	t.Helper()
	if page.Limit == 0 {
		page.Limit = 100
	}
	deliveries, err := b.Deliveries(t.Context(), b.account, f, page)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]gateway.DeliveryID, len(deliveries))
	for i, d := range deliveries {
		ids[i] = d.ID
	}
	return ids
}

func newestFirst(ids ...gateway.DeliveryID) []gateway.DeliveryID {
	slices.SortFunc(ids, func(a, b gateway.DeliveryID) int { return b.Compare(a) })
	return ids
}

func TestDelivery(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	id := b.queued(t, e.ID, 1)[0]
	before := b.clock.Now().Add(-time.Minute)
	got := b.delivery(t, id)
	if got.NextAttemptAt == nil || got.NextAttemptAt.Before(before) || got.CreatedAt.Before(before) {
		t.Errorf("times: next %v, created %v", got.NextAttemptAt, got.CreatedAt)
	}
	got.NextAttemptAt, got.CreatedAt = nil, time.Time{}
	want := gateway.Delivery{
		ID: id, AccountID: b.account, EventID: got.EventID, EndpointID: e.ID,
		Status: gateway.DeliveryPending, Trigger: gateway.TriggerAuto,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := b.Delivery(t.Context(), b.newAccount(t, "other"), id); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.DeliveryInTx(t.Context(), b.account, gateway.DeliveryID(b.clock.NewID()))
		if !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("no delivery: %v", err)
		}
		return nil
	})
}

// Each status of an active endpoint and of one that is not, and what is shown.
func TestDeliveriesByStatus(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	active, paused, disabled := b.newEndpoint(t), b.newEndpoint(t), b.newEndpoint(t)
	b.exec(t, 1, `UPDATE endpoints SET state = 'paused' WHERE id = $1`, paused.ID)
	b.exec(t, 1, `UPDATE endpoints SET state = 'disabled' WHERE id = $1`, disabled.ID)
	want := map[gateway.DeliveryStatus][]gateway.DeliveryID{}
	for _, e := range []gateway.Endpoint{active, paused, disabled} {
		for _, status := range gateway.DeliveryStatuses {
			if status == gateway.DeliveryHeld {
				continue
			}
			id := b.queued(t, e.ID, 1)[0]
			b.exec(t, 1, `UPDATE deliveries SET status = $2 WHERE id = $1`, id, string(status))
			shown := status
			if open := status == gateway.DeliveryPending || status == gateway.DeliverySending; open && e.ID != active.ID {
				shown = gateway.DeliveryHeld
			}
			want[shown] = append(want[shown], id)
			if got := b.delivery(t, id); got.Status != shown {
				t.Errorf("%s is shown as %s, want %s", status, got.Status, shown)
			}
		}
	}
	for _, status := range gateway.DeliveryStatuses {
		got := b.list(t, store.DeliveryFilter{Status: status}, store.Page[gateway.DeliveryID]{})
		if diff := cmp.Diff(newestFirst(want[status]...), got); diff != "" {
			t.Errorf("%s: %s", status, diff)
		}
	}
	held := store.DeliveryFilter{Status: gateway.DeliveryHeld, Endpoint: &disabled.ID}
	if got := b.list(t, held, store.Page[gateway.DeliveryID]{}); len(got) != 2 {
		t.Errorf("%d held at the disabled endpoint, want 2", len(got))
	}
}

func TestDeliveriesFilters(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newEndpoint(t), b.newEndpoint(t)
	ok, bad, lost := b.queued(t, one.ID, 1)[0], b.queued(t, one.ID, 1)[0], b.queued(t, two.ID, 1)[0]
	fresh := b.queued(t, two.ID, 1)[0]
	for id, outcome := range map[gateway.DeliveryID]gateway.Outcome{ok: gateway.OutcomeSucceeded, bad: gateway.OutcomeRejected, lost: gateway.OutcomeUnknown} {
		b.exec(t, 1, `UPDATE deliveries SET last_outcome = $2 WHERE id = $1`, id, string(outcome))
	}
	event := b.delivery(t, bad).EventID
	for name, c := range map[string]struct {
		filter store.DeliveryFilter
		page   store.Page[gateway.DeliveryID]
		want   []gateway.DeliveryID
	}{
		"all":                      {want: newestFirst(ok, bad, lost, fresh)},
		"endpoint":                 {filter: store.DeliveryFilter{Endpoint: &one.ID}, want: newestFirst(ok, bad)},
		"event":                    {filter: store.DeliveryFilter{Event: &event}, want: newestFirst(bad)},
		"event of another":         {filter: store.DeliveryFilter{Event: &event, Endpoint: &two.ID}, want: newestFirst()},
		"succeeded":                {filter: store.DeliveryFilter{Outcome: gateway.OutcomeSucceeded}, want: newestFirst(ok)},
		"rejected":                 {filter: store.DeliveryFilter{Outcome: gateway.OutcomeRejected}, want: newestFirst(bad)},
		"unknown":                  {filter: store.DeliveryFilter{Outcome: gateway.OutcomeUnknown}, want: newestFirst(lost)},
		"unreachable":              {filter: store.DeliveryFilter{Outcome: gateway.OutcomeUnreachable}, want: newestFirst()},
		"limit":                    {page: store.Page[gateway.DeliveryID]{Limit: 2}, want: newestFirst(ok, bad, lost, fresh)[:2]},
		"since later":              {page: store.Page[gateway.DeliveryID]{Since: b.clock.Now().Add(time.Minute)}, want: newestFirst()},
		"until before":             {page: store.Page[gateway.DeliveryID]{Until: b.clock.Now().Add(-time.Minute)}, want: newestFirst()},
		"around now":               {page: store.Page[gateway.DeliveryID]{Since: b.clock.Now().Add(-time.Minute), Until: b.clock.Now().Add(time.Minute)}, want: newestFirst(ok, bad, lost, fresh)},
		"event, since later":       {filter: store.DeliveryFilter{Event: &event}, page: store.Page[gateway.DeliveryID]{Since: b.clock.Now().Add(time.Minute)}, want: newestFirst()},
		"event, behind the cursor": {filter: store.DeliveryFilter{Event: &event}, page: store.Page[gateway.DeliveryID]{Before: &bad}, want: newestFirst()},
	} {
		if got := b.list(t, c.filter, c.page); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	b.account = b.newAccount(t, "other")
	if got := b.list(t, store.DeliveryFilter{}, store.Page[gateway.DeliveryID]{}); len(got) != 0 {
		t.Errorf("another account sees %v", got)
	}
}

// What comes in while somebody turns pages does not move what they see.
func TestDeliveriesPagesAreStable(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	want := newestFirst(b.queued(t, e.ID, 7)...)
	var got []gateway.DeliveryID
	page := store.Page[gateway.DeliveryID]{Limit: 3}
	for range 4 {
		part := b.list(t, store.DeliveryFilter{}, page)
		if len(part) == 0 {
			break
		}
		got = append(got, part...)
		page.Before = &part[len(part)-1]
		b.queued(t, e.ID, 2)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
