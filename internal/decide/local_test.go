package decide_test

import (
	"context"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
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
	pgtest.Until(t, sql, func() bool { return b.count(t, sql) == want })
}
