package decide_test

import (
	"context"
	"testing"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// run decides what is offered until the test is over, or it is stopped.
func (b *bundle) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return stop
}

// reserve keeps a place, once the service runs.
func (b *bundle) reserve(t *testing.T) (offer func([]gateway.EventID)) {
	t.Helper()
	pgtest.Until(t, "there is a place", func() bool {
		offer = b.Reserve()
		return offer != nil
	})
	return offer
}

// What this node has accepted is decided without a job; one that comes all the same
// changes nothing.
func TestOffer(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	b.run(t)
	ids := b.accept(t, 3, "a")
	b.reserve(t)(ids)
	b.untilCount(t, 3, `SELECT count(*) FROM events WHERE status = 'processed'`)
	b.process(t, ids...)
	b.wantCount(t, 3, `SELECT count(*) FROM deliveries`)
	b.wantUsage(t, 3)
}

// There are places on a node that runs alone, and no more than it has: nobody waits
// for one. Who needed none gives it back.
func TestPlaces(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	if b.Reserve() != nil {
		t.Fatal("a place on a node that does not run")
	}
	stop := b.run(t)
	offers := []func([]gateway.EventID){b.reserve(t)}
	for offer := b.Reserve(); offer != nil; offer = b.Reserve() {
		offers = append(offers, offer)
	}
	if len(offers) != decide.LocalQueue {
		t.Errorf("%d places, want %d", len(offers), decide.LocalQueue)
	}
	for _, offer := range offers[1:] {
		offer(nil)
	}
	b.reserve(t)(nil)
	// What comes for a place that was kept is decided, however late.
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	pgtest.Until(t, "no more places are kept", func() bool {
		offer := b.Reserve()
		if offer != nil {
			offer(nil)
		}
		return offer == nil
	})
	ids := b.accept(t, 2, "a")
	offers[0](ids)
	<-stopped
	b.wantStatus(t, gateway.EventNoEndpoints, ids...)
}

// untilCount waits until a query returns a number.
func (b *bundle) untilCount(t *testing.T, want int, sql string) {
	t.Helper()
	pgtest.Until(t, sql, func() bool { return b.count(t, sql) == want })
}
