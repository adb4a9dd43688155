package store_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestLastAnswers(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	if got, err := b.LastAnswers(t.Context(), b.account, nil); err != nil || len(got) != 0 {
		t.Errorf("of nothing: %v, %v", got, err)
	}
	ids := b.queued(t, e.ID, 3)
	for n := range 2 {
		b.attempt(t, ids[0], n+1, gateway.OutcomeRejected, time.Now())
	}
	b.attempt(t, ids[1], 1, gateway.OutcomeUnreachable, time.Now())
	b.exec(t, 1, `UPDATE attempts SET detail = 'late', response_body = repeat('x', 1000)::bytea WHERE delivery_id = $1 AND n = 2`, ids[0])
	got, err := b.LastAnswers(t.Context(), b.account, ids)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d answers, %v", len(got), err)
	}
	if a := got[ids[0]]; a.Detail != "late" || len(a.Body) == 0 || len(a.Body) >= 1000 {
		t.Errorf("the last of two: %q, %d bytes", a.Detail, len(a.Body))
	}
	if got, err := b.LastAnswers(t.Context(), b.newAccount(t, "other"), ids); err != nil || len(got) != 0 {
		t.Errorf("another account sees %v, %v", got, err)
	}
}

func TestFailedDeliveries(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newEndpoint(t), b.newEndpoint(t)
	down, slow := gateway.Cause{StatusCode: 503}, gateway.Cause{ErrorKind: gateway.ErrorTimeout}
	first, second := b.fail(t, one.ID, down, 3), b.fail(t, one.ID, slow, 2)
	b.fail(t, two.ID, down, 1)
	b.queued(t, one.ID, 2)
	list := func(account gateway.AccountID, cause *gateway.Cause, before *gateway.DeliveryID) []store.FailedDelivery {
		t.Helper()
		got, err := b.FailedDeliveries(t.Context(), account, one.ID, cause, store.Page[gateway.DeliveryID]{Before: before, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := list(b.account, nil, nil); len(got) != 5 || got[0].EventType == "" || got[0].ID != newestFirst(second...)[0] {
		t.Errorf("all: %+v", got)
	}
	if got := list(b.account, &down, nil); len(got) != 3 || got[0].LastCause != down {
		t.Errorf("of a cause: %+v", got)
	}
	newest := newestFirst(first...)
	if got := list(b.account, &down, &newest[0]); len(got) != 2 || got[0].ID != newest[1] {
		t.Errorf("the next part: %+v", got)
	}
	if got := list(b.newAccount(t, "other"), nil, nil); len(got) != 0 {
		t.Errorf("another account sees %+v", got)
	}
}
