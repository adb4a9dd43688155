package operate_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	deliveredOnce = `SELECT count(*) FROM deliveries WHERE status = 'delivered' AND attempts = 9`
	failedStill   = `SELECT count(*) FROM deliveries WHERE status = 'failed'`
	untried       = `SELECT count(*) FROM deliveries WHERE status = 'pending' AND step = 0`
)

// One Recover restores all, each with exactly one more attempt, with two nodes
// at it all the time.
func TestRecoverThousands(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, nil)
	e := b.endpoint(t, r.URL)
	b.failed(t, e, 5000)
	b.delivering(t)
	id := b.start(t, b.recovery(e))
	pgtest.Background(t, func(ctx context.Context) {
		for ctx.Err() == nil {
			// As if the node that works on it were dead; what fails at the end of
			// the test is of no interest.
			_, _ = b.pool.Exec(ctx, `UPDATE operations SET leased_until = NULL`)
			_ = b.Run(ctx, b.account, id)
		}
	})
	wantNumbers(t, b.work(t, id), gateway.OperationDone, 5000, 5000, 0)
	b.untilCount(t, 5000, deliveredOnce)
	if ids, requests := r.numbers(); ids != 5000 || requests != 5000 {
		t.Errorf("%d requests of %d events", requests, ids)
	}
	b.wantCount(t, 1, `SELECT count(*) FROM audit_log WHERE action = 'endpoint.recover' AND object = $1`, id.String())
	b.wantCount(t, 1, `SELECT count(*) FROM events WHERE type = $1`, gateway.TypeOperationDone)
}

// A node that ends in the middle leaves the rest to the next, which does it.
func TestRecoverGoesOnAfterADeath(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, nil)
	e := b.endpoint(t, r.URL)
	b.failed(t, e, 3000)
	b.delivering(t)
	id := b.start(t, b.recovery(e))
	for done := 0; done < 3000; {
		ctx, kill := context.WithCancel(t.Context())
		var died sync.WaitGroup
		died.Go(func() { _ = b.Run(ctx, b.account, id) })
		until(t, "another batch is done", func() bool {
			o := b.operation(t, id)
			return o.Done > done || o.SettledAt != nil
		})
		kill()
		died.Wait()
		done = b.operation(t, id).Done
		b.exec(t, `UPDATE operations SET leased_until = now() - interval '1 s' WHERE leased_until IS NOT NULL`)
	}
	wantNumbers(t, b.work(t, id), gateway.OperationDone, 3000, 3000, 0)
	b.untilCount(t, 3000, deliveredOnce)
	if ids, requests := r.numbers(); ids != 3000 || requests != 3000 {
		t.Errorf("%d requests of %d events", requests, ids)
	}
}

// A batch whose transaction does not commit has not happened.
func TestBatchIsWholeOrNot(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, "http://127.0.0.1:1/")
	b.failed(t, e, 100)
	id := b.start(t, b.recovery(e))
	b.exec(t, `
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
		CREATE TRIGGER refuse BEFORE UPDATE ON operations FOR EACH ROW WHEN (NEW.done > 0) EXECUTE FUNCTION refuse()`)
	if err := b.Run(t.Context(), b.account, id); err == nil {
		t.Fatal("the batch was not refused")
	}
	b.wantCount(t, 100, failedStill)
	b.exec(t, `DROP TRIGGER refuse ON operations`)
	wantNumbers(t, b.work(t, id), gateway.OperationDone, 100, 100, 0)
	b.wantCount(t, 100, untried)
}

// Two people who press the same make one attempt each.
func TestTwoOperationsAboutTheSame(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) })
	e := b.endpoint(t, r.URL)
	b.exec(t, `UPDATE endpoints SET retry_schedule_ms = '{}'`)
	b.failed(t, e, 800)
	b.delivering(t)
	first, second := b.start(t, b.recovery(e)), b.start(t, b.recovery(e))
	var both sync.WaitGroup
	both.Go(func() { b.work(t, first) })
	both.Go(func() { b.work(t, second) })
	both.Wait()
	// All have failed again, and nobody opens them a second time.
	b.untilCount(t, 800, `SELECT count(*) FROM deliveries WHERE status = 'failed' AND attempts = 9`)
	if done := b.operation(t, first).Done + b.operation(t, second).Done; done != 800 {
		t.Errorf("%d were opened, want each once", done)
	}
	if _, requests := r.numbers(); requests != 800 {
		t.Errorf("%d requests", requests)
	}
}

// What fails after the press is not opened by it.
func TestWhatComesLaterIsNotOpened(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, "http://127.0.0.1:1/")
	b.failed(t, e, 10)
	waiting := b.queued(t, e, 5)
	id := b.start(t, b.recovery(e))
	b.exec(t, `UPDATE deliveries SET status = 'failed', closed_at = now(), next_attempt_at = NULL WHERE id = ANY ($1)`, waiting)
	b.failed(t, e, 7)
	wantNumbers(t, b.work(t, id), gateway.OperationDone, 10, 10, 0)
	b.wantCount(t, 12, failedStill)
}

// What cannot be sent is counted, and holds nothing up.
func TestWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, "http://127.0.0.1:1/")
	ids := b.failed(t, e, 10)
	b.exec(t, `UPDATE events SET payload_deleted_at = now() WHERE id IN (SELECT event_id FROM deliveries WHERE id = ANY ($1))`, ids[:2])
	b.exec(t, `UPDATE deliveries SET attempts = $2 WHERE id = $1`, ids[5], gateway.MaxAttempts)
	wantNumbers(t, b.work(t, b.start(t, b.recovery(e))), gateway.OperationDone, 10, 7, 3)
}

// The window: no more than so many wait, and the stop puts them back.
func TestStopPutsBackWhatWaits(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-gate:
		case <-req.Context().Done():
		}
	})
	e := b.endpoint(t, r.URL)
	b.failed(t, e, 3000)
	b.delivering(t)
	id := b.start(t, b.recovery(e))
	if err := b.Run(t.Context(), b.account, id); err != nil {
		t.Fatal(err)
	}
	o := b.operation(t, id)
	waits := b.count(t, untried)
	if o.State != gateway.OperationRunning || waits > 1000 || waits < 900 {
		t.Fatalf("%d wait of an operation that is %s", waits, o.State)
	}
	if o, err := b.Cancel(t.Context(), b.account, actor, id); err != nil || o.State != gateway.OperationCancelled {
		t.Fatalf("stop: %+v, %v", o, err)
	}
	if o, err := b.Cancel(t.Context(), b.account, actor, id); !errors.Is(err, gateway.ErrStateChanged) || o.State != gateway.OperationCancelled {
		t.Errorf("stop again: %+v, %v", o, err)
	}
	o = b.work(t, id)
	b.wantCount(t, 0, untried)
	inTheAir := b.count(t, `SELECT count(*) FROM deliveries WHERE status = 'sending'`)
	if inTheAir == 0 || o.Done-o.Restored != inTheAir {
		t.Errorf("%d in the air, %d of %d put back", inTheAir, o.Restored, o.Done)
	}
	b.wantCount(t, 3000-inTheAir, failedStill)
	close(gate)
	b.untilCount(t, inTheAir, deliveredOnce)
	counts, err := b.store.OperationCounts(t.Context(), b.account, o)
	if want := map[gateway.DeliveryStatus]int{gateway.DeliveryDelivered: inTheAir}; err != nil || !cmp.Equal(counts.ByStatus, want) {
		t.Errorf("counts %+v, %v", counts, err)
	}
	b.wantCount(t, 1, `SELECT count(*) FROM audit_log WHERE action = 'operation.cancel'`)
	// What was put back can be recovered by another press.
	wantNumbers(t, b.work(t, b.start(t, b.recovery(e))), gateway.OperationDone, 3000-inTheAir, 3000-inTheAir, 0)
}

// What is told when an operation ends.
func TestOwnEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, "http://127.0.0.1:1/")
	b.failed(t, e, 3)
	id := b.start(t, b.recovery(e))
	b.work(t, id)
	var data []byte
	err := b.pool.QueryRow(t.Context(), `SELECT body FROM events JOIN event_bodies USING (id) WHERE type = $1`, gateway.TypeOperationDone).Scan(&data)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"id": id.String(), "kind": "recover_failed", "state": "done", "total": 3.0, "done": 3.0, "failed": 0.0, "endpoint_id": e.String(),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Rows of an endpoint that is paused are opened, shown as held, and hold
// nothing up; when it is resumed they go out.
func TestRecoverAtAPausedEndpoint(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, nil)
	e := b.endpoint(t, r.URL)
	ids := b.failed(t, e, 2500)
	b.exec(t, `UPDATE endpoints SET state = 'paused' WHERE id = $1`, e)
	b.delivering(t)
	wantNumbers(t, b.work(t, b.start(t, b.recovery(e))), gateway.OperationDone, 2500, 2500, 0)
	b.wantCount(t, 2500, untried)
	if d, err := b.store.Delivery(t.Context(), b.account, ids[0]); err != nil || d.Status != gateway.DeliveryHeld {
		t.Errorf("%+v, %v", d, err)
	}
	b.in(t, func(tx store.Tx) error { _, err := tx.ResumeEndpoint(t.Context(), b.account, e); return err })
	b.untilCount(t, 2500, deliveredOnce)
}

// An endpoint that is deleted in the middle ends it: the rest is counted as
// what could not be sent, and nothing stays open.
func TestRecoverAtAnEndpointThatIsDeleted(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, "http://127.0.0.1:1/")
	b.failed(t, e, 2000)
	id := b.start(t, b.recovery(e))
	if err := b.Run(t.Context(), b.account, id); err != nil { // up to the window: nobody delivers
		t.Fatal(err)
	}
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, e) })
	for more := true; more; {
		b.in(t, func(tx store.Tx) error {
			n, err := tx.CancelOpen(t.Context(), b.account, e, 500)
			more = n == 500
			return err
		})
	}
	o := b.work(t, id)
	wantNumbers(t, o, gateway.OperationDone, 2000, 1000, 1000)
	b.wantCount(t, 0, `SELECT count(*) FROM deliveries WHERE status IN ('pending', 'sending')`)
	if _, err := b.Start(t.Context(), b.account, actor, b.recovery(e)); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("recover at a deleted endpoint: %v", err)
	}
	all := operate.Request{Kind: gateway.OperationRedeliver, Filter: gateway.OperationFilter{Since: b.hourAgo()}}
	if n, exact, err := b.Count(t.Context(), b.account, all); n != 0 || !exact || err != nil {
		t.Errorf("%d could be delivered again, %t, %v", n, exact, err)
	}
}

// Live traffic goes out before what an operation has opened, also what comes
// while it runs.
func TestLiveTrafficGoesFirst(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-gate:
		case <-req.Context().Done():
		}
	})
	e := b.endpoint(t, r.URL)
	b.failed(t, e, 5000)
	b.delivering(t)
	id := b.start(t, b.recovery(e))
	if err := b.Run(t.Context(), b.account, id); err != nil {
		t.Fatal(err)
	}
	until(t, "the lane is full of it", func() bool { _, n := r.numbers(); return n > 0 })
	live := b.queued(t, e, 50)
	b.deliver.Wake([]store.LaneRef{{AccountID: b.account, EndpointID: e}})
	close(gate)
	b.untilCount(t, len(live), `SELECT count(*) FROM deliveries WHERE id = ANY ($1) AND status = 'delivered'`, live)
	if done := b.count(t, deliveredOnce); done > 1000 {
		t.Errorf("%d of the operation went out before what is live", done)
	}
	b.work(t, id)
	b.untilCount(t, 5000, deliveredOnce)
}

// A limit a second is kept.
func TestPace(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, "http://127.0.0.1:1/")
	b.failed(t, e, 90)
	r := b.recovery(e)
	r.PerSecond = 30
	id := b.start(t, r)
	began := time.Now()
	wantNumbers(t, b.work(t, id), gateway.OperationDone, 90, 90, 0)
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("90 at 30 a second took %s", took)
	}
}

// A recovery leaves out what the next of the chain was given.
func TestRecoverLeavesOutWhatWasPassedOn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, nil)
	head, next := b.endpoint(t, r.URL), b.endpoint(t, r.URL)
	ids := b.failed(t, head, 5)
	if _, err := b.pool.Exec(t.Context(), `UPDATE deliveries SET failover_to = $2 WHERE id = ANY ($1)`, ids[:3], next); err != nil {
		t.Fatal(err)
	}
	b.delivering(t)
	wantNumbers(t, b.work(t, b.start(t, b.recovery(head))), gateway.OperationDone, 2, 2, 0)
	b.untilCount(t, 2, deliveredOnce)
	b.wantCount(t, 3, failedStill)
}
