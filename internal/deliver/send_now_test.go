package deliver_test

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
)

// later makes n deliveries that have failed once and wait for an hour.
func (b *bundle) later(t *testing.T, e gateway.Endpoint, n int) []gateway.DeliveryID {
	t.Helper()
	ids := b.publish(t, e, n)
	for _, id := range ids {
		b.untilAttempts(t, id, 1)
	}
	b.untilCount(t, n, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'pending'`, e.ID)
	return ids
}

// hourly is a schedule of one retry that no test lives to see.
func hourly(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{time.Hour} }

// What waits for a later attempt is sent now, once each, by a person.
func TestSendNow(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(400, 400, 400, 200))
	e := b.endpoint(t, r.URL, hourly)
	ids := b.later(t, e, 3)
	if n, err := b.SendNow(t.Context(), b.account, actor, e.ID); n != 3 || err != nil {
		t.Fatalf("%d due, %v", n, err)
	}
	for _, id := range ids {
		d := b.untilStatus(t, id, gateway.DeliveryDelivered)
		if attempts := b.attempts(t, id); d.Attempts != 2 || attempts[1].Trigger != gateway.TriggerManual {
			t.Errorf("attempts %+v", attempts)
		}
	}
	if n, err := b.SendNow(t.Context(), b.account, actor, e.ID); n != 0 || err != nil {
		t.Errorf("then %d, %v", n, err)
	}
	if audit := b.audit(t); !slices.Equal(audit, []string{"endpoint.send_now"}) {
		t.Errorf("audit %q", audit)
	}
}

// What fails again at once waits for its next time: one press is one attempt.
func TestSendNowIsOneAttempt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(400))
	// However the presses meet, none of them ends the schedule.
	const presses = 8
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.RetrySchedule = slices.Repeat([]time.Duration{time.Hour}, presses+1) })
	ids := b.later(t, e, 5)
	var due atomic.Int64
	var wg sync.WaitGroup
	for range presses {
		wg.Go(func() {
			n, err := b.SendNow(t.Context(), b.account, actor, e.ID)
			due.Add(int64(n))
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b.untilCount(t, len(ids), `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'pending' AND next_attempt_at > now()`, e.ID)
	if n := b.count(t, `SELECT count(*) FROM attempts WHERE trigger = 'manual'`); n != int(due.Load()) || n < len(ids) {
		t.Errorf("%d presses made %d due and %d attempts", presses, due.Load(), n)
	}
}

// Nothing is made due where nothing is sent.
func TestSendNowWhereNothingIsSent(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(400))
	e := b.endpoint(t, r.URL, hourly)
	b.later(t, e, 1)
	b.pause(t, e)
	if _, err := b.SendNow(t.Context(), b.account, actor, e.ID); !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("paused: %v", err)
	}
	if _, err := b.SendNow(t.Context(), b.newAccount(t, "other"), actor, e.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE next_attempt_at > now()`); n != 1 {
		t.Errorf("%d wait, want the one", n)
	}
}

// A backlog takes more than one transaction.
func TestSendNowOfALongBacklog(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.stop()
	const all = 4500
	e := b.endpoint(t, "http://127.0.0.1:1/", hourly)
	b.queue(t, e, 1)
	b.exec(t, `
		INSERT INTO deliveries (id, account_id, event_id, endpoint_id, priority, next_attempt_at, last_outcome)
		SELECT (left(id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, account_id, event_id, endpoint_id, 1, now() + interval '1 hour', 'rejected'
		FROM deliveries, generate_series(1, $1) AS n`, all)
	if n, err := b.SendNow(t.Context(), b.account, actor, e.ID); n != all || err != nil {
		t.Errorf("%d due, %v; want %d", n, err, all)
	}
	if audit := b.audit(t); len(audit) != 1 {
		t.Errorf("audit %q", audit)
	}
}

// One press dismisses what it saw; the second, and that of another account,
// nothing.
func TestDismiss(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(400))
	e, _ := b.failed(t, r)
	which := deliver.Failures{Endpoint: &e.ID, Cause: &gateway.Cause{StatusCode: 400}}
	d := deliver.Dismissal{Failures: which, Note: "known"}
	if _, err := b.Dismiss(t.Context(), b.newAccount(t, "other"), actor, d); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
	for _, wrong := range []deliver.Dismissal{{}, {Failures: deliver.Failures{Cause: &gateway.Cause{StatusCode: 500}}}} {
		if _, err := b.Dismiss(t.Context(), b.account, actor, wrong); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	long := d
	long.Note = string(make([]rune, deliver.MaxNote+1))
	if _, err := b.Dismiss(t.Context(), b.account, actor, long); err == nil {
		t.Error("a long note was taken")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			groups, err := b.Dismiss(t.Context(), b.account, actor, d)
			if err != nil || len(groups) != 1 || !groups[0].Dismissed() || groups[0].Dismissal.Note != "known" {
				t.Errorf("dismissed: %+v, %v", groups, err)
			}
		})
	}
	wg.Wait()
	old := d
	old.Until = b.clock.Now().Add(-time.Hour)
	if groups, err := b.Dismiss(t.Context(), b.account, actor, old); err != nil || !groups[0].Dismissed() {
		t.Errorf("an older press: %+v, %v", groups, err)
	}
	for _, want := range []int{1, 0} {
		if n, err := b.Restore(t.Context(), b.account, actor, which); n != want || err != nil {
			t.Errorf("restored %d, %v; want %d", n, err, want)
		}
	}
	if groups, err := b.Dismiss(t.Context(), b.account, actor, old); err != nil || groups[0].Dismissed() {
		t.Errorf("what was not seen: %+v, %v", groups, err)
	}
	if _, err := b.Restore(t.Context(), b.account, actor, deliver.Failures{}); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("nothing named: %v", err)
	}
	want := []string{"failures.dismiss HTTP 400: known", "failures.restore HTTP 400", "failures.dismiss HTTP 400: known"}
	if audit := b.audit(t); !slices.Equal(audit, want) {
		t.Errorf("audit %q", audit)
	}
}
