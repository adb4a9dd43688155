package store_test

import (
	"crypto/sha256"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// wide is the bundle's database through a pool of n connections, for races
// that need as many transactions at once.
func (b bundle) wide(t *testing.T, n int32) bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), b.pool.Config().ConnString(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b.pool = pool
	if b.Store, err = store.New(pool, pgtest.Sealer(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return b
}

// newEvent is an accepted event of a source, not stored yet.
func (b bundle) newEvent(source gateway.SourceID, data string) store.NewEvent {
	return store.NewEvent{
		Event: gateway.Event{
			ID: gateway.EventID(b.clock.NewID()), AccountID: b.account, SourceID: source,
			Type: queuedType, Status: gateway.EventAccepted, BodySize: len(data),
		},
		Body: gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: []byte(data)},
	}
}

// insert stores events.
func (b bundle) insert(t *testing.T, events ...store.NewEvent) {
	t.Helper()
	b.in(t, func(tx store.Tx) error { return tx.InsertEvents(t.Context(), events) })
}

// accepted stores n accepted events of a source and returns their ids, oldest
// first.
func (b bundle) accepted(t *testing.T, source gateway.SourceID, n int) []gateway.EventID {
	t.Helper()
	events := make([]store.NewEvent, n)
	ids := make([]gateway.EventID, n)
	for i := range n {
		events[i] = b.newEvent(source, queuedBody)
		ids[i] = events[i].Event.ID
	}
	b.insert(t, events...)
	return ids
}

// decided stores an accepted event of a source and gives it a status.
func (b bundle) decided(t *testing.T, source gateway.SourceID, status gateway.EventStatus) gateway.EventID {
	t.Helper()
	event := b.newEvent(source, queuedBody)
	event.Event.Status = status
	b.insert(t, event)
	return event.Event.ID
}

// event reads an event that must be there.
func (b bundle) event(t *testing.T, id gateway.EventID) gateway.Event {
	t.Helper()
	e, err := b.Event(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// key asks for a key in the name of a new event that says body.
func (b bundle) key(source gateway.SourceID, key, body string) store.EventKey {
	return store.EventKey{
		AccountID: b.account, SourceID: source, EventID: gateway.EventID(b.clock.NewID()),
		KeyHash: sha256.Sum256([]byte(key)), BodyHash: sha256.Sum256([]byte(body)),
	}
}

// claim claims keys, sorted, in a transaction of its own.
func (b bundle) claim(t *testing.T, keys ...store.EventKey) (firsts []*store.FirstEvent) {
	t.Helper()
	slices.SortFunc(keys, store.CompareKeys)
	b.in(t, func(tx store.Tx) (err error) {
		firsts, err = tx.ClaimKeys(t.Context(), keys)
		return err
	})
	return firsts
}

// waiting returns when n transactions of the database wait for a lock.
func (b bundle) waiting(t *testing.T, n int) {
	t.Helper()
	for b.count(t, `
		SELECT count(*)
		FROM pg_stat_activity
		WHERE datname = current_database()
		  AND wait_event_type = 'Lock'`) < n {
	}
}

// seeded is random and the same at every run.
func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
