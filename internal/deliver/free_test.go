package deliver_test

import (
	"net/http"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// repeat has the fact's type be one that repeats, or single-fire again.
func (b *bundle) repeat(t *testing.T, repeats bool) {
	t.Helper()
	b.in(t, func(tx store.Tx) error {
		declared, err := tx.LockEventType(t.Context(), b.account, fact)
		if err != nil {
			return err
		}
		declared.SingleFire = !repeats
		_, err = tx.UpdateEventType(t.Context(), b.account, declared)
		return err
	})
}

// firstHeld answers the first request when the gate is opened, and the others at
// once.
func firstHeld(t *testing.T, gate <-chan struct{}) answer {
	return func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 1 {
			held(t, gate)(w, r, n)
		}
	}
}

const (
	waiting    = `SELECT count(*) FROM deliveries WHERE waiting_on IS NOT NULL`
	delivered  = `SELECT count(*) FROM deliveries WHERE status = 'delivered'`
	suppressed = `SELECT count(*) FROM deliveries WHERE status = 'suppressed'`
)

// free is what the job does; it must succeed.
func (b *bundle) free(t *testing.T, account gateway.AccountID, eventType string) {
	t.Helper()
	if err := b.FreeWaiting(t.Context(), account, eventType); err != nil {
		t.Error(err)
	}
}

// A type that is made to repeat lets go at once whatever waits for its facts,
// while it is being delivered and people cancel some of it, and whoever frees it
// how often. Nothing is freed of a type that is single-fire, of another, or of
// another account.
func TestFreeWaiting(t *testing.T) {
	t.Parallel()
	const n = 600
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtHold)
	gate := make(chan struct{})
	r := newReceiver(t, firstHeld(t, gate))
	e := b.endpoint(t, r.URL)
	holder, parked := b.park(t, e, n)
	b.free(t, b.account, fact)
	b.repeat(t, true)
	b.free(t, b.account, "another.fact")
	b.free(t, b.newAccount(t, "other"), fact)
	if left := b.count(t, waiting); left != n {
		t.Fatalf("%d wait, want all %d", left, n)
	}
	pgtest.AtOnce(8, func(i int) {
		if i < 4 {
			b.free(t, b.account, fact)
			return
		}
		for at := i - 4; at < n; at += 60 {
			_, _ = b.Cancel(t.Context(), b.account, actor, parked[at]) // it may be too late
		}
	})
	b.untilCount(t, n, `SELECT count(*) FROM deliveries WHERE status IN ('delivered', 'cancelled')`)
	if d := b.delivery(t, holder); d.Status != gateway.DeliverySending {
		t.Errorf("the holder is %s: nobody waits for it", d.Status)
	}
	close(gate)
	b.untilStatus(t, holder, gateway.DeliveryDelivered)
	keys := map[string]int{}
	for _, got := range r.requests() {
		keys[got.header.Get("Idempotency-Key")]++
	}
	if sent := len(r.requests()); len(keys) != sent || sent < n-40 {
		t.Errorf("%d requests under %d keys", sent, len(keys))
	}
	if left := b.count(t, `SELECT count(*) FROM claims WHERE waited`); left != 0 {
		t.Errorf("%d claims are still waited for", left)
	}
}

// Freeing goes in batches, over claims and over what waits for one, and nothing
// is left out or freed twice.
func TestFreeWaitingInBatches(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtHold)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	b.park(t, b.endpoint(t, r.URL), 25)
	for range 3 { // each of its own claim
		e := b.endpoint(t, r.URL)
		b.report(t, e, 1)
		b.wake(e)
		b.untilCount(t, 1, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'sending'`, e.ID)
		before := b.count(t, waiting)
		b.report(t, e, 2)
		b.wake(e)
		b.untilCount(t, before+2, waiting)
	}
	b.repeat(t, true)
	var after gateway.ClaimID
	var sizes []int
	for more := true; more; {
		b.in(t, func(tx store.Tx) error {
			freed, err := tx.FreeWaiting(t.Context(), b.account, fact, after, 10)
			if freed.N > 10 {
				t.Errorf("%d at once", freed.N)
			}
			sizes, after, more = append(sizes, freed.N), freed.After, freed.More
			return err
		})
	}
	if left := b.count(t, waiting); left != 0 || len(sizes) != 4 {
		t.Errorf("%d wait after %v", left, sizes)
	}
	close(gate)
	if _, err := b.RingAlarms(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.untilCount(t, 35, delivered)
}

// What waits is not suppressed by a confirmation that comes after the change, and
// is found without the job, too.
func TestFreedWithoutItsJob(t *testing.T) {
	t.Parallel()
	const n = 300
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtResend)
	gate := make(chan struct{})
	r := newReceiver(t, firstHeld(t, gate))
	e := b.endpoint(t, r.URL)
	holder, _ := b.park(t, e, n)
	b.in(t, func(tx store.Tx) error { return tx.DeleteEventType(t.Context(), b.account, fact) })
	close(gate)
	b.untilStatus(t, holder, gateway.DeliveryDelivered)
	if left, ended := b.count(t, waiting), b.count(t, suppressed); left != n || ended != 0 {
		t.Fatalf("%d wait and %d are suppressed, after the holder's success", left, ended)
	}
	b.exec(t, `UPDATE claims SET lease_expires_at = clock_timestamp() - interval '1 second'`)
	if err := b.RepairTurns(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := b.count(t, waiting); left != 0 {
		t.Errorf("%d wait after one look", left)
	}
	b.wake(e)
	b.untilCount(t, n+1, delivered)
}

// What is parked makes room at once for what comes behind it.
func TestParkingMakesRoom(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtHold)
	gate := make(chan struct{})
	r := newReceiver(t, firstHeld(t, gate))
	e := b.endpoint(t, r.URL)
	b.report(t, e, 1)
	b.wake(e)
	r.until(t, 1)
	b.report(t, e, 200)
	behind := b.publish(t, e, 1)[0]
	b.untilStatus(t, behind, gateway.DeliveryDelivered)
	if n := b.count(t, waiting); n != 200 {
		t.Errorf("%d wait", n)
	}
	close(gate)
	b.untilCount(t, 200, suppressed)
}
