package e2e

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// endLimit bounds an end in order: 20 s for what is in flight, and the rest.
const endLimit = 30 * time.Second

// The server is asked to stop under load: it says that it is not ready, lets
// what it is sending finish, hands over, and ends well.
func TestServerTerminated(t *testing.T) {
	t.Parallel()
	randomly(t, func(t *testing.T, rng *rand.Rand) {
		w := newWorld(t, rng, shared, 1)
		w.publish()
		n := w.nodes[0]
		release := w.receiver.hold()
		w.inTheMiddle()
		n.signal(syscall.SIGTERM)
		w.turnsUnready(n)
		flying := w.receiver.all()
		release()
		n.wantExit(endLimit)
		w.finished(flying)
		w.handedOver()
		n.boot()
		w.load.flow(t, between(rng, 100, 200))
		w.settle()
	})
}

// turnsUnready checks that a node that finishes its sends says so to load
// balancers, and does not just stop to listen.
func (w *world) turnsUnready(n *node) {
	w.t.Helper()
	waitFor(w.t, endLimit/3, "/readyz is no longer 200", func() bool {
		status, err := n.ready()
		if errors.Is(err, syscall.ECONNREFUSED) {
			w.t.Error("while sends finish nobody listens, want /readyz to answer 503")
			return true
		}
		return status == http.StatusServiceUnavailable
	})
}

// finished checks that each request that had come got its answer.
func (w *world) finished(flying []hit) {
	w.t.Helper()
	for i, h := range w.receiver.all()[:len(flying)] {
		if !h.answered {
			w.complain("request %d, of delivery %s, was cut off", i, h.delivery)
		}
	}
}

// handedOver checks that a stopped node left no lane, no send and no name.
func (w *world) handedOver() {
	w.t.Helper()
	type counts struct{ Lanes, Sending, Nodes int }
	left := query[counts](w.t, w.database.url(), `
		SELECT (SELECT count(*) FROM lanes WHERE leased_until IS NOT NULL),
		       (SELECT count(*) FROM deliveries WHERE status = 'sending'),
		       (SELECT count(*) FROM nodes)`)[0]
	if left != (counts{}) {
		w.t.Errorf("after an end in order there are %+v, want none", left)
	}
}
