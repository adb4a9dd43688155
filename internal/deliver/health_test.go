package deliver_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// narrow makes an endpoint that is sent one delivery after the other.
func narrow(e *gateway.Endpoint) { e.MaxInFlight = 1 }

// ownEvents is the query for how many events of its own Rowlock emitted.
const ownEvents = `SELECT count(*) FROM events WHERE type = 'rowlock.endpoint.disabled'`

func TestGoneDisablesAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(410))
	e := b.endpoint(t, r.URL, narrow)
	ids := b.publish(t, e, 5)
	for _, id := range ids {
		b.untilStatus(t, id, gateway.DeliveryHeld)
	}
	b.untilReleased(t, e)
	if n := len(r.requests()); n != 1 {
		t.Errorf("%d requests, want none after the receiver said that it is gone", n)
	}
	now := b.readEndpoint(t, e)
	if now.State != gateway.EndpointDisabled || now.DisabledReason != "the receiver answered 410 Gone" {
		t.Errorf("endpoint is %s, %q", now.State, now.DisabledReason)
	}
	if audit := b.audit(t); !slices.Equal(audit, []string{"endpoint.disable the receiver answered 410 Gone"}) {
		t.Errorf("audit %q", audit)
	}
	b.wantDisabledEvent(t, e, now.DisabledReason)
}

// wantDisabledEvent fails unless the one own event tells why an endpoint was
// disabled, and a job decides it.
func (b *bundle) wantDisabledEvent(t *testing.T, e gateway.Endpoint, reason string) {
	t.Helper()
	if n := b.count(t, ownEvents+` AND status = 'accepted'`); n != 1 {
		t.Fatalf("%d events, want one", n)
	}
	var id gateway.EventID
	var data []byte
	err := b.pool.QueryRow(t.Context(), `SELECT id, body FROM events JOIN event_bodies USING (id) WHERE type = $1`, gateway.TypeEndpointDisabled).Scan(&id, &data)
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		EndpointID string    `json:"endpoint_id"`
		URL        string    `json:"url"`
		Reason     string    `json:"reason"`
		DisabledAt time.Time `json:"disabled_at"`
	}
	if err := json.Unmarshal(data, &told); err != nil || told.EndpointID != e.ID.String() || told.URL != e.URL || told.Reason != reason || told.DisabledAt.IsZero() {
		t.Errorf("event %s, %v", data, err)
	}
	if n := b.count(t, `SELECT count(*) FROM river_job WHERE kind = 'process' AND args->'event_ids' ? $1`, id.String()); n != 1 {
		t.Errorf("%d jobs decide it, want one", n)
	}
}

// uncounted answers and lets the next failure count, however soon it comes.
func (b *bundle) uncounted(t *testing.T, do answer) answer {
	return func(w http.ResponseWriter, r *http.Request, n int) {
		if _, err := b.pool.Exec(t.Context(), `UPDATE endpoints SET failure_counted_at = NULL`); err != nil {
			t.Errorf("uncount: %v", err)
		}
		do(w, r, n)
	}
}

func TestFailuresInARowDisable(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(o *deliver.Options) { o.DisableAfter = 3 })
	r := newReceiver(t, b.uncounted(t, status(400, 400, 200, 400)))
	e := b.endpoint(t, r.URL, narrow, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{time.Hour} })
	ids := b.publish(t, e, 10)
	pgtest.Until(t, "the endpoint is disabled", func() bool { return b.readEndpoint(t, e).State == gateway.EndpointDisabled })
	b.untilReleased(t, e)
	if n := len(r.requests()); n != 6 {
		t.Errorf("%d requests, want two failures, a success and three failures", n)
	}
	now := b.readEndpoint(t, e)
	if now.ConsecutiveFailures != 3 || now.DisabledReason != "3 failures in a row" {
		t.Errorf("endpoint %+v", now)
	}
	b.wantDisabledEvent(t, e, now.DisabledReason)
	heldOnes := 0
	for _, id := range ids {
		if b.delivery(t, id).Status == gateway.DeliveryHeld {
			heldOnes++
		}
	}
	if heldOnes != 9 {
		t.Errorf("%d deliveries are held, want all but the one that succeeded", heldOnes)
	}
}

// A burst of failures counts once a second, so that a receiver's restart does
// not disable it.
func TestABurstOfFailuresCountsOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(o *deliver.Options) { o.DisableAfter = 20 })
	r := newReceiver(t, status(400))
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{} })
	b.publish(t, e, 40)
	b.untilCount(t, 40, `SELECT count(*) FROM deliveries WHERE status = 'failed'`)
	if now := b.readEndpoint(t, e); now.State != gateway.EndpointActive || now.ConsecutiveFailures < 1 || now.ConsecutiveFailures > 19 {
		t.Errorf("endpoint %+v", now)
	}
}

func TestSuccessEndsARunOfFailures(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, newReceiver(t, status(400, 200)).URL)
	id := b.publish(t, e, 1)[0]
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	if now := b.readEndpoint(t, e); now.ConsecutiveFailures != 0 {
		t.Errorf("%d failures", now.ConsecutiveFailures)
	}
}

// An endpoint that gets Rowlock's own events and fails on one of them is
// disabled like any other, without another event about it.
func TestOwnEventsCauseNoOwnEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, newReceiver(t, status(410)).URL)
	own := b.newEvent(t, b.account, gateway.TypeEndpointDisabled)
	deliveries, err := b.RedeliverEvent(t.Context(), b.account, actor, own, &e.ID)
	if err != nil || len(deliveries) != 1 {
		t.Fatal(deliveries, err)
	}
	pgtest.Until(t, "the endpoint is disabled", func() bool { return b.readEndpoint(t, e).State == gateway.EndpointDisabled })
	b.untilReleased(t, e)
	if n := b.count(t, ownEvents); n != 1 {
		t.Errorf("%d own events, want only the one that was sent", n)
	}
	if audit := b.audit(t); !strings.HasPrefix(audit[len(audit)-1], "endpoint.disable") {
		t.Errorf("audit %q", audit)
	}
}

// Resuming sends everything that was held.
func TestResumeSendsWhatIsHeld(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(410, 200))
	e := b.endpoint(t, r.URL, narrow)
	ids := b.publish(t, e, 8)
	b.untilCount(t, 1, `SELECT count(*) FROM endpoints WHERE state = 'disabled'`)
	b.untilReleased(t, e)
	b.resume(t, e)
	for _, id := range ids {
		b.untilStatus(t, id, gateway.DeliveryDelivered)
	}
	if n := len(r.requests()); n != len(ids)+1 {
		t.Errorf("%d requests for %d deliveries, one of which was refused once", n, len(ids))
	}
}
