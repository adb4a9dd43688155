package decide_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// told are verdicts as a table: the event's place, and what was said.
func told(ids []gateway.EventID, verdicts []decide.Verdict) []string {
	places := map[gateway.EventID]int{}
	for i, id := range ids {
		places[id] = i
	}
	got := []string{}
	for _, v := range verdicts {
		got = append(got, fmt.Sprintf("%d %t %s", places[v.Event.ID], v.Matches, v.Reason))
	}
	return got
}

func TestTryFilter(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := []gateway.EventID{
		b.saying(t, "order.created", `{"amount":9}`), b.saying(t, "order.paid", `{"amount":250}`),
		b.saying(t, "refund", `{}`), b.saying(t, "rowlock.endpoint.disabled", `{"amount":250}`), b.saying(t, "order.gone", `{"amount":250}`),
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.DeletePayload(t.Context(), b.account, ids[4])
		return err
	})
	const filter = " body.amount > 100 "
	for name, c := range map[string]struct {
		trial decide.Trial
		want  []string
	}{
		"the newest":         {decide.Trial{Filter: filter}, []string{"2 false no such key: amount", "1 true ", "0 false "}},
		"some":               {decide.Trial{Filter: filter, Limit: 2}, []string{"2 false no such key: amount", "1 true "}},
		"of the types":       {decide.Trial{Filter: filter, Types: []string{"order.*"}}, []string{"1 true ", "0 false "}},
		"of no type there":   {decide.Trial{Filter: filter, Types: []string{"none"}}, []string{}},
		"of Rowlock's own":   {decide.Trial{Filter: filter, Types: []string{"rowlock.*"}}, []string{"3 true "}},
		"one":                {decide.Trial{Filter: filter, Event: &ids[0]}, []string{"0 false "}},
		"one of Rowlock's":   {decide.Trial{Filter: filter, Event: &ids[3]}, []string{"3 true "}},
		"more than there is": {decide.Trial{Filter: "true", Limit: 10_000}, []string{"2 true ", "1 true ", "0 true "}},
	} {
		got, err := b.TryFilter(t.Context(), b.account, c.trial)
		if diff := cmp.Diff(c.want, told(ids, got)); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	b.wantStatus(t, gateway.EventAccepted, ids...)

	for name, c := range map[string]struct {
		trial decide.Trial
		want  error
	}{
		"nobody's event": {decide.Trial{Filter: filter, Event: new(gateway.EventID(b.clock.NewID()))}, gateway.ErrNotFound},
		"no payload":     {decide.Trial{Filter: filter, Event: &ids[4]}, gateway.ErrPayloadGone},
	} {
		if _, err := b.TryFilter(t.Context(), b.account, c.trial); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, filter := range []string{"", " ", "body.a >", "1"} {
		_, err := b.TryFilter(t.Context(), b.account, decide.Trial{Filter: filter})
		if wrong, ok := errors.AsType[*gateway.InvalidError](err); !ok || wrong.Field != "filter" {
			t.Errorf("%q: %v", filter, err)
		}
	}
	other, _ := b.newAccount(t, "other")
	if got, err := b.TryFilter(t.Context(), other, decide.Trial{Filter: filter}); len(got) != 0 || err != nil {
		t.Errorf("another account is told %v, %v", got, err)
	}
	if _, err := b.TryFilter(t.Context(), other, decide.Trial{Filter: filter, Event: &ids[0]}); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account's event: %v", err)
	}
}

func TestTryFilterOnManyEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.accept(t, 30, "a")
	got, err := b.TryFilter(t.Context(), b.account, decide.Trial{Filter: "body.order == 1"})
	if err != nil || len(got) != decide.MaxTried || got[0].Event.ID != ids[29] || !got[19].Matches {
		t.Errorf("%d, %v", len(got), err)
	}
}

func TestUnsent(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	names := map[gateway.EndpointID]string{
		b.endpoint(t): "no filter", b.filtered(t, "body.n == 1"): "matches", b.filtered(t, "body.n == 2"): "does not",
		b.filtered(t, "body.m == 2"): "cannot", b.filtered(t, "body.n == 2", "b"): "other type", b.filtered(t, "body.n == 3"): "was changed",
	}
	id := b.saying(t, "a", `{"n":1}`)
	b.process(t, id)
	b.exec(t, `UPDATE endpoints SET filter = 'body.n == 1' WHERE filter = 'body.n == 3'`)
	b.filtered(t, "body.n == 2") // came later
	sent := map[gateway.EndpointID]bool{}
	for endpoint, name := range names {
		sent[endpoint] = name == "no filter" || name == "matches"
	}
	event := b.event(t, id)
	unsent, err := b.Unsent(t.Context(), event, sent)
	got := map[string]string{}
	for _, u := range unsent {
		got[names[u.Endpoint.ID]] = fmt.Sprint(u.Matches, " ", u.Reason)
	}
	want := map[string]string{"does not": "false ", "cannot": "false no such key: m", "was changed": "true "}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.DeletePayload(t.Context(), b.account, id)
		return err
	})
	if unsent, err := b.Unsent(t.Context(), b.event(t, id), sent); len(unsent) != 0 || err != nil {
		t.Errorf("without a payload: %v, %v", unsent, err)
	}
}
