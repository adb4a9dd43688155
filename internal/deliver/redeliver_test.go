package deliver_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// failed is a delivery that has used its one attempt up.
func (b *bundle) failed(t *testing.T, r *receiver) (gateway.Endpoint, gateway.DeliveryID) {
	t.Helper()
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{} })
	id := b.publish(t, e, 1)[0]
	b.untilStatus(t, id, gateway.DeliveryFailed)
	return e, id
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(400, 200))
	_, id := b.failed(t, r)
	now, err := b.Redeliver(t.Context(), b.account, actor, id, nil, "")
	if err != nil || now.Status != gateway.DeliveryPending || now.Attempts != 1 {
		t.Fatalf("redeliver: %+v, %v", now, err)
	}
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	attempts := b.attempts(t, id)
	if len(attempts) != 2 || attempts[1].Trigger != gateway.TriggerManual || attempts[1].N != 2 {
		t.Errorf("attempts %+v", attempts)
	}
	got := r.requests()
	if got[0].header.Get("Idempotency-Key") != got[1].header.Get("Idempotency-Key") || got[1].header.Get("Rowlock-Attempt") != "2" {
		t.Errorf("headers %v", got[1].header)
	}
	if audit := b.audit(t); !slices.Equal(audit, []string{"delivery.redeliver"}) {
		t.Errorf("audit %q", audit)
	}
}

// A redelivered one begins its schedule anew.
func TestRedeliverStartsTheSchedule(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(400))
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{soon} })
	id := b.publish(t, e, 1)[0]
	b.untilStatus(t, id, gateway.DeliveryFailed)
	if _, err := b.Redeliver(t.Context(), b.account, actor, id, nil, ""); err != nil {
		t.Fatal(err)
	}
	pgtest.Until(t, "the second round is over", func() bool {
		d := b.delivery(t, id)
		return d.Status == gateway.DeliveryFailed && d.Attempts == 4
	})
}

// Many presses that saw the same make one new attempt.
func TestRedeliverAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(400, 200))
	e, id := b.failed(t, r)
	seen := 1
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			_, err := b.Redeliver(t.Context(), b.account, actor, id, &seen, "")
			if err != nil && !errors.Is(err, gateway.ErrDeliveryChanged) && !errors.Is(err, gateway.ErrDeliveryInFlight) {
				t.Errorf("redeliver: %v", err)
			}
		})
	}
	wg.Wait()
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	b.untilReleased(t, e)
	if n := len(r.requests()); n != 2 {
		t.Errorf("%d requests, want one new", n)
	}
	now, err := b.Redeliver(t.Context(), b.account, actor, id, &seen, "")
	if !errors.Is(err, gateway.ErrDeliveryChanged) || now.Status != gateway.DeliveryDelivered || now.Attempts != 2 {
		t.Errorf("a late press: %+v, %v", now, err)
	}
}

func TestRedeliverWhatWaits(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, newReceiver(t, status(400, 200)).URL, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{time.Hour} })
	id := b.publish(t, e, 1)[0]
	b.untilAttempts(t, id, 1)
	b.untilReleased(t, e)
	if _, err := b.Redeliver(t.Context(), b.account, actor, id, nil, ""); err != nil {
		t.Fatal(err)
	}
	b.untilStatus(t, id, gateway.DeliveryDelivered)
}

// A lane that sleeps after failed probes is woken by a person's press.
func TestRedeliverWakesASleepingLane(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	_, id := b.failed(t, newReceiver(t, status(400, 200)))
	b.exec(t, `UPDATE lanes SET sleep_until = now() + interval '1 h', wake_at = now() + interval '1 h'`)
	if _, err := b.Redeliver(t.Context(), b.account, actor, id, nil, ""); err != nil {
		t.Fatal(err)
	}
	b.untilStatus(t, id, gateway.DeliveryDelivered)
}

func TestRedeliverWhatIsInTheAir(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL)
	id := b.publish(t, e, 1)[0]
	r.until(t, 1)
	for _, state := range []func(*testing.T, gateway.Endpoint){func(*testing.T, gateway.Endpoint) {}, b.pause} {
		state(t, e)
		now, err := b.Redeliver(t.Context(), b.account, actor, id, nil, "")
		if !errors.Is(err, gateway.ErrDeliveryInFlight) || now.ID != id || now.Attempts != 1 {
			t.Errorf("redeliver: %+v, %v", now, err)
		}
	}
	close(gate)
	b.untilStatus(t, id, gateway.DeliveryDelivered)
}

func TestRedeliverRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(400))
	_, id := b.failed(t, r)
	event := b.delivery(t, id).EventID
	other, seven := b.newAccount(t, "other"), 7
	if _, err := b.Redeliver(t.Context(), other, actor, id, nil, ""); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
	if now, err := b.Redeliver(t.Context(), b.account, actor, id, &seven, ""); !errors.Is(err, gateway.ErrDeliveryChanged) || now.Attempts != 1 {
		t.Errorf("another number seen: %+v, %v", now, err)
	}
	b.exec(t, `UPDATE deliveries SET attempts = $2 WHERE id = $1`, id, gateway.MaxAttempts)
	if _, err := b.Redeliver(t.Context(), b.account, actor, id, nil, ""); !errors.Is(err, gateway.ErrAttemptsUsedUp) {
		t.Errorf("attempts used up: %v", err)
	}
	b.exec(t, `UPDATE deliveries SET attempts = 1 WHERE id = $1`, id)
	if err := b.DeletePayload(t.Context(), b.account, actor, event); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Redeliver(t.Context(), b.account, actor, id, nil, ""); !errors.Is(err, gateway.ErrPayloadGone) {
		t.Errorf("payload gone: %v", err)
	}
	if _, err := b.RedeliverEvent(t.Context(), b.account, actor, event, nil); !errors.Is(err, gateway.ErrPayloadGone) {
		t.Errorf("event, payload gone: %v", err)
	}
	if got := b.delivery(t, id); got.Status != gateway.DeliveryFailed {
		t.Errorf("delivery %+v", got)
	}
	if audit := b.audit(t); !slices.Equal(audit, []string{"event.delete_payload"}) {
		t.Errorf("audit %q", audit)
	}
}

// Nothing becomes open again at an endpoint that was deleted.
func TestRedeliverToADeletedEndpoint(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, id := b.failed(t, newReceiver(t, status(400)))
	event := b.delivery(t, id).EventID
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, e.ID) })
	if _, err := b.Redeliver(t.Context(), b.account, actor, id, nil, ""); !errors.Is(err, gateway.ErrNotActive) {
		t.Errorf("redeliver: %v", err)
	}
	if _, err := b.RedeliverEvent(t.Context(), b.account, actor, event, &e.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("event, one endpoint: %v", err)
	}
	if _, err := b.RedeliverEvent(t.Context(), b.account, actor, event, nil); err != nil {
		t.Errorf("event, all endpoints: %v", err)
	}
	if got := b.delivery(t, id); got.Status != gateway.DeliveryFailed {
		t.Errorf("delivery %+v", got)
	}
}

func TestRedeliverEventWaitsForADeletion(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, newReceiver(t, status(200)).URL)
	event := b.newEvent(t, b.account, eventType)
	done := make(chan error, 1)
	b.in(t, func(tx store.Tx) error {
		if err := tx.DeleteEndpoint(t.Context(), b.account, e.ID); err != nil {
			return err
		}
		go func() {
			_, err := b.RedeliverEvent(t.Context(), b.account, actor, event, &e.ID)
			done <- err
		}()
		return b.untilWaiting(t)
	})
	if err := <-done; !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("redeliver: %v", err)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE status IN ('pending', 'sending')`); n != 0 {
		t.Errorf("%d deliveries are open at a deleted endpoint", n)
	}
}

func TestRedeliverEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(400, 200))
	e, id := b.failed(t, r)
	event := b.delivery(t, id).EventID
	late := newReceiver(t, status(200))
	added := b.endpoint(t, late.URL)

	deliveries, err := b.RedeliverEvent(t.Context(), b.account, actor, event, nil)
	if err != nil || len(deliveries) != 1 || deliveries[0].ID != id {
		t.Fatalf("to all: %+v, %v", deliveries, err)
	}
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	deliveries, err = b.RedeliverEvent(t.Context(), b.account, actor, event, &added.ID)
	if err != nil || len(deliveries) != 1 || deliveries[0].EndpointID != added.ID {
		t.Fatalf("to one that never had it: %+v, %v", deliveries, err)
	}
	b.untilStatus(t, deliveries[0].ID, gateway.DeliveryDelivered)
	b.untilReleased(t, e)
	if len(r.requests()) != 2 || len(late.requests()) != 1 {
		t.Errorf("%d and %d requests", len(r.requests()), len(late.requests()))
	}
	if _, err := b.RedeliverEvent(t.Context(), b.newAccount(t, "other"), actor, event, nil); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
}

// Of each delivery of the event it is told whether it goes again, and why not: as
// one alone would be refused.
func TestRedeliverEventTellsWhatWasLeft(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.stop()
	b.singleFire(t, gateway.OnDoubtHold)
	event := b.newEvent(t, b.account, fact)
	done, held := gateway.ClaimID(b.clock.NewID()), gateway.ClaimID(b.clock.NewID())
	for claim, state := range map[gateway.ClaimID]string{done: "done", held: "in_progress"} {
		b.exec(t, `
			INSERT INTO claims (id, account_id, scope, key_hash, key, event_type, subject, state, holder, fence, on_doubt, claimed_at, lease_expires_at)
			VALUES ($1, $2, 's', sha256($3::text::bytea), $3, $4, $3, $3, 'h', 1, 'hold', now(), now())`, claim, b.account, state, fact)
	}
	want := map[gateway.DeliveryID]error{}
	for _, c := range []struct {
		status   gateway.DeliveryStatus
		attempts int
		claim    *gateway.ClaimID
		deleted  bool
		why      error
	}{
		{status: gateway.DeliveryFailed, attempts: 1},
		{status: gateway.DeliveryDelivered, attempts: 1},
		{status: gateway.DeliveryPending},
		{status: gateway.DeliverySending, attempts: 1, why: gateway.ErrDeliveryInFlight},
		{status: gateway.DeliveryFailed, attempts: gateway.MaxReopenedAttempts + 1, why: gateway.ErrAttemptsUsedUp},
		{status: gateway.DeliverySuppressed, claim: &done, why: gateway.ErrClaimDone},
		{status: gateway.DeliveryFailed, attempts: 1, claim: &held, why: gateway.ErrClaimInProgress},
		{status: gateway.DeliveryCancelled, deleted: true, why: gateway.ErrNotActive},
	} {
		e := b.endpoint(t, "https://example.com")
		id := gateway.DeriveDeliveryID(event, e.ID)
		want[id] = c.why
		b.exec(t, `
			INSERT INTO deliveries (id, account_id, event_id, endpoint_id, status, attempts, claim_id, closed_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, now())`, id, b.account, event, e.ID, string(c.status), c.attempts, c.claim)
		if c.deleted {
			b.exec(t, `UPDATE endpoints SET deleted_at = now() WHERE id = $1`, e.ID)
		}
	}

	deliveries, err := b.RedeliverEvent(t.Context(), b.account, actor, event, nil)
	if err != nil || len(deliveries) != len(want) {
		t.Fatalf("%d deliveries, %v", len(deliveries), err)
	}
	for _, d := range deliveries {
		if !errors.Is(d.Left, want[d.ID]) {
			t.Errorf("%s was left: %v, want %v", d.Status, d.Left, want[d.ID])
		}
		if reopened := d.Status == gateway.DeliveryPending; reopened != (d.Left == nil) {
			t.Errorf("%s, left: %v", d.Status, d.Left)
		}
		_, err := b.Redeliver(t.Context(), b.account, actor, d.ID, nil, "")
		if !errors.Is(err, d.Left) {
			t.Errorf("alone: %v, with the event: %v", err, d.Left)
		}
	}
}

// A redelivered event finds its lanes asleep and its jobs lost, and goes out
// all the same: the lanes' alarms are set.
func TestRedeliverEventSetsTheAlarm(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, id := b.failed(t, newReceiver(t, status(400)))
	b.untilReleased(t, e)
	b.stop()
	b.exec(t, `UPDATE lanes SET sleep_until = now() + interval '1 h', wake_at = NULL`)
	if _, err := b.RedeliverEvent(t.Context(), b.account, actor, b.delivery(t, id).EventID, nil); err != nil {
		t.Fatal(err)
	}
	if n := b.count(t, `SELECT count(*) FROM lanes WHERE wake_at <= now() AND sleep_until IS NULL`); n != 1 {
		t.Error("the lane was not woken")
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL, narrow)
	ids := b.publish(t, e, 2)
	r.until(t, 1)
	for range 2 {
		for _, id := range ids {
			_, err := b.Cancel(t.Context(), b.account, actor, id)
			if err != nil && !errors.Is(err, gateway.ErrStateChanged) {
				t.Error(err)
			}
		}
	}
	if _, err := b.Cancel(t.Context(), b.newAccount(t, "other"), actor, ids[0]); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
	close(gate)
	b.untilCount(t, 1, `SELECT count(*) FROM attempts WHERE outcome = 'succeeded'`)
	b.untilReleased(t, e)
	for _, id := range ids {
		if d := b.delivery(t, id); d.Status != gateway.DeliveryCancelled {
			t.Errorf("delivery %+v", d)
		}
	}
	if n := len(r.requests()); n != 1 {
		t.Errorf("%d requests, want the one that was in the air", n)
	}
	if audit := b.audit(t); !slices.Equal(audit, []string{"delivery.cancel", "delivery.cancel"}) {
		t.Errorf("audit %q", audit)
	}
}

// What was cancelled in the air and redelivered is two attempts with a result
// each, and the second one counts.
func TestRedeliverWhatWasCancelledInTheAir(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gates := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request, n int) {
		held(t, gates[n-1])(w, req, n)
		status(400, 200)(w, req, n)
	})
	id := b.publish(t, b.endpoint(t, r.URL), 1)[0]
	r.until(t, 1)
	if _, err := b.Cancel(t.Context(), b.account, actor, id); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Redeliver(t.Context(), b.account, actor, id, nil, ""); err != nil {
		t.Fatal(err)
	}
	r.until(t, 2)
	close(gates[0])
	b.untilAttempts(t, id, 1)
	if d := b.delivery(t, id); d.Status != gateway.DeliverySending || d.Attempts != 2 {
		t.Errorf("while the second is in the air: %+v", d)
	}
	close(gates[1])
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	if n := len(b.attempts(t, id)); n != 2 || len(r.requests()) != 2 {
		t.Errorf("%d attempts, %d requests", n, len(r.requests()))
	}
}

func TestDeletePayload(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL, narrow)
	ids := b.publish(t, e, 2)
	r.until(t, 1)
	for range 2 { // the second time changes nothing
		for _, id := range ids {
			if err := b.DeletePayload(t.Context(), b.account, actor, b.delivery(t, id).EventID); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(gate)
	b.untilCount(t, 1, `SELECT count(*) FROM attempts WHERE outcome = 'succeeded'`)
	b.untilReleased(t, e)
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE status = 'cancelled'`); n != 2 || len(r.requests()) != 1 {
		t.Errorf("%d cancelled, %d requests", n, len(r.requests()))
	}
	if n := b.count(t, `SELECT count(*) FROM event_bodies`); n != 0 {
		t.Errorf("%d bodies are left", n)
	}
	if audit := b.audit(t); len(audit) != 2 {
		t.Errorf("audit %q", audit)
	}
	if err := b.DeletePayload(t.Context(), b.newAccount(t, "other"), actor, b.delivery(t, ids[0]).EventID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
}

// No call needs a second connection while it holds one: else as many calls as
// there are connections would wait for each other.
func TestOneConnectionIsEnough(t *testing.T) {
	t.Parallel()
	b := newBundleAt(t, pgtest.URL(t), 1)
	b.stop()
	e := b.endpoint(t, "https://example.com/")
	id := b.queue(t, e, 1)[0]
	event, wrong := b.delivery(t, id).EventID, 7
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := b.Redeliver(ctx, b.account, actor, id, &wrong, ""); !errors.Is(err, gateway.ErrDeliveryChanged) {
		t.Errorf("redeliver: %v", err)
	}
	if _, err := b.RedeliverEvent(ctx, b.account, actor, event, &e.ID); err != nil {
		t.Errorf("redeliver event: %v", err)
	}
	for range 2 {
		if err := b.DeletePayload(ctx, b.account, actor, event); err != nil {
			t.Errorf("delete payload: %v", err)
		}
	}
	if _, err := b.Cancel(ctx, b.account, actor, id); !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("cancel: %v", err)
	}
}
