package e2e

import (
	"context"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// PostgreSQL dies under load and comes back. Nobody helps the server.
func TestPostgresKilled(t *testing.T) {
	t.Parallel()
	randomly(t, func(t *testing.T, rng *rand.Rand) {
		w := newWorld(t, rng, ownCluster(t), 1)
		w.publish()
		w.inTheMiddle()
		b := w.killPostgres()
		w.load.flowRefused(t, between(rng, 10, 50))
		if got, err := w.nodes[0].ready(); got != http.StatusServiceUnavailable {
			t.Errorf("without its database the server's /readyz answers %d (%v), want 503", got, err)
		}
		back := w.restartPostgres()
		w.load.flow(t, between(rng, 100, 200))
		w.closed(b)
		w.within(time.Since(back), b, back)
		w.nodes[0].untilReady()
		w.settle()
	})
}

// ownCluster starts a PostgreSQL for one test alone.
func ownCluster(t *testing.T) *cluster {
	t.Helper()
	dir, err := openDir()
	if err != nil {
		t.Fatal(err)
	}
	removeAtEnd(t, dir)
	c, err := newCluster(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.stop(context.Background()); err != nil {
			t.Errorf("stop PostgreSQL: %v", err)
		}
	})
	return c
}

// killPostgres kills the database, and reads what was under way from a server
// on another port, so that nobody else comes between.
func (w *world) killPostgres() blow {
	w.t.Helper()
	c := w.database.cluster
	b := blow{at: time.Now()}
	if err := c.kill(); err != nil {
		w.t.Fatalf("kill PostgreSQL: %v", err)
	}
	port, err := freePort()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.startOn(w.t.Context(), port); err != nil {
		w.t.Fatalf("start PostgreSQL after the kill: %v", err)
	}
	b.flights = sending(w.t, c.url(w.database.name, port), "")
	if err := c.stop(w.t.Context()); err != nil {
		w.t.Fatalf("stop PostgreSQL: %v", err)
	}
	w.note(b)
	return b
}

// restartPostgres starts the database where it was, and tells when it answered.
func (w *world) restartPostgres() time.Time {
	w.t.Helper()
	if err := w.database.cluster.start(w.t.Context()); err != nil {
		w.t.Fatalf("start PostgreSQL: %v", err)
	}
	return time.Now()
}

// closed waits until all that was under way is delivered: the sender lived on,
// and may have had the answer.
func (w *world) closed(b blow) {
	w.t.Helper()
	open := make(map[string]bool, len(b.flights))
	for _, f := range b.flights {
		open[f.delivery] = true
	}
	type row struct{ ID [16]byte }
	waitFor(w.t, patience, "what was under way is delivered", func() bool {
		for _, r := range query[row](w.t, w.database.url(), `SELECT id FROM deliveries WHERE status = 'delivered'`) {
			delete(open, gateway.DeliveryID(r.ID).String())
		}
		return len(open) == 0
	})
}
