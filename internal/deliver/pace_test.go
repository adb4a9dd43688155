package deliver_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// limited lets so many sends begin within a second.
func limited(perSecond int) func(*gateway.Endpoint) {
	return func(e *gateway.Endpoint) { e.RatePerSecond = perSecond }
}

// wantPaced fails if more requests than a limit allows came within any second.
// They are judged by when they began: what a busy machine delays on its way can
// arrive together.
func (b *bundle) wantPaced(t *testing.T, ids []gateway.DeliveryID, most int) {
	t.Helper()
	var began []time.Time
	for _, id := range ids {
		for _, a := range b.attempts(t, id) {
			began = append(began, a.StartedAt)
		}
	}
	for i, at := range began {
		n := 0
		for _, other := range began {
			if d := other.Sub(at); d >= 0 && d < time.Second {
				n++
			}
		}
		if n > most {
			t.Fatalf("%d sends began within a second of number %d, want at most %d", n, i, most)
		}
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	ids := b.publish(t, b.endpoint(t, r.URL, limited(20)), 45)
	b.untilCount(t, 0, open)
	// A busy machine may begin a send late, and the next in time.
	b.wantPaced(t, ids, 20+2)
}

// The limit is the endpoint's, not a hold's: lanes that are released after each
// delivery, and held by another node then, keep to it.
func TestRateLimitHoldsOverHandOvers(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	other, _, _ := b.node(t, "n2")
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL, limited(5))
	var ids []gateway.DeliveryID
	for i := range 12 {
		id := b.queue(t, e, 1)[0]
		ids = append(ids, id)
		node := b.Service
		if i%2 == 1 {
			node = other
		}
		node.Wake([]store.LaneRef{laneOf(e)})
		b.untilAttempts(t, id, 1)
		b.untilReleased(t, e)
	}
	b.wantPaced(t, ids, 5+1)
}

// Retries count as first attempts do, and a lane that is paced holds no slot
// that others need.
func TestPacedLaneHoldsNoSlot(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(500, 200))
	e := b.endpoint(t, r.URL, limited(1))
	ids := b.publish(t, e, 2)
	r.until(t, 1)
	pgtest.Until(t, "no slot is held while the next send waits", func() bool { return b.FreeSlots() == workers })
	for _, id := range ids {
		b.untilStatus(t, id, gateway.DeliveryDelivered)
	}
	b.wantPaced(t, ids, 2)
}

// An endpoint that begins to time out is down to one probe with the first round
// of sends that gets no answer, and as wide as it was soon after it answers.
func TestSilentReceiverIsProbed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var silent atomic.Bool
	gate := make(chan struct{})
	hang, answer := held(t, gate), status(200)
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request, n int) {
		if silent.Load() {
			hang(w, req, n)
			return
		}
		answer(w, req, n)
	})
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.MaxInFlight, e.Timeout = 8, 300*time.Millisecond })
	b.publish(t, e, 40)
	b.untilCount(t, 0, open)
	b.untilReleased(t, e)
	silent.Store(true)
	b.publish(t, e, 40)
	b.untilCount(t, 1, `SELECT in_flight_cap FROM lanes`)
	if n := b.count(t, `SELECT count(*) FROM attempts WHERE outcome = 'unreachable'`); n > 2*8 {
		t.Errorf("%d sends were not answered before the lane was down to a probe, want those of one round or two", n)
	}
	close(gate)
	silent.Store(false)
	b.untilCount(t, 0, open)
	b.untilReleased(t, e)
	if wide := b.count(t, `SELECT in_flight_cap FROM lanes`); wide != 8 {
		t.Errorf("the lane is %d wide after it answered, want 8", wide)
	}
}
