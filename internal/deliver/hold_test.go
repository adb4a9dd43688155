package deliver_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// open is the query for what is not delivered yet.
const open = `SELECT count(*) FROM deliveries WHERE status <> 'delivered'`

func TestOneInFlightNeverOverlaps(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL, narrow)
	b.publish(t, e, 15)
	b.untilCount(t, 0, open)
	if n := len(r.requests()); n != 15 || r.overlap() != 1 {
		t.Errorf("%d requests, %d at once", n, r.overlap())
	}
}

// A lane starts as wide as its cap, also if the first answer is long in coming.
func TestFirstTurnIsAsWideAsTheCap(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	ids := b.publish(t, b.endpoint(t, r.URL), 9)
	r.until(t, gateway.InitialInFlightCap)
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE status = 'sending'`); n != gateway.InitialInFlightCap {
		t.Errorf("%d are being sent, want %d", n, gateway.InitialInFlightCap)
	}
	close(gate)
	b.untilCount(t, 0, open)
	var started []time.Time
	for _, id := range ids {
		started = append(started, b.attempts(t, id)[0].StartedAt)
	}
	slices.SortFunc(started, time.Time.Compare)
	if spread := started[gateway.InitialInFlightCap-1].Sub(started[0]); spread > 2*time.Second {
		t.Errorf("the first %d began within %v", gateway.InitialInFlightCap, spread)
	}
}

func TestLaneWidens(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	const limit, n = 6, 40
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.MaxInFlight = limit })
	b.publish(t, e, n)
	b.untilCount(t, 0, open)
	b.untilReleased(t, e)
	if wide := b.count(t, `SELECT in_flight_cap FROM lanes`); wide != limit || r.overlap() > limit {
		t.Errorf("the lane is %d wide, %d were under way at once, want %d", wide, r.overlap(), limit)
	}
}

// Trouble narrows the lane down to one probe, and a failed probe makes it
// sleep; an answer wakes and widens it.
func TestLaneNarrowsAndSleeps(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(500, 503, 429, 200))
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{time.Hour} })
	for i, want := range []int{2, 1, 1} {
		b.untilAttempts(t, b.publish(t, e, 1)[0], 1)
		b.untilReleased(t, e)
		if width := b.count(t, `SELECT in_flight_cap FROM lanes`); width != want {
			t.Errorf("after %d troubles the lane is %d wide, want %d", i+1, width, want)
		}
	}
	const asleep = `SELECT count(*) FROM lanes WHERE sleep_until > now() AND wake_at >= sleep_until AND failed_probes = 1`
	if n := b.count(t, asleep); n != 1 {
		t.Error("the lane does not sleep after a failed probe")
	}
	id := b.queue(t, e, 1)[0]
	b.exec(t, `UPDATE lanes SET sleep_until = now() + interval '1 h'`)
	b.wake(e)
	b.exec(t, `UPDATE lanes SET sleep_until = now()`)
	b.wake(e)
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	b.untilReleased(t, e)
	if n := b.count(t, `SELECT count(*) FROM lanes WHERE sleep_until IS NULL AND failed_probes = 0 AND in_flight_cap = 2`); n != 1 {
		t.Error("a success has not woken the lane")
	}
}

func TestPauseWhileSending(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL)
	first := b.publish(t, e, 1)[0]
	r.until(t, 1)
	b.pause(t, e)
	waiting := b.publish(t, e, 5)
	close(gate)
	b.untilStatus(t, first, gateway.DeliveryDelivered)
	b.untilReleased(t, e)
	for _, id := range waiting {
		if d := b.delivery(t, id); d.Status != gateway.DeliveryHeld || d.Attempts != 0 {
			t.Errorf("while paused: %+v", d)
		}
	}
	b.resume(t, e)
	b.untilCount(t, 0, open)
	if n := len(r.requests()); n != 6 {
		t.Errorf("%d requests for 6 deliveries", n)
	}
}

// A resume has an effect at once, though an answer from before the pause is
// still outstanding.
func TestResumeWhileSending(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request, n int) {
		if n == 1 {
			held(t, gate)(w, req, n)
		}
	})
	e := b.endpoint(t, r.URL)
	first := b.publish(t, e, 1)[0]
	r.until(t, 1)
	b.pause(t, e)
	b.exec(t, `UPDATE lanes SET leased_until = now()`)
	second := b.publish(t, e, 1)[0]
	b.untilCount(t, 1, `SELECT count(*) FROM lanes WHERE leased_until > now() + interval '5 s'`) // a turn has seen the pause
	b.resume(t, e)
	b.untilStatus(t, second, gateway.DeliveryDelivered)
	if d := b.delivery(t, first); d.Status != gateway.DeliverySending {
		t.Errorf("the first is %s", d.Status)
	}
	close(gate)
	b.untilStatus(t, first, gateway.DeliveryDelivered)
}

// A resume that comes while deliveries are added leaves nothing behind, with
// no alarm to help.
func TestResumeRacesWithNewWork(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, newReceiver(t, status(200)).URL)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 8 {
				b.publish(t, e, 1)
			}
		})
	}
	wg.Go(func() {
		for range 8 {
			b.pause(t, e)
			b.resume(t, e)
		}
	})
	wg.Wait()
	b.untilCount(t, 0, open)
}

// Work that comes while a drain is about to end is not left behind.
func TestNoWakeUpIsLost(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 12 {
				b.publish(t, e, 1)
			}
		})
	}
	wg.Wait()
	b.untilCount(t, 0, open)
	if n := len(r.requests()); n != 48 {
		t.Errorf("%d requests for 48 deliveries", n)
	}
}

// Work whose wake-up walked away, since the lane was held, is found by the
// look after the release.
func TestReleaseLooksOnceMore(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL)
	b.publish(t, e, 1)
	r.until(t, 1)
	b.queue(t, e, 3)
	close(gate)
	b.untilCount(t, 0, open)
}

// A retry that is near is served by the node that recorded it, after it gave
// the lane back and with no alarm to help.
func TestNearRetryIsServedWithoutAlarm(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, newReceiver(t, status(400, 200)).URL, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{400 * time.Millisecond} })
	id := b.publish(t, e, 1)[0]
	b.untilAttempts(t, id, 1)
	b.untilReleased(t, e)
	d := b.untilStatus(t, id, gateway.DeliveryDelivered)
	a := b.attempts(t, id)
	if wait := a[1].StartedAt.Sub(a[0].StartedAt); wait < 300*time.Millisecond || d.Attempts != 2 {
		t.Errorf("tried again after %v", wait)
	}
}

func TestTwoNodesShareNoDelivery(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	other, _, _ := b.node(t, "n2")
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.MaxInFlight = 3 })
	b.queue(t, e, 30)
	for range 5 {
		b.wake(e)
		other.Wake([]store.LaneRef{laneOf(e)})
	}
	b.untilCount(t, 0, open)
	if n := len(r.requests()); n != 30 || r.overlap() > 3 {
		t.Errorf("%d requests for 30 deliveries, %d at once", n, r.overlap())
	}
}

func TestLaneIsExtendedWhileASendHangs(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL)
	b.publish(t, e, 1)
	r.until(t, 1)
	b.exec(t, `UPDATE lanes SET leased_until = now() + interval '2 s', wake_at = now() + interval '2 s'`)
	b.untilCount(t, 1, `SELECT count(*) FROM lanes WHERE leased_until > now() + interval '5 s' AND wake_at > now() + interval '5 s'`)
	close(gate)
	b.untilCount(t, 0, open)
}

// hanging is a receiver that tells when a request to it is given up.
func hanging(t *testing.T) (r *receiver, gaveUp <-chan struct{}) {
	t.Helper()
	ended := make(chan struct{}, 100)
	return newReceiver(t, func(_ http.ResponseWriter, req *http.Request, _ int) {
		select {
		case <-req.Context().Done():
			ended <- struct{}{}
		case <-t.Context().Done():
		}
	}), ended
}

func TestLaneLostInTheMiddleOfASend(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r, gaveUp := hanging(t)
	e := b.endpoint(t, r.URL)
	id := b.publish(t, e, 1)[0]
	r.until(t, 1)
	b.exec(t, `UPDATE lanes SET fence = fence + 1, node = 'heir', leased_until = now() + interval '1 h'`)
	b.wake(e)
	select {
	case <-gaveUp:
	case <-time.After(patience):
		t.Fatal("the send goes on though the lane is lost")
	}
	b.stop()
	if d := b.delivery(t, id); d.Status != gateway.DeliverySending || len(b.attempts(t, id)) != 0 {
		t.Errorf("delivery %+v, %d attempts: want nothing recorded", d, len(b.attempts(t, id)))
	}
	if n := b.count(t, `SELECT count(*) FROM lanes WHERE node = 'heir' AND fence = 2 AND leased_until > now() + interval '59 min'`); n != 1 {
		t.Error("the heir's lane was touched")
	}
}

// What a dead node left in the air goes out again, under the same ids, with an
// attempt that says that the first answer is not known.
func TestTakeOverSendsAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL)
	id := b.queue(t, e, 1)[0]
	dead, ok, err := b.store.AcquireLane(t.Context(), b.account, e.ID, "dead")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.TakeDue(t.Context(), dead, 1)
		return err
	})
	b.exec(t, `UPDATE lanes SET leased_until = now() - interval '1 s'`)
	b.exec(t, `INSERT INTO nodes (node, seen_at, steady_since, started_at, roles, version) VALUES ('n1', now() + interval '1 h', now() - interval '1 h', now(), 'worker', '')`)
	b.wake(e)
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	got, attempts := r.requests(), b.attempts(t, id)
	if len(got) != 1 || got[0].header.Get("Rowlock-Attempt") != "2" || got[0].header.Get("Idempotency-Key") != id.String() {
		t.Errorf("requests %+v", got)
	}
	if len(attempts) != 2 || attempts[0].Outcome != gateway.OutcomeUnknown || attempts[1].Outcome != gateway.OutcomeSucceeded {
		t.Errorf("attempts %+v", attempts)
	}
	stats, err := b.store.EndpointStats(t.Context(), b.account, e.ID, b.clock.Now().Add(-time.Hour))
	if err != nil || stats.Unknown != 1 || stats.Succeeded != 1 {
		t.Errorf("stats %+v, %v", stats, err)
	}
}

func TestShutdownRecordsWhatIsInTheAir(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.MaxInFlight = 2 })
	b.publish(t, e, 5)
	r.until(t, 2)
	b.cancel()
	close(gate)
	b.stop()
	if n := len(r.requests()); n != 2 {
		t.Errorf("%d requests, want none after the stop", n)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries d JOIN attempts a ON a.delivery_id = d.id WHERE d.status = 'delivered'`); n != 2 {
		t.Errorf("%d are recorded, want both that were in the air", n)
	}
	if n := b.count(t, `SELECT count(*) FROM lanes WHERE leased_until IS NULL AND node IS NULL AND wake_at <= now()`); n != 1 {
		t.Error("the lane was not handed over")
	}
	b.wake(e) // a stopped node does nothing
	other, _, _ := b.node(t, "n2")
	if n, err := other.RingAlarms(t.Context()); n != 1 || err != nil {
		t.Errorf("%d alarms rang, %v", n, err)
	}
	other.Wake([]store.LaneRef{laneOf(e)})
	b.untilCount(t, 0, open)
	if n := len(r.requests()); n != 5 {
		t.Errorf("%d requests for 5 deliveries", n)
	}
}

// A stop does not wait for lanes that wait for a slot, and takes none for them.
func TestShutdownWhileLanesWaitForSlots(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(o *deliver.Options) { o.Workers = 1 })
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	b.publish(t, b.endpoint(t, r.URL), 1)
	r.until(t, 1)
	for range 5 {
		b.publish(t, b.endpoint(t, r.URL), 1)
	}
	b.cancel()
	close(gate)
	b.stop()
	if n := len(r.requests()); n != 1 {
		t.Errorf("%d requests, want none after the stop", n)
	}
	if n := b.count(t, `SELECT count(*) FROM lanes WHERE leased_until IS NULL`); n != 6 {
		t.Errorf("%d lanes are free, want all 6", n)
	}
}

// One account's receivers hang; another's deliveries go out all the same.
func TestHangingAccountLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(o *deliver.Options) { o.Workers = 4 })
	stuck := newReceiver(t, held(t, nil))
	for range 6 {
		b.publish(t, b.endpoint(t, stuck.URL), 3)
	}
	stuck.until(t, 3)
	r := newReceiver(t, status(200))
	b.account = b.newAccount(t, "other")
	ids := b.publish(t, b.endpoint(t, r.URL), 20)
	for _, id := range ids {
		b.untilStatus(t, id, gateway.DeliveryDelivered)
	}
	if n := stuck.overlap(); n > 3 {
		t.Errorf("%d sends of the hanging account, want at most three of four", n)
	}
}

// Lanes that were left timing out share the slow half from their first probe
// on, whatever accounts they belong to.
func TestSlowLanesShareHalfTheSlots(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(o *deliver.Options) { o.Workers = 2 })
	stuck := newReceiver(t, held(t, nil))
	for _, slug := range []string{"one", "two", "three"} {
		b.account = b.newAccount(t, slug)
		b.queue(t, b.endpoint(t, stuck.URL), 1)
	}
	b.exec(t, `UPDATE lanes SET timing_out = true, in_flight_cap = 1`)
	for _, ref := range b.lanes(t) {
		b.Wake([]store.LaneRef{ref})
	}
	stuck.until(t, 1)
	b.account = b.newAccount(t, "quick")
	r := newReceiver(t, status(200))
	for _, id := range b.publish(t, b.endpoint(t, r.URL), 3) {
		b.untilStatus(t, id, gateway.DeliveryDelivered)
	}
	if n := stuck.overlap(); n != 1 {
		t.Errorf("%d sends to receivers that time out, want half of two", n)
	}
}

func (b *bundle) lanes(t *testing.T) (refs []store.LaneRef) {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `SELECT account_id, endpoint_id FROM lanes`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var ref store.LaneRef
		if err := rows.Scan(&ref.AccountID, &ref.EndpointID); err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	return refs
}

// No secret and no body gets into the log, whatever happens.
func TestNothingSecretIsLogged(t *testing.T) {
	t.Parallel()
	log := &logBuffer{}
	b := newBundle(t, func(o *deliver.Options) { o.Log = log.logger() })
	r := newReceiver(t, status(410))
	e := b.endpoint(t, r.URL+"/s3cret", func(e *gateway.Endpoint) {
		e.Headers = gateway.EncodeHeaders(http.Header{"Authorization": {"Bearer hunter2"}})
	})
	b.publish(t, e, 1)
	b.untilCount(t, 1, `SELECT count(*) FROM endpoints WHERE state = 'disabled'`)
	b.untilReleased(t, e)
	text := log.String()
	for _, secret := range []string{"hunter2", "s3cret", "whsec_", "12345678901234567890"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q: %s", secret, text)
		}
	}
	if !strings.Contains(text, e.ID.String()) {
		t.Errorf("the log does not name the endpoint: %q", text)
	}
}

// A lane does not stay with one node for long when another could have it, also
// when it is never idle.
func TestBusyLaneIsHandedOver(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL, narrow)
	const n = 100
	b.exec(t, `INSERT INTO nodes (node, seen_at, steady_since, started_at, roles, version) VALUES ('n2', now() + interval '1 h', now(), now(), 'worker', '')`)
	b.publish(t, e, n)
	r.until(t, 1)
	now := time.Now()
	b.clock.Observe(now, now, now.Add(31*time.Second)) // half a minute goes by
	b.untilCount(t, 1, `SELECT count(*) FROM river_job WHERE kind = 'deliver'`)
	if left := b.count(t, open); left == 0 {
		t.Error("the lane was handed over when nothing was left to do")
	}
	other, _, _ := b.node(t, "n2")
	other.Wake([]store.LaneRef{laneOf(e)})
	b.untilCount(t, 0, open)
	if got := len(r.requests()); got != n || r.overlap() != 1 {
		t.Errorf("%d requests for %d deliveries, %d at once", got, n, r.overlap())
	}
}
