package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// fail stores n deliveries of an endpoint that were given up for a cause and
// returns them, oldest first.
func (b bundle) fail(t *testing.T, endpoint gateway.EndpointID, cause gateway.Cause, n int) []gateway.DeliveryID {
	t.Helper()
	ids := b.queued(t, endpoint, n)
	b.exec(t, int64(n), `
		UPDATE deliveries
		SET status = 'failed', closed_at = now(), next_attempt_at = NULL,
		    last_outcome = $2, last_error_kind = $3, last_status_code = $4
		WHERE id = ANY ($1)`, ids, string(cause.Outcome()), string(cause.ErrorKind), cause.StatusCode)
	return ids
}

// failures groups an account's, without times and names.
func (b bundle) failures(t *testing.T, account gateway.AccountID, f store.FailureFilter) []store.FailureGroup {
	t.Helper()
	groups, more, err := b.Failures(t.Context(), account, f)
	if err != nil || more {
		t.Fatalf("more: %t, %v", more, err)
	}
	return groups
}

func TestFailures(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two, gone := b.newEndpoint(t), b.newEndpoint(t), b.newEndpoint(t)
	if got := b.failures(t, b.account, store.FailureFilter{}); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
	down, slow, unknown := gateway.Cause{StatusCode: 503}, gateway.Cause{ErrorKind: gateway.ErrorTimeout}, gateway.Cause{}
	var last [][]gateway.DeliveryID
	for _, c := range []struct {
		endpoint gateway.EndpointID
		cause    gateway.Cause
		n        int
	}{{one.ID, down, 5}, {one.ID, slow, 3}, {two.ID, slow, 2}, {two.ID, unknown, 1}, {gone.ID, down, 9}} {
		last = append(last, newestFirst(b.fail(t, c.endpoint, c.cause, c.n)...))
	}
	b.queued(t, one.ID, 3)
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, gone.ID) })
	label := store.EndpointLabel{URL: one.URL, State: gateway.EndpointActive}
	all := []store.FailureGroup{
		{EndpointID: one.ID, Cause: down, Count: 5, Newest: last[0], Endpoint: label},
		{EndpointID: one.ID, Cause: slow, Count: 3, Newest: last[1], Endpoint: label},
		{EndpointID: two.ID, Cause: slow, Count: 2, Newest: last[2], Endpoint: label},
		{EndpointID: two.ID, Cause: unknown, Count: 1, Newest: last[3], Endpoint: label},
	}
	now := b.clock.Now()
	for name, c := range map[string]struct {
		account gateway.AccountID
		filter  store.FailureFilter
		want    []store.FailureGroup
	}{
		"all":              {b.account, store.FailureFilter{}, all},
		"one endpoint":     {b.account, store.FailureFilter{Endpoint: &two.ID}, all[2:]},
		"deleted endpoint": {b.account, store.FailureFilter{Endpoint: &gone.ID}, nil},
		"since before":     {b.account, store.FailureFilter{Since: now.Add(-time.Minute)}, all},
		"since later":      {b.account, store.FailureFilter{Since: now.Add(time.Minute)}, nil},
		"one cause":        {b.account, store.FailureFilter{Cause: &slow}, all[1:3]},
		"no cause":         {b.account, store.FailureFilter{Cause: &unknown}, all[3:]},
		"another account":  {b.newAccount(t, "other"), store.FailureFilter{}, nil},
	} {
		got := b.failures(t, c.account, c.filter)
		for _, g := range got {
			if g.First.IsZero() || g.Last.Before(g.First) || g.Last.After(now.Add(time.Minute)) {
				t.Errorf("%s: from %s to %s", name, g.First, g.Last)
			}
			if n := len(g.Trend); n == 0 || n > 2 || g.Trend[n-1].At.After(now) || g.Oldest != g.Newest[len(g.Newest)-1] {
				t.Errorf("%s: trend %v, oldest %s", name, g.Trend, g.Oldest)
			}
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(store.FailureGroup{}, "First", "Last", "Oldest", "Trend")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for most, want := range map[int]int{0: 0, 1: 1, 11: 11, 100: 11} {
		if n, err := b.CountFailed(t.Context(), b.account, most); n != want || err != nil {
			t.Errorf("counted to %d: %d, %v, want %d", most, n, err, want)
		}
	}
}

// Each group is a list of its own: by its cause, and by the outcome alone where
// no status is asked for.
func TestDeliveriesByCause(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newEndpoint(t).ID, b.newEndpoint(t).ID
	down, slow := gateway.Cause{StatusCode: 503}, gateway.Cause{ErrorKind: gateway.ErrorTimeout}
	failed, other := b.fail(t, one, down, 2), b.fail(t, two, down, 1)
	b.fail(t, one, slow, 1)
	retrying := b.queued(t, one, 1)
	b.exec(t, 1, `UPDATE deliveries SET last_outcome = 'rejected', last_status_code = 503 WHERE id = $1`, retrying[0])
	b.queued(t, one, 1)
	for name, c := range map[string]struct {
		filter store.DeliveryFilter
		want   []gateway.DeliveryID
	}{
		"failed":             {store.DeliveryFilter{Status: gateway.DeliveryFailed, Cause: &down}, append(failed, other...)},
		"failed at endpoint": {store.DeliveryFilter{Status: gateway.DeliveryFailed, Cause: &down, Endpoint: &one}, failed},
		"pending":            {store.DeliveryFilter{Status: gateway.DeliveryPending, Cause: &down}, retrying},
		"any status":         {store.DeliveryFilter{Cause: &down, Endpoint: &one}, append(retrying, failed...)},
		"another outcome":    {store.DeliveryFilter{Cause: &down, Outcome: gateway.OutcomeUnreachable}, nil},
		"none":               {store.DeliveryFilter{Status: gateway.DeliveryFailed, Cause: &gateway.Cause{}}, nil},
	} {
		got := b.list(t, c.filter, store.Page[gateway.DeliveryID]{})
		if diff := cmp.Diff(newestFirst(append([]gateway.DeliveryID{}, c.want...)...), got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := b.delivery(t, failed[0]); got.LastCause != down {
		t.Errorf("last cause %+v, want %+v", got.LastCause, down)
	}
}

// More than can be grouped are not looked at, and that is told.
func TestFailuresAreBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t).ID
	const surplus = 7
	newest := b.clock.Now()
	b.exec(t, store.MaxFailuresGrouped+surplus, `
		INSERT INTO deliveries (id, account_id, event_id, endpoint_id, status, closed_at, last_outcome, last_status_code)
		SELECT (left(lpad(to_hex((extract(epoch FROM $3::timestamptz) * 1000)::bigint), 12, '0'), 12) || '7000' || lpad(to_hex(n), 16, '0'))::uuid,
		       $1, gen_random_uuid(), $2, 'failed', now(), 'rejected', CASE WHEN n <= $4 THEN 400 ELSE 500 END
		FROM generate_series(1, $5) AS n`, b.account, e, newest, surplus, store.MaxFailuresGrouped+surplus)
	groups, more, err := b.Failures(t.Context(), b.account, store.FailureFilter{})
	if err != nil || !more || len(groups) != 1 || groups[0].Count != store.MaxFailuresGrouped || groups[0].Cause.StatusCode != 500 {
		t.Errorf("%+v, more: %t, %v; want the newest alone", groups, more, err)
	}
}

// What the next of the chain was given is no failure to be made good.
func TestFailuresLeaveOutWhatWasPassedOn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	head, next := b.newEndpoint(t), b.newEndpoint(t)
	ids := b.fail(t, head.ID, gateway.Cause{StatusCode: 503}, 3)
	b.exec(t, 2, `UPDATE deliveries SET failover_to = $2 WHERE id = ANY ($1)`, ids[:2], next.ID)
	if got := b.failures(t, b.account, store.FailureFilter{}); len(got) != 1 || got[0].Count != 1 || got[0].Oldest != ids[2] {
		t.Errorf("%+v, want the one that nobody was given", got)
	}
	if n, err := b.CountFailed(t.Context(), b.account, 99); n != 1 || err != nil {
		t.Errorf("%d are counted, %v, want 1", n, err)
	}
}
