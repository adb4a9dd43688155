package deliver_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// before makes an endpoint fail over to another.
func before(next gateway.Endpoint) func(*gateway.Endpoint) {
	return func(e *gateway.Endpoint) { e.Failover = &next.ID }
}

// ids are the events that a receiver got, sorted.
func (r *receiver) ids() []string {
	var ids []string
	for _, got := range r.requests() {
		ids = append(ids, got.header.Get("Webhook-Id"))
	}
	slices.Sort(ids)
	return ids
}

// eventsOf are the events of deliveries, sorted.
func (b *bundle) eventsOf(t *testing.T, deliveries []gateway.DeliveryID) []string {
	t.Helper()
	var ids []string
	for _, id := range deliveries {
		ids = append(ids, b.delivery(t, id).EventID.String())
	}
	slices.Sort(ids)
	return ids
}

// elsewhere are the deliveries of the same events to another endpoint.
func (b *bundle) elsewhere(t *testing.T, deliveries []gateway.DeliveryID, e gateway.Endpoint) []gateway.DeliveryID {
	t.Helper()
	var ids []gateway.DeliveryID
	for _, id := range deliveries {
		ids = append(ids, gateway.DeriveDeliveryID(b.delivery(t, id).EventID, e.ID))
	}
	return ids
}

// inState is the query for how many deliveries of an endpoint are in a status.
const inState = `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = $2`

// untilAll waits until so many deliveries of an endpoint are in a status.
func (b *bundle) untilAll(t *testing.T, e gateway.Endpoint, n int, status gateway.DeliveryStatus) {
	t.Helper()
	b.untilCount(t, n, inState, e.ID, string(status))
}

// disable does what a run of failures does.
func (b *bundle) disable(t *testing.T, endpoints ...gateway.Endpoint) {
	t.Helper()
	for _, e := range endpoints {
		b.exec(t, `UPDATE endpoints SET state = 'disabled' WHERE id = $1`, e.ID)
	}
}

// What fails for good goes to the next of the chain, and on from there, once.
func TestFailedForGoodGoesToTheNext(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const n = 20
	first, second, third := newReceiver(t, status(400)), newReceiver(t, status(404)), newReceiver(t, status(200))
	last := b.endpoint(t, third.URL)
	mid := b.endpoint(t, second.URL, once, before(last))
	head := b.endpoint(t, first.URL, before(mid), func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{soon} })
	ids := b.publish(t, head, n)
	b.untilAll(t, last, n, gateway.DeliveryDelivered)
	for _, e := range []gateway.Endpoint{head, mid} {
		b.untilAll(t, e, n, gateway.DeliveryFailed)
		b.untilReleased(t, e)
	}
	b.untilReleased(t, last)
	if got, want := third.ids(), b.eventsOf(t, ids); !slices.Equal(got, want) {
		t.Errorf("the last one got %v, want each of %v once", got, want)
	}
	if f, s := len(first.requests()), len(second.requests()); f != 2*n || s != n {
		t.Errorf("%d and %d requests, want two and one for each event", f, s)
	}
	for i, id := range b.elsewhere(t, ids, last) {
		if d := b.delivery(t, id); d.FailoverOf == nil || *d.FailoverOf != mid.ID {
			t.Errorf("delivery %d is for %v, want the second", i, d.FailoverOf)
		}
	}
}

// Who asked for the event itself is not sent it twice.
func TestTheNextHasTheEventAlready(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	first, second := newReceiver(t, status(400)), newReceiver(t, status(200))
	next := b.endpoint(t, second.URL)
	head := b.endpoint(t, first.URL, once, before(next))
	id := b.queue(t, head, 1)[0]
	event := b.delivery(t, id).EventID
	b.in(t, func(tx store.Tx) error {
		_, err := tx.InsertDeliveries(t.Context(), []store.NewDelivery{{AccountID: b.account, EventID: event, EndpointID: next.ID}})
		return err
	})
	b.wake(next)
	b.untilAll(t, next, 1, gateway.DeliveryDelivered)
	b.wake(head)
	b.untilStatus(t, id, gateway.DeliveryFailed)
	b.untilReleased(t, head)
	b.untilReleased(t, next)
	if n := len(second.requests()); n != 1 {
		t.Errorf("%d requests, want one", n)
	}
}

// What a person ends or tries goes nowhere else.
func TestPeoplesActsDoNotFailOver(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	first, second := newReceiver(t, status(400)), newReceiver(t, status(200))
	next := b.endpoint(t, second.URL)
	head := b.endpoint(t, first.URL, once, before(next))
	id := b.queue(t, head, 1)[0]
	if _, err := b.Cancel(t.Context(), b.account, actor, id); err != nil {
		t.Fatal(err)
	}
	if a, err := b.Test(t.Context(), b.account, actor, head.ID, ""); err != nil || a.StatusCode != 400 {
		t.Fatalf("test %+v, %v", a, err)
	}
	b.wake(head)
	b.untilReleased(t, head)
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, next.ID); n != 0 {
		t.Errorf("%d went to the next one", n)
	}
}

// A head that is disabled gives all that it has to the next one, what is to be
// retried later included; resuming it sends nothing of that.
func TestDisabledHeadAdvancesAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const n = 1200
	first := newReceiver(t, status(503, 503, 410, 200))
	second := newReceiver(t, status(200))
	next := b.endpoint(t, second.URL)
	head := b.endpoint(t, first.URL, narrow, before(next), func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{time.Hour} })
	ids := b.queue(t, head, n)
	b.exec(t, `UPDATE lanes SET in_flight_cap = 40 WHERE endpoint_id = $1`, head.ID)
	b.wake(head)
	b.untilAll(t, next, n, gateway.DeliveryDelivered)
	b.untilAll(t, head, n, gateway.DeliveryFailed)
	if got := second.ids(); !slices.Equal(got, b.eventsOf(t, ids)) {
		t.Errorf("the next one got %d requests, want each event once", len(got))
	}
	if got := len(first.requests()); got != 3 {
		t.Errorf("%d requests to the head, want three", got)
	}
	b.untilReleased(t, head)
	b.resume(t, head)
	b.publish(t, head, 1)
	b.untilAll(t, head, 1, gateway.DeliveryDelivered)
	b.untilReleased(t, head)
	if got := len(first.requests()); got != 4 {
		t.Errorf("%d requests to the head, want one after it was resumed", got)
	}
}

// What comes while the head is disabled goes on at once, and along the chain
// as far as it is disabled; the last one holds it.
func TestEventsOfADisabledChain(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	first, second, third := newReceiver(t, status(200)), newReceiver(t, status(200)), newReceiver(t, status(200))
	last := b.endpoint(t, third.URL)
	mid := b.endpoint(t, second.URL, before(last))
	head := b.endpoint(t, first.URL, before(mid))
	b.disable(t, head, mid, last)
	ids := b.publish(t, head, 30)
	b.untilAll(t, last, 30, gateway.DeliveryPending)
	for _, id := range b.elsewhere(t, ids, last) {
		b.untilStatus(t, id, gateway.DeliveryHeld)
	}
	b.untilAll(t, head, 30, gateway.DeliveryFailed)
	b.untilAll(t, mid, 30, gateway.DeliveryFailed)
	b.resume(t, mid)
	b.publish(t, head, 5)
	b.untilAll(t, mid, 5, gateway.DeliveryDelivered)
	b.resume(t, last)
	b.untilAll(t, last, 30, gateway.DeliveryDelivered)
	if f, s, l := len(first.requests()), len(second.requests()), len(third.requests()); f != 0 || s != 5 || l != 30 {
		t.Errorf("%d, %d and %d requests", f, s, l)
	}
}

// A person's pause holds, at the head and behind it.
func TestPausedEndpointsHold(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	first, second := newReceiver(t, status(400)), newReceiver(t, status(200))
	next := b.endpoint(t, second.URL)
	head := b.endpoint(t, first.URL, once, before(next))
	b.pause(t, head)
	b.pause(t, next)
	ids := b.publish(t, head, 3)
	b.untilReleased(t, head)
	for _, id := range ids {
		b.untilStatus(t, id, gateway.DeliveryHeld)
	}
	b.resume(t, head)
	for _, id := range b.elsewhere(t, ids, next) {
		pgtest.Until(t, "it was given", func() bool { return b.count(t, `SELECT count(*) FROM deliveries WHERE id = $1`, id) == 1 })
		b.untilStatus(t, id, gateway.DeliveryHeld)
	}
	b.resume(t, next)
	b.untilAll(t, next, 3, gateway.DeliveryDelivered)
}

// What is in the air when the head is disabled goes on when its answer is no
// success, and stays when it is one.
func TestInTheAirWhenTheHeadIsDisabled(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const n = 4
	gate := make(chan struct{})
	first := newReceiver(t, func(w http.ResponseWriter, r *http.Request, nth int) {
		if nth == n {
			w.WriteHeader(http.StatusGone)
			return
		}
		select {
		case <-gate:
		case <-r.Context().Done():
		}
		if nth > 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	second := newReceiver(t, status(200))
	next := b.endpoint(t, second.URL)
	head := b.endpoint(t, first.URL, before(next))
	b.publish(t, head, n)
	first.until(t, n)
	pgtest.Until(t, "the head is disabled", func() bool { return b.readEndpoint(t, head).State == gateway.EndpointDisabled })
	b.untilAll(t, next, 1, gateway.DeliveryDelivered)
	late := b.publish(t, head, 2) // while three are in the air
	b.untilAll(t, next, 3, gateway.DeliveryDelivered)
	close(gate)
	b.untilAll(t, next, n-1+len(late), gateway.DeliveryDelivered)
	b.untilAll(t, head, 1, gateway.DeliveryDelivered)
	b.untilReleased(t, head)
	if got := b.count(t, inState, head.ID, "failed"); got != n-1+len(late) {
		t.Errorf("%d are failed at the head", got)
	}
}

// What a person sends to a disabled head by hand waits there for its resume.
func TestRedeliveredToADisabledHeadWaits(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	first, second := newReceiver(t, status(410, 200)), newReceiver(t, status(200))
	next := b.endpoint(t, second.URL)
	head := b.endpoint(t, first.URL, before(next))
	id := b.publish(t, head, 1)[0]
	b.untilStatus(t, id, gateway.DeliveryFailed)
	b.untilReleased(t, head)
	if _, err := b.Redeliver(t.Context(), b.account, actor, id, nil, ""); err != nil {
		t.Fatal(err)
	}
	b.publish(t, head, 1)
	b.untilAll(t, next, 2, gateway.DeliveryDelivered)
	b.untilReleased(t, head)
	b.untilStatus(t, id, gateway.DeliveryHeld)
	b.resume(t, head)
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	if got := len(second.requests()); got != 2 {
		t.Errorf("the next one got %d", got)
	}
}

// A node died while it sent for a head that is disabled meanwhile; what it had
// in the air, and what waits, is found without any wake-up.
func TestStalledHeadsAreFound(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	second := newReceiver(t, status(200))
	next := b.endpoint(t, second.URL)
	head := b.endpoint(t, "http://127.0.0.1:9/", before(next))
	ids := b.queue(t, head, 5)
	lane, ok, err := b.store.AcquireLane(t.Context(), b.account, head.ID, "dead")
	if err != nil || !ok {
		t.Fatalf("acquire: %t, %v", ok, err)
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.TakeDue(t.Context(), lane, 2)
		return err
	})
	b.disable(t, head)
	b.exec(t, `UPDATE lanes SET leased_until = now() - interval '1 s'`)
	b.exec(t, `
		INSERT INTO nodes (node, seen_at, steady_since, started_at, roles, version)
		VALUES ('n1', now() + interval '1 min', now() - interval '1 min', now(), 'worker', '')`)
	if err := b.HandOnStalled(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.untilAll(t, next, len(ids), gateway.DeliveryDelivered)
	if got := second.ids(); !slices.Equal(got, b.eventsOf(t, ids)) {
		t.Errorf("the next one got %v", got)
	}
	b.untilCount(t, 2, `SELECT count(*) FROM attempts WHERE outcome = 'unknown'`)
}

// A lane that slept, and that timed out, hands on all the same.
func TestAHeadThatTimedOutHandsOnAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(o *deliver.Options) { o.DisableAfter = 2 })
	silent := make(chan struct{})
	defer close(silent)
	first := newReceiver(t, b.uncounted(t, held(t, silent)))
	second := newReceiver(t, status(200))
	next := b.endpoint(t, second.URL)
	head := b.endpoint(t, first.URL, narrow, before(next), func(e *gateway.Endpoint) {
		e.Timeout, e.RetrySchedule = 20*time.Millisecond, []time.Duration{time.Hour}
	})
	b.exec(t, `UPDATE lanes SET in_flight_cap = 1 WHERE endpoint_id = $1`, head.ID)
	b.publish(t, head, 10)
	pgtest.Until(t, "the head is disabled", func() bool { return b.readEndpoint(t, head).State == gateway.EndpointDisabled })
	b.untilAll(t, next, 10, gateway.DeliveryDelivered)
	b.untilReleased(t, head)
	started := time.Now()
	b.publish(t, head, 1)
	b.untilAll(t, next, 11, gateway.DeliveryDelivered)
	if took := time.Since(started); took > patience/4 {
		t.Errorf("it took %s", took)
	}
}

// The next one is deleted while everything fails over to it. Each event is
// there, and closed, or at who comes after it.
func TestTheNextIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const n = 300
	first, second, third := newReceiver(t, status(400)), newReceiver(t, status(200)), newReceiver(t, status(200))
	last := b.endpoint(t, third.URL)
	mid := b.endpoint(t, second.URL, before(last))
	head := b.endpoint(t, first.URL, once, before(mid))
	b.publish(t, head, n)
	second.until(t, 20)
	b.in(t, func(tx store.Tx) error {
		if _, err := tx.Bridge(t.Context(), b.account, mid.ID); err != nil {
			return err
		}
		return tx.DeleteEndpoint(t.Context(), b.account, mid.ID)
	})
	b.untilAll(t, head, n, gateway.DeliveryFailed)
	b.untilReleased(t, head)
	b.untilReleased(t, mid)
	b.untilCount(t, 0, `SELECT count(*) FROM deliveries WHERE status IN ('pending', 'sending')`)
	const there = `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`
	given := b.count(t, there, mid.ID) + b.count(t, there, last.ID)
	if after := b.count(t, there, last.ID); given != n || after == 0 {
		t.Errorf("%d were given, %d of them to the last one; want %d", given, after, n)
	}
	if got, want := len(third.requests()), b.count(t, inState, last.ID, "delivered"); got != want {
		t.Errorf("the last one got %d requests for %d deliveries", got, want)
	}
}
