package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// failed stores one attempt of a delivery that failed for a cause.
func (b bundle) failed(t *testing.T, id gateway.DeliveryID, n int, cause gateway.Cause, at time.Time) gateway.AttemptID {
	t.Helper()
	att := b.attempt(t, id, n, cause.Outcome(), at)
	b.exec(t, 1, `UPDATE attempts SET error_kind = $3, status_code = $4, detail = 'why', response_body = 'no' WHERE delivery_id = $1 AND n = $2`,
		id, n, string(cause.ErrorKind), cause.StatusCode)
	return att
}

func TestAttemptRows(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, gone := b.newEndpoint(t), b.newEndpoint(t)
	rows := func(account gateway.AccountID, f store.AttemptFilter, before *store.AttemptCursor) (ids []gateway.AttemptID, all []store.AttemptRow) {
		found, err := b.AttemptRows(t.Context(), account, f, before, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			ids = append(ids, r.ID())
		}
		return ids, found
	}
	if ids, _ := rows(b.account, store.AttemptFilter{}, nil); len(ids) != 0 {
		t.Errorf("of nothing: %v", ids)
	}
	down, slow := gateway.Cause{StatusCode: 503}, gateway.Cause{ErrorKind: gateway.ErrorTimeout}
	_, ids := b.sentTo(t, one.ID, gone.ID)
	now := b.clock.Now().Add(time.Minute).Truncate(time.Microsecond)
	a1 := b.failed(t, ids[0], 1, down, now)
	a2 := b.failed(t, ids[1], 1, slow, now.Add(time.Second))
	a3 := b.failed(t, ids[0], 2, gateway.Cause{}, now.Add(2*time.Second))
	a4 := b.attempt(t, ids[0], 3, gateway.OutcomeSucceeded, now.Add(3*time.Second))
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, gone.ID) })
	stranger := b.newAccount(t, "other")
	for name, c := range map[string]struct {
		account gateway.AccountID
		filter  store.AttemptFilter
		before  *store.AttemptCursor
		want    []gateway.AttemptID
	}{
		"all":              {b.account, store.AttemptFilter{}, nil, []gateway.AttemptID{a4, a3, a2, a1}},
		"answered 503":     {b.account, store.AttemptFilter{Cause: &down}, nil, []gateway.AttemptID{a1}},
		"timed out":        {b.account, store.AttemptFilter{Cause: &slow}, nil, []gateway.AttemptID{a2}},
		"no cause":         {b.account, store.AttemptFilter{Cause: &gateway.Cause{}}, nil, []gateway.AttemptID{a3}},
		"of one delivery":  {b.account, store.AttemptFilter{Cause: &down, Delivery: &ids[0]}, nil, []gateway.AttemptID{a1}},
		"of one endpoint":  {b.account, store.AttemptFilter{Cause: &down, Endpoint: &gone.ID}, nil, nil},
		"answered 404":     {b.account, store.AttemptFilter{Cause: &gateway.Cause{StatusCode: 404}}, nil, nil},
		"behind the first": {b.account, store.AttemptFilter{}, &store.AttemptCursor{StartedAt: now.Add(3 * time.Second), Delivery: ids[0], N: 3}, []gateway.AttemptID{a3, a2, a1}},
		"another account":  {stranger, store.AttemptFilter{}, nil, nil},
		"another's cause":  {stranger, store.AttemptFilter{Cause: &down}, nil, nil},
	} {
		if got, _ := rows(c.account, c.filter, c.before); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	_, all := rows(b.account, store.AttemptFilter{Cause: &slow}, nil)
	all[0].AccountID = b.account
	want := store.AttemptRow{
		Attempt: gateway.Attempt{
			DeliveryID: ids[1], N: 1, AccountID: b.account, EndpointID: gone.ID, EventID: all[0].EventID, Trigger: gateway.TriggerAuto,
			StartedAt: now.Add(time.Second), Outcome: gateway.OutcomeUnreachable, ErrorKind: gateway.ErrorTimeout, Detail: "why",
		},
		EventType: queuedType,
		Endpoint:  store.EndpointLabel{URL: gone.URL, State: gateway.EndpointDisabled, Deleted: true},
	}
	if diff := cmp.Diff(want, all[0]); diff != "" {
		t.Error(diff)
	}
}

func TestEventAttempts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newEndpoint(t).ID, b.newEndpoint(t).ID
	event, ids := b.sentTo(t, one, two)
	other, others := b.sentTo(t, one)
	now := b.clock.Now().Add(time.Minute)
	a2 := b.attempt(t, ids[1], 1, gateway.OutcomeRejected, now.Add(time.Second))
	a1 := b.attempt(t, ids[0], 1, gateway.OutcomeRejected, now)
	a3 := b.failed(t, ids[0], 2, gateway.Cause{StatusCode: 500}, now.Add(2*time.Second))
	b.attempt(t, others[0], 1, gateway.OutcomeSucceeded, now)
	none, _ := b.sentTo(t)
	for name, c := range map[string]struct {
		account gateway.AccountID
		event   gateway.EventID
		limit   int
		want    []gateway.AttemptID
		more    bool
	}{
		"all":             {b.account, event, 10, []gateway.AttemptID{a1, a2, a3}, false},
		"as many":         {b.account, event, 3, []gateway.AttemptID{a1, a2, a3}, false},
		"the newest":      {b.account, event, 2, []gateway.AttemptID{a2, a3}, true},
		"one":             {b.account, other, 10, []gateway.AttemptID{gateway.DeriveAttemptID(others[0], 1)}, false},
		"none":            {b.account, none, 10, nil, false},
		"another account": {b.newAccount(t, "other"), event, 10, nil, false},
	} {
		found, more, err := b.EventAttempts(t.Context(), c.account, c.event, c.limit)
		var got []gateway.AttemptID
		for _, a := range found {
			got = append(got, a.ID())
		}
		if err != nil || more != c.more || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, more %t, %v; want %v", name, got, more, err, c.want)
		}
	}
	if found, _, err := b.EventAttempts(t.Context(), b.account, event, 1); err != nil || string(found[0].ResponseBody) != "no" {
		t.Errorf("the answer is missing: %+v, %v", found, err)
	}
}
