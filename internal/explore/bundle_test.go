package explore_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/search"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Suite{M: m}) }

// bundle is a service on a database with a history, and all that the history's
// first account has.
type bundle struct {
	*explore.Service
	store   *store.Store
	pool    *pgxpool.Pool
	clock   *clock.Clock
	account fill.Account
	other   fill.Account
	all     []arrived
}

// arrived is an event with what belongs to it, newest first.
type arrived struct {
	gateway.Event

	headers, body []byte
	progress      gateway.Progress
	endpoints     map[gateway.EndpointID]gateway.Progress
}

// history is what the database is filled with.
var history = fill.Options{Events: 3000, Days: 2, Accounts: 2, Sources: 3, Endpoints: 3, BodySize: 120}

func newBundle(t *testing.T, lookTime time.Duration) *bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := &bundle{pool: pool, clock: clock.New()}
	if b.store, err = store.New(pool, pgtest.Sealer(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	b.Service = explore.New(explore.Options{Store: b.store, Clock: b.clock, LookTime: lookTime, Retention: 30 * 24 * time.Hour})
	o := history
	o.Until = b.clock.Now().Add(-10 * time.Minute)
	accounts, err := fill.Fill(t.Context(), pool, o)
	if err != nil {
		t.Fatal(err)
	}
	b.account, b.other = accounts[0], accounts[1]
	b.readAll(t)
	return b
}

// readAll reads everything about the account's events, in the plainest way.
func (b *bundle) readAll(t *testing.T) {
	t.Helper()
	events, err := b.store.Events(t.Context(), b.account.ID, store.EventFilter{}, store.Page[gateway.EventID]{Limit: history.Events})
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]gateway.EventID, len(events))
	at := map[gateway.EventID]*arrived{}
	b.all = make([]arrived, len(events))
	for i, e := range events {
		ids[i], b.all[i] = e.ID, arrived{Event: e, endpoints: map[gateway.EndpointID]gateway.Progress{}}
		at[e.ID] = &b.all[i]
	}
	progress, err := b.store.Progress(t.Context(), b.account.ID, ids)
	if err != nil {
		t.Fatal(err)
	}
	for id, p := range progress {
		at[id].progress = p.Overall()
	}
	err = b.store.EachArrived(t.Context(), b.account.ID, ids, func(id gateway.EventID, headers, body []byte) {
		at[id].headers, at[id].body = append([]byte{}, headers...), append([]byte{}, body...)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, endpoint := range b.account.Endpoints {
		progress, err := b.store.ProgressAt(t.Context(), b.account.ID, ids, &endpoint)
		if err != nil {
			t.Fatal(err)
		}
		for id, p := range progress {
			at[id].endpoints[endpoint] = p.Overall()
		}
	}
}

// meant are the ids of those of all events that a function wants.
func (b *bundle) meant(wanted func(arrived) bool) (ids []gateway.EventID) {
	for _, a := range b.all {
		if wanted(a) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// found reads a list to its end, and how many parts had no time to look at all.
func (b *bundle) found(ctx context.Context, t *testing.T, q explore.Query, limit int) (ids []gateway.EventID, stopped int) {
	t.Helper()
	var before *gateway.EventID
	for {
		part, err := b.Find(ctx, b.account.ID, q, before, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(part.Events) > limit {
			t.Fatalf("%d events, want %d at most", len(part.Events), limit)
		}
		for _, e := range part.Events {
			ids = append(ids, e.ID)
		}
		if part.Stopped {
			stopped++
		}
		if part.Next == nil {
			return ids, stopped
		}
		if before != nil && part.Next.Compare(*before) >= 0 {
			t.Fatalf("after %s comes %s", before, part.Next)
		}
		before = part.Next
	}
}

func searching(t *testing.T, typed string) search.Query {
	t.Helper()
	q, err := search.Parse(typed)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
