package deliver_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// Many nodes look for alarms at once: each lane rings once.
func TestRingAlarms(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for range 12 {
		b.endpoint(t, "https://example.com/")
	}
	b.exec(t, `UPDATE lanes SET wake_at = now()`)
	b.endpoint(t, "https://example.com/silent")
	var rung atomic.Int64
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			n, err := b.RingAlarms(t.Context())
			if err != nil {
				t.Error(err)
			}
			rung.Add(int64(n))
		})
	}
	wg.Wait()
	if rung.Load() != 12 {
		t.Fatalf("%d rang, want 12", rung.Load())
	}
}

// A node that waits for its last sends leaves the alarms to others: it would only put
// them off.
func TestAStoppingNodeTakesNoAlarms(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	b.publish(t, b.endpoint(t, r.URL), 1)
	r.until(t, 1)
	other := b.endpoint(t, "https://example.com/")
	b.exec(t, `UPDATE lanes SET wake_at = now() WHERE endpoint_id = $1`, other.ID)
	b.cancel()
	pgtest.Until(t, "the node stops", func() bool { return !b.Running() })
	if n, err := b.RingAlarms(t.Context()); n != 0 || err != nil {
		t.Errorf("%d alarms rang, %v", n, err)
	}
	if n := b.count(t, `SELECT count(*) FROM lanes WHERE endpoint_id = $1 AND wake_at <= now()`, other.ID); n != 1 {
		t.Error("the alarm was put off")
	}
	close(gate)
	b.stop()
}

func TestRepairLanes(t *testing.T) {
	t.Parallel()
	log := &logBuffer{}
	b := newBundle(t)
	b.Log = log.logger()
	e := b.endpoint(t, newReceiver(t, status(200)).URL)
	id := b.queue(t, e, 1)[0]
	for _, want := range []int64{1, 0} {
		if n, err := b.RepairLanes(t.Context()); n != want || err != nil {
			t.Errorf("%d lanes, %v, want %d", n, err, want)
		}
	}
	if log.String() == "" {
		t.Error("a repair is not told")
	}
	if n, err := b.RingAlarms(t.Context()); n != 1 || err != nil {
		t.Errorf("%d alarms, %v", n, err)
	}
	b.untilStatus(t, id, gateway.DeliveryDelivered)
}

// A lane whose alarm is far away gets no timer: its alarm in the database
// serves it.
func TestFarRetryIsLeftToTheAlarm(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, newReceiver(t, status(400, 200)).URL, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{time.Hour} })
	id := b.publish(t, e, 1)[0]
	b.untilAttempts(t, id, 1)
	b.untilReleased(t, e)
	if n := b.count(t, `SELECT count(*) FROM lanes l JOIN deliveries d USING (endpoint_id) WHERE l.wake_at = d.next_attempt_at`); n != 1 {
		t.Error("the alarm is not set to the next attempt")
	}
	if n, err := b.RingAlarms(t.Context()); n != 0 || err != nil {
		t.Errorf("%d alarms, %v", n, err)
	}
	b.exec(t, `UPDATE deliveries SET next_attempt_at = now()`)
	b.exec(t, `UPDATE lanes SET wake_at = now()`)
	if n, err := b.RingAlarms(t.Context()); n != 1 || err != nil {
		t.Errorf("%d alarms, %v", n, err)
	}
	b.wake(e)
	b.untilStatus(t, id, gateway.DeliveryDelivered)
}
