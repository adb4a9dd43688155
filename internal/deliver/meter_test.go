package deliver_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// What the far side and the node tell of is counted once an attempt.
func TestWhatIsMetered(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var attempted []gateway.Outcome
	recorded := 0
	b := newBundle(t, func(o *deliver.Options) {
		o.Meter = deliver.Meter{
			Attempted: func(a *gateway.Attempt, _ gateway.DeliveryStatus) {
				mu.Lock()
				defer mu.Unlock()
				attempted = append(attempted, a.Outcome)
			},
			Recorded: func(results int, took time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				if recorded += results; took <= 0 {
					t.Errorf("it took %s", took)
				}
			},
		}
	})
	e := b.endpoint(t, newReceiver(t, status(500, 200)).URL)
	b.untilStatus(t, b.publish(t, e, 1)[0], gateway.DeliveryDelivered)
	pgtest.Until(t, "recorded", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return recorded == 2
	})
	if diff := cmp.Diff([]gateway.Outcome{gateway.OutcomeRejected, gateway.OutcomeSucceeded}, attempted); diff != "" {
		t.Error(diff)
	}
	pgtest.Until(t, "the node is idle", func() bool { return b.Busy() == deliver.Busy{} })
}
