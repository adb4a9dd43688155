package accept_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Suite{M: m}) }

// proof is the secret of the bundle's sources that have one.
const proof = "It's a Secret to Everybody"

// bundle is a service on a database of its own, with one account.
type bundle struct {
	*accept.Service
	store   *store.Store
	pool    *pgxpool.Pool
	clock   *clock.Clock
	account gateway.AccountID
	api     gateway.SourceID
	// committed are the events that the service told of.
	committed *list
}

// list is filled by the service's goroutines.
type list struct {
	mu  sync.Mutex
	ids []gateway.EventID
	// full has no place for anything: there are jobs.
	full bool
}

// reserve has a place for what is committed, unless the list is full.
func (l *list) reserve() func([]gateway.EventID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full {
		return nil
	}
	return l.add
}

// fill leaves no place.
func (l *list) fill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.full = true
}

func (l *list) add(ids []gateway.EventID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids = append(l.ids, ids...)
}

func (l *list) all() []gateway.EventID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]gateway.EventID(nil), l.ids...)
}

// newBundle makes a service that runs until the test ends.
func newBundle(t *testing.T, limits accept.Limits) bundle {
	t.Helper()
	b := newStopped(t, limits)
	b.start(t)
	return b
}

// newStopped makes a service that does not run: what comes in is queued.
func newStopped(t *testing.T, limits accept.Limits) bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), 8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := bundle{pool: pool, clock: clock.New(), committed: new(list)}
	log := slog.New(slog.DiscardHandler)
	if b.store, err = store.New(pool, pgtest.Sealer(t), log); err != nil {
		t.Fatal(err)
	}
	b = b.anew(limits)
	b.account, b.api = b.newAccount(t, "acme")
	return b
}

// anew is the bundle with a service that remembers nothing and does not run.
func (b bundle) anew(limits accept.Limits) bundle {
	b.Service = accept.New(accept.Options{
		Store: b.store, Clock: b.clock, Log: slog.New(slog.DiscardHandler), Limits: limits, Reserve: b.committed.reserve, BaseURL: baseURL,
	})
	return b
}

// baseURL is the public address of the bundle's services.
const baseURL = "https://rowlock.example"

// start runs the service; what it returns stops it and waits for its end.
func (b bundle) start(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

func (b bundle) in(t *testing.T, do func(store.Tx) error) {
	t.Helper()
	if err := b.store.InTx(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

// newAccount makes an account with its built-in source.
func (b bundle) newAccount(t *testing.T, slug string) (gateway.AccountID, gateway.SourceID) {
	t.Helper()
	id := gateway.AccountID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		return tx.CreateAccount(t.Context(), gateway.Account{ID: id, Name: slug, Slug: slug})
	})
	b.account = id
	return id, b.newSource(t, gateway.SourceKindAPI, "").ID
}

// newSource makes a source of the bundle's account; an empty secret is none.
func (b bundle) newSource(t *testing.T, kind, value string) gateway.Source {
	t.Helper()
	source := b.makeSource(t, gateway.Source{Kind: kind})
	if value != "" {
		b.addSecret(t, source, value)
	}
	return source
}

// makeSource makes a source as it is given, with an id and a token.
func (b bundle) makeSource(t *testing.T, source gateway.Source) gateway.Source {
	t.Helper()
	source.ID, source.Name, source.Token = gateway.SourceID(b.clock.NewID()), source.Kind, secret.NewToken("")
	b.in(t, func(tx store.Tx) (err error) {
		source, err = tx.CreateSource(t.Context(), b.account, source)
		return err
	})
	return source
}

func (b bundle) addSecret(t *testing.T, source gateway.Source, value string) gateway.SecretID {
	t.Helper()
	added := gateway.Secret{ID: gateway.SecretID(b.clock.NewID()), Value: value}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.AddSourceSecret(t.Context(), source.AccountID, source.ID, added)
		return err
	})
	return added.ID
}

func (b bundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (b bundle) count(t *testing.T, sql string, args ...any) int {
	t.Helper()
	return pgtest.Count(t, b.pool, sql, args...)
}

// wantRows fails unless the tables hold as many rows as wanted.
func (b bundle) wantRows(t *testing.T, want rows) {
	t.Helper()
	got := rows{
		events:   b.count(t, `SELECT count(*) FROM events`),
		bodies:   b.count(t, `SELECT count(*) FROM event_bodies`),
		keys:     b.count(t, `SELECT count(*) FROM event_keys`),
		decided:  b.count(t, `SELECT count(*) FROM river_job, jsonb_array_elements(args->'event_ids')`) + len(b.committed.all()),
		requests: b.count(t, `SELECT count(*) FROM requests`),
		raw:      b.count(t, `SELECT count(*) FROM event_bodies b WHERE NOT EXISTS (SELECT FROM events e WHERE e.id = b.id)`),
	}
	if want.bodies, want.decided = want.events+want.raw, want.events; got != want {
		t.Errorf("stored are %+v, want %+v", got, want)
	}
}

// rows counts what was stored. Each event has its body, and is decided by this node
// or in a job; raw are requests that are kept whole.
type rows struct{ events, bodies, decided, keys, requests, raw int }

// event reads an event and its body, which must be there.
func (b bundle) event(t *testing.T, id gateway.EventID) (gateway.Event, gateway.Body) {
	t.Helper()
	event, err := b.store.Event(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	body, err := b.store.Body(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return event, body
}

// requests lists what is kept of a source's requests, newest first.
func (b bundle) requests(t *testing.T, source gateway.SourceID) []gateway.Request {
	t.Helper()
	found, err := b.store.Requests(t.Context(), b.account, source, "", store.Page[gateway.RequestID]{Limit: 250})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// publish publishes with a key of the account that carries no limit.
func (b bundle) publish(ctx context.Context, in accept.PublishInput) (accept.Published, error) {
	return b.Publish(ctx, b.account, gateway.APIKey{ID: gateway.KeyID{1}, AccountID: b.account}, in)
}

func keyed(key, data string) accept.PublishInput {
	return accept.PublishInput{Type: "order.created", Key: []byte(key), Data: []byte(data)}
}

// signed is GitHub's request with this delivery id and body.
func signed(source gateway.Source, value, id, body string) accept.Incoming {
	mac := hmac.New(sha256.New, []byte(value))
	mac.Write([]byte(body))
	return accept.Incoming{
		Token: source.Token, Method: http.MethodPost, Body: []byte(body),
		Header: http.Header{
			"X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))},
			"X-Github-Event":      {"push"},
			"X-Github-Delivery":   {id},
		},
	}
}

// queued returns when n requests wait in the queue.
func (b bundle) queued(n int) {
	for b.Queued() != n {
	}
}

// waiting returns when n sessions of the database wait for a lock.
func (b bundle) waiting(t *testing.T, n int) {
	t.Helper()
	for b.count(t, `
		SELECT count(*)
		FROM pg_stat_activity
		WHERE datname = current_database()
		  AND wait_event_type = 'Lock'`) < n {
	}
}

// block makes every accepting transaction wait until what it returns is
// called.
func (b bundle) block(t *testing.T) (unblock func()) {
	t.Helper()
	tx, err := b.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `LOCK TABLE events IN EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// hold makes a transaction that accepts the key wait until what it returns is
// called, or the test ends.
func (b bundle) hold(t *testing.T, key string) (release func()) {
	t.Helper()
	tx, err := b.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(t.Context(), `
		INSERT INTO event_keys (account_id, source_id, key_hash, event_id, body_hash)
		VALUES ($1, $2, sha256($3), $1, $3)`, b.account, b.api, []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() {
		if err := tx.Rollback(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(release)
	return release
}

// newAdmin returns how to run statements as the server's superuser, on its
// database "postgres".
func newAdmin(t *testing.T) func(sql string) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), pgtest.Server(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return func(sql string) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// Receive takes in a request that brings one event, and returns what became
// of it.
func (b bundle) Receive(ctx context.Context, in accept.Incoming) (accept.Received, error) {
	got, err := b.Service.Receive(ctx, in)
	if err != nil || len(got.Events) == 0 {
		return accept.Received{}, err
	}
	return got.Events[0], nil
}
