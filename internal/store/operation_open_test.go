package store_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func (b bundle) reopenMany(t *testing.T, run store.OperationRun, ids ...gateway.DeliveryID) (opened []gateway.DeliveryID) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		opened, err = tx.ReopenMany(t.Context(), run, ids)
		return err
	})
	return opened
}

func TestReopenMany(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	ids := b.queued(t, e.ID, 2)
	b.close(t, gateway.DeliveryFailed, ids...)
	run := b.newOperation(t, gateway.OperationRedeliver, gateway.OperationFilter{Endpoint: &e.ID})
	if opened := b.reopenMany(t, run, ids[0]); !slices.Equal(opened, ids[:1]) {
		t.Fatalf("opened %v", opened)
	}
	want := deliveryRow{Status: "pending", Attempts: 8, Priority: gateway.PriorityBulk, Trigger: "recover", Waits: true, Due: true}
	if got := b.row(t, ids[0]); got != want {
		t.Error(cmp.Diff(want, got))
	}
	if got := b.row(t, ids[1]); got.Status != "failed" {
		t.Errorf("another one was opened: %+v", got)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE operation_id = $1 AND reopened_from = 'failed'`, run.ID); n != 1 {
		t.Error("it does not say who opened it")
	}
	// It stays behind what is live, however often it is tried.
	lane := b.acquire(t, e.ID, "n")
	b.record(t, lane, b.answered(b.takeDue(t, lane, 1)[0], gateway.OutcomeRejected, gateway.DeliveryPending))
	if got := b.row(t, ids[0]); got.Priority != gateway.PriorityBulk || got.Step != 1 {
		t.Errorf("after an attempt: %+v", got)
	}
}

func TestReopenManyRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	run := b.newOperation(t, gateway.OperationRedeliver, gateway.OperationFilter{})
	onlyFailed := b.newOperation(t, gateway.OperationRecoverFailed, gateway.OperationFilter{Status: gateway.DeliveryFailed})
	for name, c := range map[string]struct {
		run store.OperationRun
		sql string
	}{
		"pending":           {run, `UPDATE deliveries SET status = 'pending', closed_at = NULL WHERE id = $1`},
		"sending":           {run, `UPDATE deliveries SET status = 'sending', closed_at = NULL WHERE id = $1`},
		"closed since":      {run, `UPDATE deliveries SET closed_at = now() + interval '1 s' WHERE id = $1`},
		"another status":    {onlyFailed, `UPDATE deliveries SET status = 'delivered' WHERE id = $1`},
		"attempts used up":  {run, `UPDATE deliveries SET attempts = 65535 WHERE id = $1`},
		"payload deleted":   {run, `UPDATE events SET payload_deleted_at = now() WHERE id = (SELECT event_id FROM deliveries WHERE id = $1)`},
		"event gone":        {run, `DELETE FROM events WHERE id = (SELECT event_id FROM deliveries WHERE id = $1)`},
		"another account's": {run, `UPDATE deliveries SET account_id = account_id WHERE id = $1`},
	} {
		id := b.queued(t, e.ID, 1)[0]
		b.close(t, gateway.DeliveryFailed, id)
		b.exec(t, 1, `UPDATE deliveries SET closed_at = $2 WHERE id = $1`, id, run.CreatedAt.Add(-time.Second))
		b.exec(t, 1, c.sql, id)
		before := b.row(t, id)
		if name == "another account's" {
			c.run.AccountID = b.newAccount(t, "other")
		}
		if opened := b.reopenMany(t, c.run, id); len(opened) != 0 || b.row(t, id) != before {
			t.Errorf("%s: opened", name)
		}
	}
	id := b.queued(t, e.ID, 1)[0]
	b.close(t, gateway.DeliveryFailed, id)
	b.exec(t, 1, `UPDATE deliveries SET closed_at = $2 WHERE id = $1`, id, run.CreatedAt.Add(-time.Second))
	b.exec(t, 1, `UPDATE endpoints SET deleted_at = now() WHERE id = $1`, e.ID)
	if opened := b.reopenMany(t, run, id); len(opened) != 0 {
		t.Error("opened at a deleted endpoint")
	}
}

// Many operations about the same make one attempt.
func TestReopenManyAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	ids := b.queued(t, e.ID, 50)
	b.close(t, gateway.DeliveryFailed, ids...)
	var runs []store.OperationRun
	for range 4 {
		runs = append(runs, b.newOperation(t, gateway.OperationRecoverFailed, gateway.OperationFilter{Endpoint: &e.ID, Status: gateway.DeliveryFailed}))
	}
	var opened atomic.Int32
	errs := b.atOnce(t.Context(), len(runs), func(tx store.Tx, i int) error {
		order := slices.Clone(ids)
		if i%2 == 1 {
			slices.Reverse(order)
		}
		got, err := tx.ReopenMany(t.Context(), runs[i], order)
		opened.Add(int32(len(got)))
		return err
	})
	wantErrors(t, errs, len(runs), nil)
	if opened.Load() != 50 {
		t.Errorf("%d were opened, want each once", opened.Load())
	}
}

func TestRestoreUntried(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	run := b.newOperation(t, gateway.OperationRedeliver, gateway.OperationFilter{})
	failed, cancelled, sent, pressed := b.queued(t, e.ID, 1)[0], b.queued(t, e.ID, 1)[0], b.queued(t, e.ID, 1)[0], b.queued(t, e.ID, 1)[0]
	b.close(t, gateway.DeliveryFailed, failed, sent, pressed)
	b.close(t, gateway.DeliveryCancelled, cancelled)
	all := []gateway.DeliveryID{failed, cancelled, sent, pressed}
	b.exec(t, 4, `UPDATE deliveries SET closed_at = $2 WHERE id = ANY ($1)`, all, run.CreatedAt.Add(-time.Second))
	b.reopenMany(t, run, all...)
	made := b.unwanted(t)
	b.in(t, func(tx store.Tx) error {
		n, err := tx.InsertMissing(t.Context(), run, e.ID, []gateway.EventID{made})
		if n != 1 {
			t.Errorf("made %d", n)
		}
		return err
	})
	b.exec(t, 1, `UPDATE deliveries SET status = 'sending', step = 1 WHERE id = $1`, sent)
	if !b.reopen(t, pressed, 8) {
		t.Fatal("the press changed nothing")
	}
	untried, err := b.Untried(t.Context(), run, 9)
	if err != nil || len(untried) != 3 {
		t.Errorf("untried %v, %v", untried, err)
	}
	restore := append(all, gateway.DeriveDeliveryID(made, e.ID))
	var restored atomic.Int32
	errs := b.atOnce(t.Context(), 4, func(tx store.Tx, _ int) error {
		n, err := tx.RestoreUntried(t.Context(), run, restore)
		restored.Add(int32(n))
		return err
	})
	wantErrors(t, errs, 4, nil)
	if restored.Load() != 3 {
		t.Errorf("%d were put back, want 3", restored.Load())
	}
	for id, want := range map[gateway.DeliveryID]string{
		failed: "failed", cancelled: "cancelled", sent: "sending", pressed: "pending",
	} {
		if got := b.row(t, id); got.Status != want || got.Closed != (want == "failed" || want == "cancelled") {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE id = $1`, gateway.DeriveDeliveryID(made, e.ID)); n != 0 {
		t.Error("what the operation had made is there: it would not be missed any more")
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE id = ANY ($1) AND closed_at = $2`, all, run.CreatedAt.Add(-time.Second)); n != 2 {
		t.Errorf("%d are closed since when they were, want 2", n)
	}
	counts, err := b.OperationCounts(t.Context(), b.account, run.Operation)
	if err != nil || counts.More || !cmp.Equal(counts.ByStatus, map[gateway.DeliveryStatus]int{gateway.DeliverySending: 1, gateway.DeliveryPending: 1}) {
		t.Errorf("counts %+v, %v", counts, err)
	}
}

// unwanted stores an event that was decided for nobody.
func (b bundle) unwanted(t *testing.T) gateway.EventID {
	t.Helper()
	id := gateway.EventID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		return tx.InsertEvents(t.Context(), []store.NewEvent{{
			Event: gateway.Event{ID: id, AccountID: b.account, SourceID: b.builtIn(t, tx), Type: queuedType, Status: gateway.EventNoEndpoints},
			Body:  gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: []byte(queuedBody)},
		}})
	})
	return id
}

func TestInsertMissingAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	run := b.newOperation(t, gateway.OperationRecoverMissing, gateway.OperationFilter{Endpoint: &e.ID})
	events := []gateway.EventID{b.unwanted(t), b.unwanted(t), b.unwanted(t)}
	var made atomic.Int32
	errs := b.atOnce(t.Context(), 5, func(tx store.Tx, _ int) error {
		n, err := tx.InsertMissing(t.Context(), run, e.ID, events)
		made.Add(int32(n))
		return err
	})
	wantErrors(t, errs, 5, nil)
	if made.Load() != 3 {
		t.Errorf("%d were made", made.Load())
	}
	if n := b.count(t, `SELECT count(*) FROM events WHERE status = 'processed'`); n != 3 {
		t.Errorf("%d events count as processed", n)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE operation_id = $1 AND priority = 2 AND trigger = 'recover' AND reopened_from IS NULL`, run.ID); n != 3 {
		t.Errorf("%d deliveries are the operation's", n)
	}
	known, err := b.KnownDeliveries(t.Context(), b.account, []gateway.DeliveryID{gateway.DeriveDeliveryID(events[0], e.ID), {1}})
	if err != nil || len(known) != 1 {
		t.Errorf("known %v, %v", known, err)
	}
	if known, _ := b.KnownDeliveries(t.Context(), b.newAccount(t, "other"), []gateway.DeliveryID{gateway.DeriveDeliveryID(events[0], e.ID)}); len(known) != 0 {
		t.Errorf("another account knows %v", known)
	}
}

// What is not decided, and what has no payload, is not sent to who never got it.
func TestSendableEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	events := []gateway.EventID{b.unwanted(t), b.unwanted(t), b.unwanted(t), b.unwanted(t), {1}}
	b.exec(t, 1, `UPDATE events SET status = 'processed' WHERE id = $1`, events[1])
	b.exec(t, 1, `UPDATE events SET status = 'accepted' WHERE id = $1`, events[2])
	b.exec(t, 1, `UPDATE events SET payload_deleted_at = now() WHERE id = $1`, events[3])
	sendable, err := b.SendableEvents(t.Context(), b.account, events)
	if err != nil || len(sendable) != 2 || !sendable[events[0]] || !sendable[events[1]] {
		t.Errorf("%v, %v; want the first two", sendable, err)
	}
	if sendable, err := b.SendableEvents(t.Context(), b.newAccount(t, "other"), events); err != nil || len(sendable) != 0 {
		t.Errorf("another account may send %v, %v", sendable, err)
	}
}

func TestReopenEventsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	run := b.newOperation(t, gateway.OperationReprocess, gateway.OperationFilter{EventStatus: gateway.EventNoEndpoints})
	events := []gateway.EventID{b.unwanted(t), b.unwanted(t), b.unwanted(t)}
	b.exec(t, 1, `UPDATE events SET status = 'rule_error' WHERE id = $1`, events[2])
	var opened atomic.Int32
	errs := b.atOnce(t.Context(), 5, func(tx store.Tx, _ int) error {
		got, err := tx.ReopenEvents(t.Context(), run, events)
		opened.Add(int32(len(got)))
		return err
	})
	wantErrors(t, errs, 5, nil)
	if opened.Load() != 2 {
		t.Errorf("%d were put back", opened.Load())
	}
	run.Cursor = run.Bound
	if n, err := b.CountUndecided(t.Context(), run, 9); err != nil || n != 2 {
		t.Errorf("%d wait, %v", n, err)
	}
	strange := run
	strange.AccountID = b.newAccount(t, "other")
	b.in(t, func(tx store.Tx) error {
		got, err := tx.ReopenEvents(t.Context(), strange, events)
		if len(got) != 0 {
			t.Error("another account's events were put back")
		}
		return err
	})
}

// What waits at an endpoint that is not active holds up nobody, and of several
// endpoints each counts up to a bound.
func TestCountUntried(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newEndpoint(t), b.newEndpoint(t)
	ids := append(b.queued(t, one.ID, 3), b.queued(t, two.ID, 3)...)
	b.close(t, gateway.DeliveryFailed, ids...)
	run := b.newOperation(t, gateway.OperationRedeliver, gateway.OperationFilter{})
	b.reopenMany(t, run, ids...)
	want := func(n int, f gateway.OperationFilter) {
		t.Helper()
		r := run
		r.Filter = f
		if got, err := b.CountUntried(t.Context(), r, 2); err != nil || got != n {
			t.Errorf("%d, %v, want %d", got, err, n)
		}
	}
	want(4, gateway.OperationFilter{})
	want(2, gateway.OperationFilter{Endpoint: &one.ID})
	b.exec(t, 1, `UPDATE endpoints SET state = 'paused' WHERE id = $1`, two.ID)
	want(2, gateway.OperationFilter{})
	want(0, gateway.OperationFilter{Endpoint: &two.ID})
	b.exec(t, 2, `UPDATE deliveries SET step = 1 WHERE id = ANY ($1)`, ids[:2])
	want(1, gateway.OperationFilter{})
}

// Waking many lanes leaves a lane that sleeps asleep, and one of a deleted
// endpoint quiet.
func TestWakeLanes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	quiet, asleep, gone, other := b.newEndpoint(t), b.newEndpoint(t), b.newEndpoint(t), b.newEndpoint(t)
	b.exec(t, 1, `UPDATE lanes SET sleep_until = now() + interval '1 h' WHERE endpoint_id = $1`, asleep.ID)
	b.exec(t, 1, `UPDATE endpoints SET deleted_at = now() WHERE id = $1`, gone.ID)
	wake := []gateway.EndpointID{gone.ID, asleep.ID, quiet.ID}
	errs := b.atOnce(t.Context(), 6, func(tx store.Tx, i int) error {
		order := slices.Clone(wake)
		if i%2 == 1 {
			slices.Reverse(order)
		}
		return tx.WakeLanes(t.Context(), b.account, order)
	})
	wantErrors(t, errs, 6, nil)
	if l := b.lane(t, quiet.ID); !l.Alarm || l.AlarmIn > 0 {
		t.Errorf("not woken: %+v", l)
	}
	if l := b.lane(t, asleep.ID); !l.Sleeps || l.AlarmIn < 3000 {
		t.Errorf("woken from its sleep: %+v", l)
	}
	for _, e := range []gateway.Endpoint{gone, other} {
		if l := b.lane(t, e.ID); l.Alarm {
			t.Errorf("woken: %+v", l)
		}
	}
}
