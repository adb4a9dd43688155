package store_test

import (
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// reopen reopens a delivery in a transaction of its own.
func (b bundle) reopen(t *testing.T, id gateway.DeliveryID, seen int) (reopened bool) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		reopened, err = tx.Reopen(t.Context(), b.account, id, seen, gateway.TriggerManual, false)
		return err
	})
	return reopened
}

func TestReopen(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	const closed = `next_attempt_at = NULL, closed_at = now(), `
	for name, c := range map[string]struct {
		set  string
		want bool
		step int
	}{
		"delivered":       {closed + `status = 'delivered'`, true, 0},
		"failed":          {closed + `status = 'failed'`, true, 0},
		"suppressed":      {closed + `status = 'suppressed'`, true, 0},
		"cancelled":       {closed + `status = 'cancelled'`, true, 0},
		"expired":         {closed + `status = 'expired'`, true, 0},
		"pending":         {`status = 'pending', next_attempt_at = now() + interval '1 h'`, true, 3},
		"sending":         {`status = 'sending'`, false, 3},
		"other attempts":  {closed + `status = 'failed', attempts = 6`, false, 3},
		"attempts are up": {closed + `status = 'failed', attempts = 65535`, false, 3},
	} {
		id := b.queued(t, e.ID, 1)[0]
		b.exec(t, 1, `UPDATE deliveries SET attempts = 5, step = 3, priority = 2 WHERE id = $1`, id)
		b.exec(t, 1, `UPDATE deliveries SET `+c.set+` WHERE id = $1`, id)
		before := b.row(t, id)
		seen := 5
		if name == "attempts are up" {
			seen = gateway.MaxAttempts
		}
		if got := b.reopen(t, id, seen); got != c.want {
			t.Errorf("%s: reopened %t", name, got)
		}
		want := before
		if c.want {
			want.Status, want.Step, want.Priority, want.Trigger = "pending", c.step, gateway.PriorityFirst, "manual"
			want.Waits, want.Due, want.Closed = true, true, false
		}
		if got := b.row(t, id); got != want {
			t.Errorf("%s: %s", name, cmp.Diff(want, got))
		}
	}
}

func TestReopenRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for name, sql := range map[string]string{
		"payload deleted":  `UPDATE events SET payload_deleted_at = now() WHERE id = (SELECT event_id FROM deliveries WHERE id = $1)`,
		"endpoint deleted": `UPDATE endpoints SET deleted_at = now() WHERE id = (SELECT endpoint_id FROM deliveries WHERE id = $1)`,
		"event dropped":    `DELETE FROM events WHERE id = (SELECT event_id FROM deliveries WHERE id = $1)`,
	} {
		id := b.queued(t, b.newEndpoint(t).ID, 1)[0]
		b.exec(t, 1, `UPDATE deliveries SET status = 'failed', next_attempt_at = NULL WHERE id = $1`, id)
		b.exec(t, 1, sql, id)
		if b.reopen(t, id, 0) || b.row(t, id).Status != "failed" {
			t.Errorf("%s: reopened", name)
		}
	}
	id := b.queued(t, b.newEndpoint(t).ID, 1)[0]
	b.account = b.newAccount(t, "other")
	if b.reopen(t, id, 0) {
		t.Error("another account's delivery was reopened")
	}
}

// Two presses of one button that saw the same make one attempt: while it
// waits they are one, once it was made the second saw something else.
func TestReopenAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	id := b.queued(t, e.ID, 1)[0]
	lane := b.acquire(t, e.ID, "n")
	b.record(t, lane, b.answered(b.takeDue(t, lane, 1)[0], gateway.OutcomeRejected, gateway.DeliveryFailed))
	errs := b.atOnce(t.Context(), 10, func(tx store.Tx, _ int) error {
		_, err := tx.Reopen(t.Context(), b.account, id, 1, gateway.TriggerManual, false)
		return err
	})
	wantErrors(t, errs, 10, nil)
	again := b.takeDue(t, lane, 9)
	if len(again) != 1 || again[0].N != 2 || again[0].Step != 1 || again[0].Trigger != gateway.TriggerManual {
		t.Fatalf("taken %+v, want the second attempt alone, at the start of the schedule", again)
	}
	if b.reopen(t, id, 1) {
		t.Error("reopened while it is being sent")
	}
	b.record(t, lane, b.answered(again[0], gateway.OutcomeSucceeded, gateway.DeliveryDelivered))
	if b.reopen(t, id, 1) {
		t.Error("a late press that saw one attempt had an effect after the second")
	}
	if taken := b.takeDue(t, lane, 9); len(taken) != 0 {
		t.Errorf("taken again: %+v", taken)
	}
}

func TestCancelDelivery(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	for status, want := range map[string]bool{
		"pending": true, "sending": true, "delivered": false, "failed": false, "suppressed": false, "cancelled": false, "expired": false,
	} {
		id := b.queued(t, e.ID, 1)[0]
		b.exec(t, 1, `UPDATE deliveries SET status = $2 WHERE id = $1`, id, status)
		var cancelled atomic.Int32
		errs := b.atOnce(t.Context(), 3, func(tx store.Tx, _ int) error {
			did, err := tx.CancelDelivery(t.Context(), b.account, id)
			if did {
				cancelled.Add(1)
			}
			return err
		})
		wantErrors(t, errs, 3, nil)
		got := b.row(t, id)
		if (cancelled.Load() == 1) != want || want && (got.Status != "cancelled" || got.Waits || !got.Closed) || !want && got.Status != status {
			t.Errorf("%s: cancelled %d times, %+v", status, cancelled.Load(), got)
		}
	}
	id := b.queued(t, e.ID, 1)[0]
	other := b.newAccount(t, "other")
	b.in(t, func(tx store.Tx) error {
		did, err := tx.CancelDelivery(t.Context(), other, id)
		if did {
			t.Error("another account's delivery was cancelled")
		}
		return err
	})
}

func TestEventDeliveries(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two, neighbour := b.newEndpoint(t), b.newEndpoint(t), b.newEndpoint(t)
	first := b.queued(t, one.ID, 1)[0]
	b.queued(t, neighbour.ID, 3)
	event := b.delivery(t, first).EventID
	b.in(t, func(tx store.Tx) error {
		_, err := tx.InsertDeliveries(t.Context(), []store.NewDelivery{{AccountID: b.account, EventID: event, EndpointID: two.ID}})
		return err
	})
	for name, c := range map[string]struct {
		account  gateway.AccountID
		endpoint *gateway.EndpointID
		want     int
	}{
		"all":               {b.account, nil, 2},
		"one endpoint":      {b.account, &two.ID, 1},
		"an endpoint aside": {b.account, &neighbour.ID, 0},
		"another account":   {b.newAccount(t, "other"), nil, 0},
	} {
		b.in(t, func(tx store.Tx) error {
			got, err := tx.EventDeliveries(t.Context(), c.account, event, c.endpoint)
			if len(got) != c.want {
				t.Errorf("%s: %d deliveries, want %d", name, len(got), c.want)
			}
			return err
		})
	}
}

func TestInsertTested(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	event := gateway.EventID(b.clock.NewID())
	a := gateway.Attempt{
		AccountID: b.account, EndpointID: e.ID, EventID: event, DeliveryID: gateway.DeriveDeliveryID(event, e.ID), N: 1,
		Trigger: gateway.TriggerTest, StartedAt: b.clock.Now(), Outcome: gateway.OutcomeRejected, StatusCode: 500,
	}
	for range 2 {
		b.in(t, func(tx store.Tx) error { return tx.InsertTested(t.Context(), a, gateway.DeliveryFailed) })
	}
	want := deliveryRow{Status: "failed", Attempts: 1, Step: 1, Outcome: "rejected", Trigger: "test", Closed: true}
	if got := b.row(t, a.DeliveryID); got != want {
		t.Error(cmp.Diff(want, got))
	}
	if got, err := b.Attempt(t.Context(), b.account, a.ID()); err != nil || got.StatusCode != 500 || got.Trigger != gateway.TriggerTest {
		t.Errorf("attempt %+v, %v", got, err)
	}
	if got := b.delivery(t, a.DeliveryID).LastCause; got.StatusCode != 500 {
		t.Errorf("last cause %+v", got)
	}
}
