package e2e

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// resendLimit is within what a send that was under way at a node's death
	// is made again. The lease of 10 s is a part of it that no slowness of the
	// machine stretches; the rest is work, which it does.
	resendLimit = 15 * time.Second
	leaseTime   = 10 * time.Second
	// slowestLimit holds on the slowest machine: it is what is promised even if
	// every wake-up is lost.
	slowestLimit = time.Minute
	// stillFor is how often in a row the ledger must look the same for the
	// last statements of a dead process to be over.
	stillFor = 4
)

// flight is a send that was under way at a blow.
type flight struct {
	delivery string
	attempt  int
}

// blow is a moment at which something was killed or frozen, and what was under
// way then.
type blow struct {
	at      time.Time
	flights []flight
}

// sending reads the sends under way on the lanes of one node; of all, when it
// has no name.
func sending(t testing.TB, databaseURL, node string) []flight {
	t.Helper()
	type row struct {
		ID      [16]byte
		Attempt int
	}
	rows := query[row](t, databaseURL, `
		SELECT d.id, d.attempts
		FROM deliveries d
		JOIN lanes l
		  ON l.endpoint_id = d.endpoint_id
		WHERE d.status = 'sending'
		  AND ($1 = '' OR l.node = $1)
		ORDER BY d.id`, node)
	all := make([]flight, len(rows))
	for i, r := range rows {
		all[i] = flight{gateway.DeliveryID(r.ID).String(), r.Attempt}
	}
	return all
}

// struck tells what was under way when a process was struck. Its last
// statements may still be at work in the database: it waits for their end.
func (w *world) struck(at time.Time, node string) blow {
	w.t.Helper()
	b := blow{at: at}
	same := 0
	waitFor(w.t, leaseTime/2, "the ledger stands still", func() bool {
		now := sending(w.t, w.database.url(), node)
		if !cmp.Equal(now, b.flights, cmp.AllowUnexported(flight{})) {
			b.flights, same = now, 0
		}
		same++
		return same >= stillFor
	})
	w.note(b)
	return b
}

// note remembers that these sends may be repeated.
func (w *world) note(b blow) {
	w.t.Helper()
	if len(b.flights) == 0 {
		w.t.Fatal("nothing was under way: the blow proves nothing")
	}
	for _, f := range b.flights {
		w.flights[f.delivery] = f
	}
}

// resent waits until all that was under way was sent again, and checks how
// long it took and that it did not queue behind what has come since.
func (w *world) resent(b blow) {
	w.t.Helper()
	var last map[string]time.Time
	waitFor(w.t, patience, "what was under way is sent again", func() (all bool) {
		last, all = w.again(b)
		return all
	})
	w.within(slices.MaxFunc(slices.Collect(maps.Values(last)), time.Time.Compare).Sub(b.at), b, b.at)
	w.inFront(b, last)
}

// again tells when the last of what was under way was sent again, by path, and
// whether all was.
func (w *world) again(b blow) (last map[string]time.Time, all bool) {
	last = map[string]time.Time{}
	for _, f := range b.flights {
		hits := w.receiver.of(f.delivery)
		i := slices.IndexFunc(hits, func(h hit) bool { return h.attempt > f.attempt })
		if i < 0 {
			return last, false
		}
		if h := hits[i]; h.at.After(last[h.path]) {
			last[h.path] = h.at
		}
	}
	return last, true
}

// inFront checks that the backlog followed what was under way. As many as a
// lane sends at once may pass, as answers come in any order.
func (w *world) inFront(b blow, last map[string]time.Time) {
	w.t.Helper()
	passed := map[string]int{}
	for _, h := range w.receiver.all() {
		if _, own := w.flights[h.delivery]; !own && h.at.After(b.at) && h.at.Before(last[h.path]) {
			passed[h.path]++
		}
	}
	for path, n := range passed {
		if n > 2*laneWidth {
			w.t.Errorf("%d deliveries to %s of the backlog were sent before all that was under way was sent again, want at most %d", n, path, 2*laneWidth)
		}
	}
}

// within checks how long it took until what was under way at a blow was made
// good.
func (w *world) within(took time.Duration, b blow, since time.Time) {
	w.t.Helper()
	slowness := machine.slowness(since)
	limit := min(leaseTime+time.Duration(float64(resendLimit-leaseTime)*slowness), slowestLimit)
	w.t.Logf("%d sends were under way, and made good after %s (limit %s, the machine %.1f times slower than at best)",
		len(b.flights), took.Round(time.Millisecond), limit.Round(time.Millisecond), slowness)
	if took > limit {
		w.t.Errorf("what was under way was made good after %s, want %s", took, limit)
	}
}
