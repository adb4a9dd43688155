package store_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestPulse(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	since := b.clock.Now().Add(-time.Second)
	var endpoint *gateway.EndpointID
	want := func(what string, account gateway.AccountID, after gateway.EventID, want store.Pulse) {
		t.Helper()
		if got, err := b.Pulse(t.Context(), account, after, since, endpoint); got != want || err != nil {
			t.Errorf("%s: %+v, %v, want %+v", what, got, err, want)
		}
	}
	want("nothing", b.account, gateway.EventID{}, store.Pulse{})
	ids := b.accepted(t, source, 3)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	b.in(t, func(tx store.Tx) error { return tx.AddTally(t.Context(), lane, "n", someStats()) })
	want("all", b.account, gateway.EventID{}, store.Pulse{Events: 3, Attempts: 10})
	want("behind the first", b.account, ids[0], store.Pulse{Events: 2, Attempts: 10})
	b.in(t, func(tx store.Tx) error { return tx.AddTally(t.Context(), lane, "n", someStats()) })
	want("nothing new", b.account, ids[2], store.Pulse{Attempts: 20})
	b.accepted(t, source, store.MaxNewEvents+1)
	want("many", b.account, ids[2], store.Pulse{Events: store.MaxNewEvents, Attempts: 20})
	want("another account", b.newAccount(t, "other"), gateway.EventID{}, store.Pulse{})
	endpoint = new(b.newEndpoint(t).ID)
	want("another endpoint", b.account, ids[2], store.Pulse{Events: store.MaxNewEvents})
	*endpoint = lane.EndpointID
	want("this endpoint", b.account, ids[2], store.Pulse{Events: store.MaxNewEvents, Attempts: 20})
	endpoint, since = nil, since.Add(time.Hour)
	want("later", b.account, ids[2], store.Pulse{Events: store.MaxNewEvents})
}

func TestFirsts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	want := func(want store.Firsts) {
		t.Helper()
		if got, err := b.Firsts(t.Context(), b.account); got != want || err != nil {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	want(store.Firsts{})
	e := b.newEndpoint(t)
	id := b.queued(t, e.ID, 1)[0] // through the built-in source
	want(store.Firsts{Endpoint: true, Event: true})
	source := b.newSource(t).ID
	want(store.Firsts{Source: true, Endpoint: true, Event: true})
	b.exec(t, 1, `UPDATE deliveries SET status = 'delivered' WHERE id = $1`, id)
	want(store.Firsts{Source: true, Endpoint: true, Event: true, Delivered: true})
	b.fail(t, e.ID, gateway.Cause{StatusCode: 500}, 101) // none of the newest
	want(store.Firsts{Source: true, Endpoint: true, Event: true})
	lane := b.acquire(t, e.ID, "n")
	b.in(t, func(tx store.Tx) error { return tx.AddTally(t.Context(), lane, "n", store.Stats{Succeeded: 1}) })
	want(store.Firsts{Source: true, Endpoint: true, Event: true, Delivered: true})
	b.in(t, func(tx store.Tx) error { return tx.DeleteSource(t.Context(), b.account, source) })
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, e.ID) })
	want(store.Firsts{Event: true, Delivered: true})
	b.account = b.newAccount(t, "other")
	want(store.Firsts{})
}
