package e2e

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"
)

// frozenFor is how long a node is frozen: three times a lease.
const frozenFor = 30 * time.Second

// One of two nodes dies; the other takes over, and repeats nothing of its own.
func TestOneOfTwoNodesKilled(t *testing.T) {
	t.Parallel()
	randomly(t, func(t *testing.T, rng *rand.Rand) {
		newWorld(t, rng, shared, 2).oneOfTwoDies()
	})
}

// oneOfTwoDies kills a node in the middle of sends, and has the other make good what
// was under way.
func (w *world) oneOfTwoDies() {
	w.t.Helper()
	w.publish()
	var b blow
	var victim *node
	w.strike(func(n *node) bool {
		victim = n
		b = w.struck(n.kill(), w.names[n])
		return true
	})
	w.account.node = w.other(victim)
	w.load.use(w.account.node)
	w.resent(b)
	w.load.flow(w.t, between(w.rng, 100, 200))
	w.settle()
}

// A node is frozen in the middle of sends, and goes on after another has taken
// over. What it records late is refused, each of its sends ends as unknown, and
// it sends no more on lanes that it lost.
func TestNodeFrozen(t *testing.T) {
	t.Parallel()
	randomly(t, func(t *testing.T, rng *rand.Rand) {
		w := newWorld(t, rng, shared, 2)
		w.publish()
		var b blow
		var victim *node
		w.strike(func(n *node) bool {
			victim = n
			return w.freeze(n, &b)
		})
		w.account.node = w.other(victim)
		w.resent(b)
		w.load.use(w.account.node)
		waitFor(t, frozenFor+patience, "the node was frozen for long", func() bool { return time.Since(b.at) >= frozenFor })
		release := w.receiver.hold()
		w.fillLanes()
		victim.signal(syscall.SIGCONT)
		victim.untilReady()
		w.load.use(w.nodes...)
		w.load.flow(t, between(rng, 50, 100))
		w.oneSender()
		release()
		w.load.flow(t, between(rng, 200, 300))
		w.settle()
	})
}

// freeze stops a node, and tells whether it was in the middle of sends. If not,
// it may go on.
func (w *world) freeze(n *node, b *blow) bool {
	w.t.Helper()
	at := time.Now()
	n.signal(syscall.SIGSTOP)
	if len(sending(w.t, w.database.url(), w.names[n])) < busy {
		n.signal(syscall.SIGCONT)
		return false
	}
	*b = w.struck(at, w.names[n])
	return true
}

// fillLanes waits until each endpoint has as many sends under way as it allows.
func (w *world) fillLanes() {
	w.t.Helper()
	waitFor(w.t, patience, "the lanes are full", func() bool {
		return len(w.receiver.waitingAt(everything)) == laneWidth && len(w.receiver.waitingAt(orders)) == laneWidth
	})
}

// oneSender checks that nobody sends beside who has taken over: no lane is
// wider than one node may make it. What the frozen node was at may come late.
func (w *world) oneSender() {
	w.t.Helper()
	for _, path := range []string{everything, orders} {
		under := slices.DeleteFunc(w.receiver.waitingAt(path), func(h hit) bool {
			f, ok := w.flights[h.delivery]
			return ok && h.attempt <= f.attempt
		})
		if len(under) > laneWidth {
			w.t.Errorf("%d sends to %s are under way at once, want %d from one node: two nodes send", len(under), path, laneWidth)
		}
	}
}

// strike finds the node that is in the middle of sends, and does something to
// it at once.
func (w *world) strike(blow func(n *node) bool) {
	w.t.Helper()
	waitFor(w.t, patience, "a node is in the middle of sends", func() bool {
		for _, n := range w.nodes {
			if len(sending(w.t, w.database.url(), w.names[n])) >= busy {
				return blow(n)
			}
		}
		return false
	})
}

// other is the node that is not this one.
func (w *world) other(than *node) *node {
	return w.nodes[slices.IndexFunc(w.nodes, func(n *node) bool { return n != than })]
}
