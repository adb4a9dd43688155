package store_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestLaneOf(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t).ID
	now, err := b.LaneOf(t.Context(), b.account, e)
	if err != nil || now.Flow.Cap != gateway.InitialInFlightCap || now.Held || !now.Flow.SleepUntil.IsZero() {
		t.Errorf("a new lane: %+v, %v", now, err)
	}
	lane := b.acquire(t, e, "node")
	if now, err := b.LaneOf(t.Context(), b.account, e); err != nil || !now.Held {
		t.Errorf("a held lane: %+v, %v", now, err)
	}
	until := b.clock.Now().Add(time.Minute).Truncate(time.Microsecond)
	lane.Flow = gateway.Flow{Cap: 1, FailedProbes: 3, TimingOut: true, SleepUntil: until, NarrowedAt: until.Add(-time.Hour)}
	if _, mine, err := b.ReleaseLane(t.Context(), lane); !mine || err != nil {
		t.Fatal(mine, err)
	}
	now, err = b.LaneOf(t.Context(), b.account, e)
	if err != nil || now.Held || now.Flow.Cap != 1 || now.Flow.FailedProbes != 3 || !now.Flow.TimingOut || !now.Flow.SleepUntil.Equal(until) || !now.Flow.NarrowedAt.Equal(until.Add(-time.Hour)) {
		t.Errorf("a sleeping lane: %+v, %v", now, err)
	}
	if _, err := b.LaneOf(t.Context(), b.newAccount(t, "other"), e); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
}

// postponed makes n deliveries that are due later, of which the first failed
// once, and m that are due now.
func (b bundle) postponed(t *testing.T, e gateway.EndpointID, n, m int) {
	t.Helper()
	ids := b.queued(t, e, n)
	b.exec(t, int64(n), `UPDATE deliveries SET next_attempt_at = now() + interval '1 hour', priority = 1 WHERE id = ANY ($1)`, ids)
	b.exec(t, 1, `UPDATE deliveries SET next_attempt_at = now() + interval '1 minute', priority = 2 WHERE id = $1`, ids[0])
	if m > 0 {
		b.queued(t, e, m)
	}
}

func TestQueueOf(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, idle := b.newEndpoint(t).ID, b.newEndpoint(t).ID
	b.postponed(t, e, 5, 3)
	for most, want := range map[int][2]int{100: {3, 5}, 2: {2, 2}} {
		q, err := b.QueueOf(t.Context(), b.account, e, most)
		if err != nil || q.Due != want[0] || q.Later != want[1] || q.DueSince == nil || q.NextAt == nil {
			t.Fatalf("up to %d: %+v, %v", most, q, err)
		}
		if next := time.Until(*q.NextAt); next < 30*time.Second || next > 2*time.Minute || time.Since(*q.DueSince) < 0 {
			t.Errorf("next in %s", next)
		}
	}
	for name, q := range map[string]func() (store.Queue, error){
		"idle":            func() (store.Queue, error) { return b.QueueOf(t.Context(), b.account, idle, 9) },
		"another account": func() (store.Queue, error) { return b.QueueOf(t.Context(), b.newAccount(t, "other"), e, 9) },
	} {
		if q, err := q(); q != (store.Queue{}) || err != nil {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
	}
}

func TestMakeDue(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t).ID
	b.postponed(t, e, 5, 3)
	press := func(account gateway.AccountID, limit int) (n int) {
		b.in(t, func(tx store.Tx) (err error) {
			n, err = tx.MakeDue(t.Context(), account, e, limit)
			return err
		})
		return n
	}
	if n := press(b.newAccount(t, "other"), 9); n != 0 {
		t.Errorf("another account made %d due", n)
	}
	for _, state := range []string{"paused", "disabled"} {
		b.exec(t, 1, `UPDATE endpoints SET state = $2 WHERE id = $1`, e, state)
		if n := press(b.account, 9); n != 0 {
			t.Errorf("%d made due at a %s endpoint", n, state)
		}
	}
	b.exec(t, 1, `UPDATE endpoints SET state = 'active' WHERE id = $1`, e)
	for _, want := range []int{2, 2, 1, 0} {
		if n := press(b.account, 2); n != want {
			t.Errorf("%d made due, want %d", n, want)
		}
	}
	if q, err := b.QueueOf(t.Context(), b.account, e, 9); q.Due != 8 || q.Later != 0 || err != nil {
		t.Errorf("%+v, %v", q, err)
	}
}

// Of many presses at once, each delivery is made due by one.
func TestMakeDueAtOnce(t *testing.T) {
	t.Parallel()
	const n, all = 16, 200
	b := newBundle(t)
	e := b.newEndpoint(t).ID
	b.postponed(t, e, all, 0)
	var due atomic.Int64
	errs := b.atOnce(t.Context(), n, func(tx store.Tx, _ int) error {
		if err := tx.WakeLane(t.Context(), b.account, e); err != nil {
			return err
		}
		did, err := tx.MakeDue(t.Context(), b.account, e, all/4)
		due.Add(int64(did))
		return err
	})
	wantErrors(t, errs, n, nil)
	if due.Load() != all {
		t.Errorf("%d made due, want %d", due.Load(), all)
	}
}
