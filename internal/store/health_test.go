package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestEndpointHealth(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	busy, fine, idle := b.newEndpoint(t).ID, b.newEndpoint(t).ID, b.newEndpoint(t).ID
	ids := b.queued(t, busy, 3)
	one := b.queued(t, fine, 1)[0]
	b.exec(t, 1, `UPDATE deliveries SET status = 'delivered' WHERE id = $1`, one)
	now := b.clock.Now().Add(time.Minute)
	const tries = store.RecentAttempts + 5
	for n := 1; n <= tries; n++ {
		cause := gateway.Cause{StatusCode: 400 + n}
		b.failed(t, ids[0], n, cause, now.Add(time.Duration(n)*time.Second))
	}
	b.attempt(t, ids[1], 1, gateway.OutcomeSucceeded, now.Add(time.Hour))
	b.attempt(t, one, 1, gateway.OutcomeSucceeded, now)
	all, err := b.EndpointHealth(t.Context(), b.account, []gateway.EndpointID{busy, fine, idle, {}})
	if err != nil || len(all) != 3 {
		t.Fatalf("health of %d, %v", len(all), err)
	}
	h := all[busy]
	if len(h.Recent) != store.RecentAttempts || h.Recent[0].StatusCode != 400+tries-store.RecentAttempts+2 || h.Recent[store.RecentAttempts-1].Outcome != gateway.OutcomeSucceeded {
		t.Errorf("recent are %d attempts, want the last %d, oldest first: %+v", len(h.Recent), store.RecentAttempts, h.Recent)
	}
	if last := h.LastFailure(); last == nil || last.StatusCode != 400+tries || last.Detail != "why" {
		t.Errorf("last failure %+v", last)
	}
	if h.Waiting != 3 || h.OldestWaiting == nil || !h.OldestWaiting.Equal(ids[0].Time()) {
		t.Errorf("%d wait since %v", h.Waiting, h.OldestWaiting)
	}
	if h := all[fine]; len(h.Recent) != 1 || h.LastFailure() != nil || h.Waiting != 0 || h.OldestWaiting != nil {
		t.Errorf("of one success: %+v", h)
	}
	if diff := cmp.Diff(store.Health{}, all[idle]); diff != "" {
		t.Errorf("of nothing: %s", diff)
	}
	if all, err := b.EndpointHealth(t.Context(), b.newAccount(t, "other"), []gateway.EndpointID{busy, fine}); len(all) != 0 || err != nil {
		t.Errorf("another account sees %v, %v", all, err)
	}
}

// However many wait, no more than a bound are counted.
func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t).ID
	ids := b.queued(t, e, store.MaxWaitingCounted+3)
	all, err := b.EndpointHealth(t.Context(), b.account, []gateway.EndpointID{e})
	if h := all[e]; err != nil || h.Waiting != store.MaxWaitingCounted || !h.OldestWaiting.Equal(ids[0].Time()) {
		t.Errorf("%d wait since %v, %v", h.Waiting, h.OldestWaiting, err)
	}
}

// A backlog is counted up to a bound, and told by whether it goes on by itself.
func TestBacklog(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	want := func(most int, want store.Backlog) {
		t.Helper()
		if got, err := b.Backlog(t.Context(), b.account, most); got != want || err != nil {
			t.Errorf("counted to %d: %+v, %v, want %+v", most, got, err, want)
		}
	}
	want(10, store.Backlog{})
	active, paused, gone := b.newEndpoint(t).ID, b.newEndpoint(t).ID, b.newEndpoint(t).ID
	for id, n := range map[gateway.EndpointID]int{active: 3, paused: 2, gone: 4} {
		b.queued(t, id, n)
	}
	b.exec(t, 1, `UPDATE endpoints SET state = 'paused' WHERE id = $1`, paused)
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, gone) })
	want(10, store.Backlog{Waiting: 3, Held: 2})
	want(3, store.Backlog{Waiting: 3, Held: 2})
	want(1, store.Backlog{Waiting: 1, Held: 1})
	b.account = b.newAccount(t, "other")
	want(10, store.Backlog{})
}

func TestTroubledEndpoints(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	first, second, disabled, fine, gone := b.newEndpoint(t).ID, b.newEndpoint(t).ID, b.newEndpoint(t).ID, b.newEndpoint(t).ID, b.newEndpoint(t).ID
	for i, id := range []gateway.EndpointID{first, second, gone} {
		b.exec(t, 1, `UPDATE endpoints SET consecutive_failures = 1, failing_since = now() - $2 * interval '1 min' WHERE id = $1`, id, 10-i)
	}
	b.exec(t, 1, `UPDATE endpoints SET state = 'disabled' WHERE id = $1`, disabled)
	b.exec(t, 1, `UPDATE endpoints SET state = 'paused' WHERE id = $1`, fine)
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, gone) })
	list := func(limit int) (ids []gateway.EndpointID) {
		found, err := b.TroubledEndpoints(t.Context(), b.account, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found {
			ids = append(ids, e.ID)
		}
		return ids
	}
	if diff := cmp.Diff([]gateway.EndpointID{first, second, disabled}, list(10)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]gateway.EndpointID{first}, list(1)); diff != "" {
		t.Error(diff)
	}
	b.account = b.newAccount(t, "other")
	if got := list(10); len(got) != 0 {
		t.Errorf("another account sees %v", got)
	}
}

// Since when an endpoint fails is the first of the failures in a row, not the
// last, and is forgotten with them.
func TestFailingSince(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	since := func() *time.Time {
		e, err := b.Endpoint(t.Context(), b.account, lane.EndpointID)
		if err != nil {
			t.Fatal(err)
		}
		return e.FailingSince
	}
	forget := map[string]func(tx store.Tx) error{
		"a success": func(tx store.Tx) error { return tx.ResetFailures(t.Context(), lane) },
		"a resume": func(tx store.Tx) error {
			_, err := tx.ResumeEndpoint(t.Context(), b.account, lane.EndpointID)
			return err
		},
	}
	for name, do := range forget {
		if since() != nil {
			t.Fatalf("before %s: failing already", name)
		}
		var first *time.Time
		for n := range 3 {
			countAtOnce(t, b, lane, 3)
			now := since()
			if n == 0 {
				first = now
			}
			if now == nil || !now.Equal(*first) {
				t.Errorf("failing since %v, first since %v", now, first)
			}
			b.exec(t, 1, `UPDATE endpoints SET failure_counted_at = failure_counted_at - interval '1 s' WHERE id = $1`, lane.EndpointID)
		}
		b.in(t, do)
		if got := since(); got != nil {
			t.Errorf("after %s: since %v", name, got)
		}
		b.exec(t, 1, `UPDATE endpoints SET state = 'active', consecutive_failures = 0 WHERE id = $1`, lane.EndpointID)
	}
}

// A delivery knows its last answer, however it came by it.
func TestLastCause(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane, d := b.sending(t)
	want := func(what string, want gateway.Cause) {
		t.Helper()
		if got := b.delivery(t, d.ID).LastCause; got != want {
			t.Errorf("after %s: %+v, want %+v", what, got, want)
		}
	}
	want("nothing", gateway.Cause{})
	answer := func(cause gateway.Cause, outcome gateway.Outcome, status gateway.DeliveryStatus) {
		t.Helper()
		r := b.answered(d, outcome, status)
		r.Attempt.ErrorKind, r.Attempt.StatusCode = cause.ErrorKind, cause.StatusCode
		r.NextAttemptAt = b.clock.Now().Add(-time.Second)
		if len(b.record(t, lane, r)) != 1 {
			t.Fatal("nothing was recorded")
		}
	}
	slow, down, ok := gateway.Cause{ErrorKind: gateway.ErrorTimeout}, gateway.Cause{StatusCode: 503}, gateway.Cause{StatusCode: 200}
	answer(slow, gateway.OutcomeUnreachable, gateway.DeliveryPending)
	want("a timeout", slow)
	d = b.takeDue(t, lane, 1)[0]
	want("a take", slow)
	answer(down, gateway.OutcomeRejected, gateway.DeliveryPending)
	want("a rejection", down)
	d = b.takeDue(t, lane, 1)[0]
	lane.Fence++
	b.in(t, func(tx store.Tx) error {
		n, err := tx.TakeOver(t.Context(), lane)
		if n != 1 {
			err = errors.Join(err, errors.New("nothing was taken over"))
		}
		return err
	})
	want("a take-over", gateway.Cause{})
	d = b.takeDue(t, lane, 1)[0]
	answer(ok, gateway.OutcomeSucceeded, gateway.DeliveryDelivered)
	want("a success", ok)
}
