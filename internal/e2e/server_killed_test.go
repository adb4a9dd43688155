package e2e

import (
	"math/rand/v2"
	"testing"
)

// The process dies three times under load. The second time it is killed before
// it could take over what the first one left.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	randomly(t, func(t *testing.T, rng *rand.Rand) {
		w := newWorld(t, rng, shared, 1)
		w.publish()
		w.killAndRestart()
		w.load.flow(t, between(rng, 20, 150))
		w.resent(w.killAndRestart())
		w.load.flow(t, between(rng, 100, 200))
		w.resent(w.killAndRestart())
		w.settle()
	})
}

// killAndRestart kills the only node in the middle of sends.
func (w *world) killAndRestart() blow {
	w.t.Helper()
	w.inTheMiddle()
	at := w.nodes[0].kill()
	b := w.struck(at, "")
	w.nodes[0].boot()
	return b
}
