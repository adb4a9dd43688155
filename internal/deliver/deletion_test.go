package deliver_test

import (
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
)

// An endpoint is deleted while it is slow and has 500 open deliveries, some of
// them in the air: all are cancelled, what was in the air keeps its attempts,
// and afterwards there is peace.
func TestDeletionUnderLoad(t *testing.T) {
	t.Parallel()
	const n, flying = 500, 8
	var log logBuffer
	b := newBundle(t, func(o *deliver.Options) { o.Log = log.logger() })
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL)
	b.exec(t, `UPDATE lanes SET in_flight_cap = $1`, flying)
	b.publish(t, e, n)
	r.until(t, flying)
	endpoints := endpoint.New(endpoint.Options{Store: b.store, Clock: b.clock})
	if err := endpoints.Delete(t.Context(), b.account, actor, e.ID); err != nil {
		t.Fatal(err)
	}
	b.untilAll(t, e, n, gateway.DeliveryCancelled)
	close(gate)
	b.untilCount(t, flying, `SELECT count(*) FROM attempts WHERE endpoint_id = $1 AND outcome = 'succeeded'`, e.ID)
	b.untilReleased(t, e)
	b.wantPeace(t, endpoints)
	if got := len(r.requests()); got != flying {
		t.Errorf("%d requests, want none after the deletion", got)
	}
	if got := b.count(t, inState, e.ID, "cancelled"); got != n {
		t.Errorf("%d are cancelled, want all", got)
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			t.Error(line)
		}
	}
}

// wantPeace fails if anything that is done again and again finds something to
// do.
func (b *bundle) wantPeace(t *testing.T, endpoints *endpoint.Service) {
	t.Helper()
	for range 3 {
		if err := endpoints.EmptyDeleted(t.Context()); err != nil {
			t.Error(err)
		}
		if err := b.HandOnStalled(t.Context()); err != nil {
			t.Error(err)
		}
		if repaired, err := b.RepairLanes(t.Context()); err != nil || repaired != 0 {
			t.Errorf("%d lanes were repaired, %v", repaired, err)
		}
		if rang, err := b.RingAlarms(t.Context()); err != nil || rang != 0 {
			t.Errorf("%d alarms rang, %v", rang, err)
		}
	}
	if busy := b.count(t, `SELECT count(*) FROM lanes WHERE leased_until IS NOT NULL OR wake_at IS NOT NULL`); busy != 0 {
		t.Errorf("%d lanes are not quiet", busy)
	}
}
