package deliver_test

import (
	"slices"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// A long schedule is kept to its end: as many attempts as it has waits, and one.
func TestALongScheduleIsKept(t *testing.T) {
	t.Parallel()
	for _, waits := range []int{40, gateway.MaxScheduleLength} {
		b := newBundle(t)
		r := newReceiver(t, status(400))
		e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) {
			e.RetrySchedule = slices.Repeat([]time.Duration{3 * time.Millisecond}, waits)
		})
		id := b.publish(t, e, 1)[0]
		if d := b.untilStatus(t, id, gateway.DeliveryFailed); d.Attempts != waits+1 {
			t.Errorf("%d attempts, want %d", d.Attempts, waits+1)
		}
		b.untilReleased(t, e)
		if got, recorded := len(r.requests()), len(b.attempts(t, id)); got != waits+1 || recorded != waits+1 {
			t.Errorf("%d requests, %d recorded; want %d", got, recorded, waits+1)
		}
	}
}
