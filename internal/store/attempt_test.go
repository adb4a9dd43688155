package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// attempt stores one attempt of a delivery.
func (b bundle) attempt(t *testing.T, id gateway.DeliveryID, n int, outcome gateway.Outcome, at time.Time) gateway.AttemptID {
	t.Helper()
	d := b.delivery(t, id)
	b.exec(t, 1, `
		INSERT INTO attempts (delivery_id, n, account_id, endpoint_id, event_id, trigger, fence, started_at, duration_us, outcome)
		VALUES ($1, $2, $3, $4, $5, 'auto', 1, $6, 0, $7)`, id, n, b.account, d.EndpointID, d.EventID, at, string(outcome))
	return gateway.DeriveAttemptID(id, n)
}

// attempts returns the ids of a list.
func (b bundle) attempts(t *testing.T, f store.AttemptFilter, before *store.AttemptCursor, limit int) ([]gateway.AttemptID, []gateway.Attempt) {
	t.Helper()
	found, err := b.Attempts(t.Context(), b.account, f, before, limit)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]gateway.AttemptID, len(found))
	for i, a := range found {
		ids[i] = a.ID()
	}
	return ids, found
}

func TestAttemptByID(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.queued(t, b.newEndpoint(t).ID, 1)[0]
	for _, n := range []int{1, 2, 300, gateway.MaxAttempts} {
		att := b.attempt(t, id, n, gateway.OutcomeRejected, b.clock.Now())
		got, err := b.Attempt(t.Context(), b.account, att)
		if err != nil || got.N != n || got.DeliveryID != id || got.ID() != att {
			t.Errorf("attempt %d: %+v, %v", n, got, err)
		}
	}
	other := b.newAccount(t, "other")
	for name, c := range map[string]struct {
		account gateway.AccountID
		id      gateway.AttemptID
	}{
		"another account": {other, gateway.DeriveAttemptID(id, 1)},
		"no such number":  {b.account, gateway.DeriveAttemptID(id, 3)},
		"the delivery's":  {b.account, gateway.AttemptID(id)},
		"nobody's":        {b.account, gateway.AttemptID(b.clock.NewID())},
	} {
		if _, err := b.Attempt(t.Context(), c.account, c.id); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := b.DeliveryAttempts(t.Context(), other, id); err != nil || len(got) != 0 {
		t.Errorf("another account sees %v, %v", got, err)
	}
	got, err := b.DeliveryAttempts(t.Context(), b.account, id)
	var numbers []int
	for _, a := range got {
		numbers = append(numbers, a.N)
	}
	if want := []int{1, 2, 300, gateway.MaxAttempts}; err != nil || !slices.Equal(numbers, want) {
		t.Errorf("attempts %v, %v, want %v", numbers, err, want)
	}
}

func TestAttemptsFilters(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newEndpoint(t), b.newEndpoint(t)
	first, second := b.queued(t, one.ID, 1)[0], b.queued(t, two.ID, 1)[0]
	now := b.clock.Now().Add(time.Minute)
	a1 := b.attempt(t, first, 1, gateway.OutcomeRejected, now)
	a2 := b.attempt(t, second, 1, gateway.OutcomeSucceeded, now.Add(time.Second))
	a3 := b.attempt(t, first, 2, gateway.OutcomeUnreachable, now.Add(2*time.Second))
	for name, c := range map[string]struct {
		filter store.AttemptFilter
		want   []gateway.AttemptID
	}{
		"all":         {want: []gateway.AttemptID{a3, a2, a1}},
		"endpoint":    {store.AttemptFilter{Endpoint: &one.ID}, []gateway.AttemptID{a3, a1}},
		"delivery":    {store.AttemptFilter{Delivery: &second}, []gateway.AttemptID{a2}},
		"rejected":    {store.AttemptFilter{Outcome: gateway.OutcomeRejected}, []gateway.AttemptID{a1}},
		"succeeded":   {store.AttemptFilter{Outcome: gateway.OutcomeSucceeded}, []gateway.AttemptID{a2}},
		"failed":      {store.AttemptFilter{Failed: true}, []gateway.AttemptID{a3, a1}},
		"failed here": {store.AttemptFilter{Endpoint: &two.ID, Failed: true}, []gateway.AttemptID{}},
		"unknown":     {store.AttemptFilter{Outcome: gateway.OutcomeUnknown}, []gateway.AttemptID{}},
		"since":       {store.AttemptFilter{Since: now.Add(time.Second)}, []gateway.AttemptID{a3, a2}},
		"until":       {store.AttemptFilter{Until: now.Add(2 * time.Second)}, []gateway.AttemptID{a2, a1}},
		"a moment":    {store.AttemptFilter{Since: now, Until: now.Add(time.Second)}, []gateway.AttemptID{a1}},
		"both":        {store.AttemptFilter{Endpoint: &one.ID, Outcome: gateway.OutcomeUnreachable}, []gateway.AttemptID{a3}},
		"nothing yet": {store.AttemptFilter{Until: now.Add(-time.Hour)}, []gateway.AttemptID{}},
	} {
		if got, _ := b.attempts(t, c.filter, nil, 10); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	b.account = b.newAccount(t, "other")
	if got, _ := b.attempts(t, store.AttemptFilter{}, nil, 10); len(got) != 0 {
		t.Errorf("another account sees %v", got)
	}
}

// Many attempts start at the same moment, and more come while somebody turns
// pages: each is seen once.
func TestAttemptsPagesAreStable(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	at := b.clock.Now().Add(time.Minute)
	ids := b.queued(t, e.ID, 3)
	for _, id := range ids {
		for n := 1; n <= 3; n++ {
			b.attempt(t, id, n, gateway.OutcomeRejected, at)
		}
	}
	want, _ := b.attempts(t, store.AttemptFilter{}, nil, 100)
	var got []gateway.AttemptID
	var cursor *store.AttemptCursor
	for n := 4; ; n++ {
		part, attempts := b.attempts(t, store.AttemptFilter{}, cursor, 2)
		if len(part) == 0 {
			break
		}
		got = append(got, part...)
		last := attempts[len(attempts)-1]
		cursor = &store.AttemptCursor{StartedAt: last.StartedAt, Delivery: last.DeliveryID, N: last.N}
		b.attempt(t, ids[0], n, gateway.OutcomeRejected, at.Add(time.Second))
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 9 {
		t.Errorf("%d attempts: %s", len(want), diff)
	}
}
