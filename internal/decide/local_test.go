package decide_test

import (
	"context"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// run decides what is offered until the test is over.
func (b *bundle) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}

// What this node has accepted is decided without a job; the job, when it comes,
// changes nothing.
func TestOffer(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	b.run(t)
	ids := b.accept(t, 3, "a")
	b.Offer(ids)
	b.untilCount(t, 3, `SELECT count(*) FROM events WHERE status = 'processed'`)
	b.process(t, ids...)
	b.wantCount(t, 3, `SELECT count(*) FROM deliveries`)
	b.wantUsage(t, 3)
}

// A node that does not run, or is busy, leaves offers to the jobs: offering
// never waits.
func TestOfferNeverWaits(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for range 1000 {
		b.Offer([]gateway.EventID{gateway.EventID(b.clock.NewID())})
	}
}

// untilCount waits until a query returns a number.
func (b *bundle) untilCount(t *testing.T, want int, sql string) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for b.count(t, sql) != want {
		select {
		case <-deadline:
			t.Fatalf("not %d within %s: %s", want, patience, sql)
		case <-tick.C:
		}
	}
}
