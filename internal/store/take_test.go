package store_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestReadTarget(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint()
	e.URL, e.Headers, e.Timeout, e.MaxInFlight, e.StopOn = "https://example.com/x", []byte("X-A: b\r\n"), 3*time.Second, 5, []int{404}
	e.RetrySchedule = []time.Duration{time.Second, time.Minute}
	first, second, ended := b.secret("whsec_1"), b.secret("whsec_2"), b.secret("whsec_0")
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateEndpoint(t.Context(), b.account, e, 0)
		return errors.Join(err,
			b.addEndpointSecret(t.Context(), tx, e.ID, ended),
			b.addEndpointSecret(t.Context(), tx, e.ID, first),
			b.addEndpointSecret(t.Context(), tx, e.ID, second))
	})
	b.exec(t, 1, `UPDATE endpoint_secrets SET ends_at = now() - interval '1 ms' WHERE id = $1`, ended.ID)
	b.exec(t, 1, `UPDATE endpoint_secrets SET ends_at = now() + interval '1 min' WHERE id = $1`, first.ID)
	b.exec(t, 1, `UPDATE endpoints SET consecutive_failures = 4 WHERE id = $1`, e.ID)
	lane := b.acquire(t, e.ID, "n")
	read := func() (target store.Target, active bool) {
		b.in(t, func(tx store.Tx) (err error) {
			target, active, err = tx.ReadTarget(t.Context(), lane)
			return err
		})
		return target, active
	}
	got, active := read()
	if want := []string{"whsec_2", "whsec_1"}; !active || !cmp.Equal(values(got.Secrets), want) {
		t.Errorf("active %t, secrets %v, want %v", active, values(got.Secrets), want)
	}
	got.Secrets = nil
	want := store.Target{
		Kind: e.Kind, URL: e.URL, Headers: e.Headers, RetrySchedule: e.RetrySchedule, Timeout: e.Timeout,
		MaxInFlight: 5, StopOn: e.StopOn, Failures: 4, State: gateway.EndpointActive,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
		t.Error(diff)
	}
	for _, set := range []string{`state = 'paused'`, `state = 'disabled'`, `state = 'active', deleted_at = now()`} {
		b.exec(t, 1, `UPDATE endpoints SET `+set+` WHERE id = $1`, e.ID)
		if got, active := read(); active || got.URL != "" {
			t.Errorf("%s: active %t, %+v", set, active, got)
		}
	}
}

func TestTakeDue(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, neighbour := b.newEndpoint(t), b.newEndpoint(t)
	b.queued(t, neighbour.ID, 1)
	ids := b.queued(t, e.ID, 9)
	for i, set := range []string{
		`priority = 2, next_attempt_at = now() - interval '9 min'`,
		`priority = 1, next_attempt_at = now() - interval '8 min', trigger = 'manual', attempts = 4, step = 2`,
		`priority = 1, next_attempt_at = now() - interval '9 min', attempts = 1, step = 1`,
		`priority = 0, next_attempt_at = now() - interval '1 min'`,
		`priority = 0, next_attempt_at = now() - interval '2 min'`,
		`next_attempt_at = now() + interval '1 min'`,
		`next_attempt_at = NULL`,
		`status = 'sending'`,
		`status = 'cancelled'`,
	} {
		b.exec(t, 1, `UPDATE deliveries SET `+set+` WHERE id = $1`, ids[i])
	}
	lane := b.acquire(t, e.ID, "n")
	for at, i := range []int{4, 3, 2, 1, 0} {
		before := b.row(t, ids[i])
		taken := b.takeDue(t, lane, 1)
		if len(taken) != 1 || taken[0].ID != ids[i] {
			t.Fatalf("take %d is %v, want the delivery %d", at, taken, i)
		}
		want := store.Taken{
			ID: ids[i], EventID: taken[0].EventID, Trigger: gateway.Trigger(before.Trigger), N: before.Attempts + 1, Step: before.Step + 1,
			EventType: queuedType, Headers: store.JSONHeaders, Body: []byte(queuedBody),
		}
		if diff := cmp.Diff(want, taken[0]); diff != "" {
			t.Error(diff)
		}
		if after := b.row(t, ids[i]); after.Status != "sending" || after.Fence != lane.Fence || after.Attempts != want.N || after.Step != want.Step {
			t.Errorf("taken: %+v", after)
		}
	}
	if rest := b.takeDue(t, lane, 9); len(rest) != 0 {
		t.Errorf("took what is not due: %v", rest)
	}
}

func TestTakeDueTakesNoMoreThanAsked(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	for i, id := range b.queued(t, e.ID, 9) {
		b.exec(t, 1, `UPDATE deliveries SET priority = $2 WHERE id = $1`, id, i%3)
	}
	lane := b.acquire(t, e.ID, "n")
	for _, want := range []int{4, 4, 1, 0} {
		if taken := b.takeDue(t, lane, 4); len(taken) != want {
			t.Errorf("took %d, want %d", len(taken), want)
		}
	}
}

// Two that take at the same time, which only a lost lane can bring about, get
// different deliveries and do not wait for each other.
func TestTakeDueSkipsWhatIsBeingTaken(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	b.queued(t, e.ID, 8)
	lane := b.acquire(t, e.ID, "n")
	b.in(t, func(first store.Tx) error {
		one, err := first.TakeDue(t.Context(), lane, 5)
		if err != nil || len(one) != 5 {
			t.Fatalf("first took %d, %v", len(one), err)
		}
		two := b.takeDue(t, lane, 5)
		if len(two) != 3 {
			t.Errorf("second took %d, want 3", len(two))
		}
		seen := map[gateway.DeliveryID]bool{}
		for _, d := range append(one, two...) {
			if seen[d.ID] {
				t.Errorf("%s was taken twice", d.ID)
			}
			seen[d.ID] = true
		}
		return nil
	})
}

func TestTakeDueAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	const waiting = 40
	b.queued(t, e.ID, waiting)
	lane := b.acquire(t, e.ID, "n")
	got := make([][]store.Taken, 8)
	errs := b.atOnce(t.Context(), len(got), func(tx store.Tx, i int) (err error) {
		got[i], err = tx.TakeDue(t.Context(), lane, 10)
		return err
	})
	wantErrors(t, errs, len(got), nil)
	seen := map[gateway.DeliveryID]bool{}
	for _, taken := range got {
		for _, d := range taken {
			if seen[d.ID] || d.N != 1 {
				t.Errorf("%s was taken twice, attempt %d", d.ID, d.N)
			}
			seen[d.ID] = true
		}
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE status = 'sending' AND attempts = 1`); n != len(seen) {
		t.Errorf("%d are being sent, %d were handed out", n, len(seen))
	}
}

func TestTakeDueWithoutPayload(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	empty, gone := b.queued(t, e.ID, 1)[0], b.queued(t, e.ID, 1)[0]
	b.exec(t, 1, `UPDATE event_bodies SET body = '' WHERE id = (SELECT event_id FROM deliveries WHERE id = $1)`, empty)
	b.exec(t, 1, `DELETE FROM event_bodies WHERE id = (SELECT event_id FROM deliveries WHERE id = $1)`, gone)
	for _, d := range b.takeDue(t, b.acquire(t, e.ID, "n"), 2) {
		if isGone := d.Body == nil; isGone != (d.ID == gone) {
			t.Errorf("%s: body %q is gone: %t", d.ID, d.Body, isGone)
		}
	}
}
