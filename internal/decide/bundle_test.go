package decide_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Suite{M: m}) }

const (
	actor = gateway.Actor("key_test")
	node  = "n1"
	// body is what events say.
	body = `{"order":1}`
	// patience is how long a test waits for what must happen.
	patience = 20 * time.Second
	poolSize = 8
)

// bundle is a service on a database of its own, with one account and its
// built-in source.
type bundle struct {
	*decide.Service
	store   *store.Store
	pool    *pgxpool.Pool
	clock   *clock.Clock
	account gateway.AccountID
	source  gateway.SourceID

	mu    sync.Mutex
	woken []store.LaneRef
}

func newBundle(t *testing.T) *bundle {
	t.Helper()
	return newBundleOf(t, poolSize)
}

func newBundleOf(t *testing.T, connections int32) *bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), connections)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := &bundle{pool: pool, clock: clock.New()}
	log := slog.New(slog.DiscardHandler)
	if b.store, err = store.New(pool, pgtest.Sealer(t), log); err != nil {
		t.Fatal(err)
	}
	b.account, b.source = b.newAccount(t, "acme")
	b.Service = decide.New(decide.Options{Store: b.store, Clock: b.clock, Log: log, Node: node, Wake: b.wake})
	return b
}

func (b *bundle) wake(lanes []store.LaneRef) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.woken = append(b.woken, lanes...)
}

// in runs a transaction that must succeed.
func (b *bundle) in(t *testing.T, do func(store.Tx) error) {
	t.Helper()
	if err := b.store.InTx(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

func (b *bundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// count runs a query that returns one number.
func (b *bundle) count(t *testing.T, sql string, args ...any) int {
	t.Helper()
	return pgtest.Count(t, b.pool, sql, args...)
}

// wantCount fails unless a query returns a number.
func (b *bundle) wantCount(t *testing.T, want int, sql string, args ...any) {
	t.Helper()
	if got := b.count(t, sql, args...); got != want {
		t.Errorf("%s: %d, want %d", sql, got, want)
	}
}

// errNotWaiting tells that nothing came to wait for a lock.
var errNotWaiting = errors.New("no statement waits for a lock")

// untilWaiting waits until so many statements wait for a lock. It is asked
// within transactions, which a test may not leave but by returning.
func (b *bundle) untilWaiting(t *testing.T, want int) error {
	t.Helper()
	const waiting = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var n int
		if err := b.pool.QueryRow(t.Context(), waiting).Scan(&n); err != nil || n == want {
			return err
		}
		select {
		case <-deadline:
			return errNotWaiting
		case <-tick.C:
		}
	}
}

func (b *bundle) newAccount(t *testing.T, slug string) (gateway.AccountID, gateway.SourceID) {
	t.Helper()
	id, source := gateway.AccountID(b.clock.NewID()), gateway.SourceID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		if err := tx.CreateAccount(t.Context(), gateway.Account{ID: id, Name: slug, Slug: slug}); err != nil {
			return err
		}
		_, err := tx.CreateSource(t.Context(), id, gateway.Source{ID: source, Kind: gateway.SourceKindAPI, Token: source.String()})
		return err
	})
	return id, source
}

// endpoint makes an endpoint that asks for these types.
func (b *bundle) endpoint(t *testing.T, types ...string) gateway.EndpointID {
	t.Helper()
	e := gateway.Endpoint{
		ID: gateway.EndpointID(b.clock.NewID()), URL: "https://example.com/hook",
		MaxInFlight: gateway.DefaultMaxInFlight, EventTypes: types,
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateEndpoint(t.Context(), b.account, e, 0)
		return err
	})
	return e.ID
}

// accept stores n events that are to be decided, without a job.
func (b *bundle) accept(t *testing.T, n int, eventType string) []gateway.EventID {
	t.Helper()
	events := make([]store.NewEvent, n)
	ids := make([]gateway.EventID, n)
	for i := range events {
		ids[i] = gateway.EventID(b.clock.NewID())
		events[i] = store.NewEvent{
			Event: gateway.Event{ID: ids[i], AccountID: b.account, SourceID: b.source, Type: eventType, Status: gateway.EventAccepted},
			Body:  gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: []byte(body)},
		}
	}
	b.in(t, func(tx store.Tx) error { return tx.InsertEvents(t.Context(), events) })
	return ids
}

// process decides events; it must succeed.
func (b *bundle) process(t *testing.T, ids ...gateway.EventID) {
	t.Helper()
	if err := b.Process(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
}

func (b *bundle) event(t *testing.T, id gateway.EventID) gateway.Event {
	t.Helper()
	e, err := b.store.Event(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// wantStatus fails unless every event has this status.
func (b *bundle) wantStatus(t *testing.T, want gateway.EventStatus, ids ...gateway.EventID) {
	t.Helper()
	for _, id := range ids {
		if e := b.event(t, id); e.Status != want {
			t.Errorf("event is %s (%s), want %s", e.Status, e.Decision, want)
		}
	}
}

// wantUsage fails unless so many events, and their bytes, were counted.
func (b *bundle) wantUsage(t *testing.T, events int) {
	t.Helper()
	b.wantCount(t, events, `SELECT coalesce(sum(events), 0)::int FROM usage WHERE account_id = $1`, b.account)
	b.wantCount(t, events, `SELECT coalesce(sum(events), 0)::int FROM type_counts WHERE account_id = $1`, b.account)
	b.wantCount(t, events*len(body), `SELECT coalesce(sum(bytes), 0)::int FROM usage WHERE account_id = $1`, b.account)
}

// alarms is the query for how many lanes are to be drained.
const alarms = `SELECT count(*) FROM lanes WHERE wake_at IS NOT NULL`

// processJobs reads which events the process jobs name, job by job, each
// sorted.
func (b *bundle) processJobs(t *testing.T) (jobs [][]gateway.EventID) {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `SELECT args FROM river_job WHERE kind = 'process' ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range all {
		var j job.Process
		if err := json.Unmarshal(raw, &j); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(j.EventIDs, gateway.EventID.Compare)
		jobs = append(jobs, j.EventIDs)
	}
	return jobs
}
