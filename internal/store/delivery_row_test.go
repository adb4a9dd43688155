package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// sentTo stores a decided event with a delivery to each endpoint.
func (b bundle) sentTo(t *testing.T, endpoints ...gateway.EndpointID) (event gateway.EventID, deliveries []gateway.DeliveryID) {
	t.Helper()
	b.in(t, func(tx store.Tx) error {
		event = gateway.EventID(b.clock.NewID())
		made := b.newEvent(b.builtIn(t, tx), queuedBody)
		made.Event.ID, made.Event.Status = event, gateway.EventProcessed
		if err := tx.InsertEvents(t.Context(), []store.NewEvent{made}); err != nil {
			return err
		}
		for _, id := range endpoints {
			deliveries = append(deliveries, gateway.DeriveDeliveryID(event, id))
			if _, err := tx.InsertDeliveries(t.Context(), []store.NewDelivery{{AccountID: b.account, EventID: event, EndpointID: id}}); err != nil {
				return err
			}
		}
		return nil
	})
	return event, deliveries
}

func TestDeliveryRows(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, gone := b.newEndpoint(t), b.newEndpoint(t)
	b.exec(t, 1, `UPDATE endpoints SET description = 'ERP sync' WHERE id = $1`, one.ID)
	event, ids := b.sentTo(t, one.ID, gone.ID)
	none, _ := b.sentTo(t)
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, gone.ID) })
	rows := func(account gateway.AccountID, event gateway.EventID) map[gateway.DeliveryID]store.EndpointLabel {
		found, err := b.DeliveryRows(t.Context(), account, store.DeliveryFilter{Event: &event}, store.Page[gateway.DeliveryID]{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		got := map[gateway.DeliveryID]store.EndpointLabel{}
		for _, r := range found {
			got[r.ID] = r.Endpoint
		}
		return got
	}
	want := map[gateway.DeliveryID]store.EndpointLabel{
		ids[0]: {URL: one.URL, Description: "ERP sync", State: gateway.EndpointActive},
		ids[1]: {URL: gone.URL, State: gateway.EndpointDisabled, Deleted: true},
	}
	if diff := cmp.Diff(want, rows(b.account, event)); diff != "" {
		t.Error(diff)
	}
	if got := rows(b.account, none); len(got) != 0 {
		t.Errorf("of an event without deliveries: %v", got)
	}
	if got := rows(b.newAccount(t, "other"), event); len(got) != 0 {
		t.Errorf("another account sees %v", got)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two, paused := b.newEndpoint(t).ID, b.newEndpoint(t).ID, b.newEndpoint(t).ID
	b.exec(t, 1, `UPDATE endpoints SET state = 'paused' WHERE id = $1`, paused)
	set := func(id gateway.DeliveryID, status gateway.DeliveryStatus, outcome gateway.Outcome, next *time.Time) {
		b.exec(t, 1, `UPDATE deliveries SET status = $2, last_outcome = NULLIF($3, ''), next_attempt_at = $4 WHERE id = $1`,
			id, string(status), string(outcome), next)
	}
	soon := b.clock.Now().Truncate(time.Millisecond).Add(time.Minute)
	later, sooner := soon.Add(time.Hour), soon.Add(-time.Hour)
	done, ids := b.sentTo(t, one, two)
	set(ids[0], gateway.DeliveryDelivered, gateway.OutcomeSucceeded, nil)
	set(ids[1], gateway.DeliveryDelivered, gateway.OutcomeSucceeded, nil)
	mixed, ids := b.sentTo(t, one, two, paused)
	set(ids[0], gateway.DeliveryPending, gateway.OutcomeRejected, &soon)
	set(ids[1], gateway.DeliveryFailed, gateway.OutcomeUnreachable, nil)
	set(ids[2], gateway.DeliveryPending, "", &sooner)
	waiting, ids := b.sentTo(t, one, two)
	set(ids[0], gateway.DeliveryPending, "", &later)
	set(ids[1], gateway.DeliverySending, "", &sooner)
	told, ids := b.sentTo(t, one)
	set(ids[0], gateway.DeliverySuppressed, "", nil)
	none, _ := b.sentTo(t)
	events := []gateway.EventID{none, told, waiting, done, mixed, gateway.EventID(b.clock.NewID())}
	got, err := b.Progress(t.Context(), b.account, events)
	want := map[gateway.EventID]store.Progress{
		done:    {Total: 2, Delivered: 2},
		told:    {Total: 1, Suppressed: 1},
		mixed:   {Total: 3, Failed: 1, Open: 2, Held: 1, Retrying: 1, NextAttemptAt: &soon},
		waiting: {Total: 2, Open: 2, NextAttemptAt: &later},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	for name, c := range map[string]struct {
		account gateway.AccountID
		events  []gateway.EventID
	}{"no events": {b.account, nil}, "another account": {b.newAccount(t, "other"), events}} {
		if got, err := b.Progress(t.Context(), c.account, c.events); len(got) != 0 || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
