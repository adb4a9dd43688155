package deliver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Suite{M: m}) }

const (
	actor     = gateway.Actor("key_test")
	userAgent = "Rowlock/test"
	// patience is how long a test waits for what must happen.
	patience = 20 * time.Second
	// soon is a wait of a retry schedule that no test notices.
	soon = 5 * time.Millisecond
	// workers is how many sends a node may have under way.
	workers = 16
	// poolSize is how many connections a node of these tests has.
	poolSize = 6
)

// bundle is a node that sends, on a database of its own, with one account.
type bundle struct {
	*deliver.Service
	store   *store.Store
	pool    *pgxpool.Pool
	clock   *clock.Clock
	sealer  *secret.Sealer
	out     *egress.Client
	account gateway.AccountID
	// cancel begins to stop the node, stop also waits for its end.
	cancel, stop func()
}

// newBundle starts a node; change may alter what it is made of.
func newBundle(t *testing.T, change ...func(*deliver.Options)) *bundle {
	t.Helper()
	return newBundleAt(t, pgtest.URL(t), poolSize, change...)
}

func newBundleAt(t *testing.T, database string, connections int32, change ...func(*deliver.Options)) *bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), database, connections)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := &bundle{pool: pool, clock: clock.New(), sealer: pgtest.Sealer(t)}
	if b.store, err = store.New(pool, b.sealer, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	b.out = egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(b.out.CloseIdle)
	b.account = b.newAccount(t, "acme")
	b.Service, b.cancel, b.stop = b.node(t, "n1", change...)
	return b
}

// node starts one more node on the bundle's database.
func (b *bundle) node(t *testing.T, name string, change ...func(*deliver.Options)) (node *deliver.Service, cancel, stop func()) {
	t.Helper()
	o := deliver.Options{
		Store: b.store, Clock: b.clock, Log: slog.New(slog.DiscardHandler), Egress: b.out, Node: name, Workers: workers,
		Schedule: []time.Duration{soon, soon, soon}, Timeout: patience, DisableAfter: 100, UserAgent: userAgent,
	}
	for _, c := range change {
		c(&o)
	}
	node = deliver.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		node.Run(ctx)
	}()
	pgtest.Until(t, "the node runs", node.Running)
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(func() {
		stop()
		if free := node.FreeSlots(); free != o.Workers {
			t.Errorf("%d of %d slots are free after the end", free, o.Workers)
		}
	})
	return node, cancel, stop
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

// untilCount waits until a query returns a number.
func (b *bundle) untilCount(t *testing.T, want int, sql string, args ...any) {
	t.Helper()
	pgtest.Until(t, sql, func() bool { return b.count(t, sql, args...) == want })
}

// errNotWaiting tells that nothing came to wait for a lock.
var errNotWaiting = errors.New("no statement waits for a lock")

// untilWaiting waits until a statement waits for a row's lock. It is asked
// within transactions, which a test may not leave but by returning.
func (b *bundle) untilWaiting(t *testing.T) error {
	t.Helper()
	const waiting = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var n int
		if err := b.pool.QueryRow(t.Context(), waiting).Scan(&n); err != nil || n == 1 {
			return err
		}
		select {
		case <-deadline:
			return errNotWaiting
		case <-tick.C:
		}
	}
}

// newAccount makes an account with its built-in source.
func (b *bundle) newAccount(t *testing.T, slug string) gateway.AccountID {
	t.Helper()
	id, source := gateway.AccountID(b.clock.NewID()), gateway.SourceID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		if err := tx.CreateAccount(t.Context(), gateway.Account{ID: id, Name: slug, Slug: slug}); err != nil {
			return err
		}
		_, err := tx.CreateSource(t.Context(), id, gateway.Source{ID: source, Kind: gateway.SourceKindAPI, Token: source.String()})
		return err
	})
	return id
}

// endpoint makes an endpoint with one signing secret.
func (b *bundle) endpoint(t *testing.T, url string, change ...func(*gateway.Endpoint)) gateway.Endpoint {
	t.Helper()
	e := gateway.Endpoint{ID: gateway.EndpointID(b.clock.NewID()), AccountID: b.account, URL: url, MaxInFlight: gateway.DefaultMaxInFlight}
	for _, c := range change {
		c(&e)
	}
	b.in(t, func(tx store.Tx) (err error) {
		e, err = tx.CreateEndpoint(t.Context(), e.AccountID, e, 0)
		return err
	})
	b.addSecret(t, e)
	return e
}

// addSecret adds a new signing secret, of the kind that the endpoint chose, and
// returns its text.
func (b *bundle) addSecret(t *testing.T, e gateway.Endpoint) string {
	t.Helper()
	key := signature.NewSigningKey(e.Signature)
	added := gateway.Secret{ID: gateway.SecretID(b.clock.NewID()), Value: key.Secret(), Public: key.Public()}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.AddEndpointSecret(t.Context(), e.AccountID, e.ID, added)
		return err
	})
	return added.Value
}

// eventType and eventBody are what events say unless a test says otherwise.
// The bytes are such that nothing but copying them keeps them.
const (
	eventType = "order.created"
	eventBody = "{ \"n\": 12345678901234567890,\n\"n\":\"\\u0000\xff\" }"
)

// newEvent stores a decided event.
func (b *bundle) newEvent(t *testing.T, account gateway.AccountID, eventType string) gateway.EventID {
	t.Helper()
	id := gateway.EventID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		source, err := tx.APISource(t.Context(), account)
		if err != nil {
			return err
		}
		return tx.InsertEvents(t.Context(), []store.NewEvent{{
			Event: gateway.Event{ID: id, AccountID: account, SourceID: source, Type: eventType, Status: gateway.EventProcessed},
			Body:  gateway.Body{Method: "POST", Headers: []byte("Content-Type: application/x-odd\r\nX-Their: secret\r\n"), Data: []byte(eventBody)},
		}})
	})
	return id
}

// queue makes n events, each with a delivery to the endpoint, and wakes nobody.
func (b *bundle) queue(t *testing.T, e gateway.Endpoint, n int) []gateway.DeliveryID {
	t.Helper()
	var deliveries []store.NewDelivery
	var ids []gateway.DeliveryID
	for range n {
		event := b.newEvent(t, e.AccountID, eventType)
		deliveries = append(deliveries, store.NewDelivery{AccountID: e.AccountID, EventID: event, EndpointID: e.ID})
		ids = append(ids, gateway.DeriveDeliveryID(event, e.ID))
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.InsertDeliveries(t.Context(), deliveries)
		return err
	})
	return ids
}

// publish is queue, and tells the node.
func (b *bundle) publish(t *testing.T, e gateway.Endpoint, n int) []gateway.DeliveryID {
	t.Helper()
	ids := b.queue(t, e, n)
	b.wake(e)
	return ids
}

func (b *bundle) wake(e gateway.Endpoint) { b.Wake([]store.LaneRef{laneOf(e)}) }

func laneOf(e gateway.Endpoint) store.LaneRef {
	return store.LaneRef{AccountID: e.AccountID, EndpointID: e.ID}
}

func (b *bundle) delivery(t *testing.T, id gateway.DeliveryID) gateway.Delivery {
	t.Helper()
	d, err := b.store.Delivery(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// untilStatus waits until a delivery is shown with a status.
func (b *bundle) untilStatus(t *testing.T, id gateway.DeliveryID, want gateway.DeliveryStatus) gateway.Delivery {
	t.Helper()
	var d gateway.Delivery
	pgtest.Until(t, "the delivery is "+string(want), func() bool {
		d = b.delivery(t, id)
		return d.Status == want
	})
	return d
}

func (b *bundle) attempts(t *testing.T, id gateway.DeliveryID) []gateway.Attempt {
	t.Helper()
	attempts, err := b.store.DeliveryAttempts(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return attempts
}

// untilAttempts waits until a delivery has so many attempts, or more: on a busy
// machine the next may have been made before anybody looks.
func (b *bundle) untilAttempts(t *testing.T, id gateway.DeliveryID, n int) []gateway.Attempt {
	t.Helper()
	b.untilCount(t, n, `SELECT LEAST(count(*), $2)::int FROM attempts WHERE delivery_id = $1`, id, n)
	return b.attempts(t, id)
}

// untilReleased waits until nobody holds the endpoint's lane.
func (b *bundle) untilReleased(t *testing.T, e gateway.Endpoint) {
	t.Helper()
	b.untilCount(t, 1, `SELECT count(*) FROM lanes WHERE endpoint_id = $1 AND leased_until IS NULL`, e.ID)
}

func (b *bundle) readEndpoint(t *testing.T, e gateway.Endpoint) gateway.Endpoint {
	t.Helper()
	now, err := b.store.Endpoint(t.Context(), e.AccountID, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// pause and resume do what their buttons do.
func (b *bundle) pause(t *testing.T, e gateway.Endpoint) {
	t.Helper()
	b.in(t, func(tx store.Tx) error {
		_, err := tx.PauseEndpoint(t.Context(), e.AccountID, e.ID)
		return err
	})
}

func (b *bundle) resume(t *testing.T, e gateway.Endpoint) {
	t.Helper()
	b.in(t, func(tx store.Tx) error {
		_, err := tx.ResumeEndpoint(t.Context(), e.AccountID, e.ID)
		return err
	})
	b.wake(e)
}

// audit lists the audit log as "action detail", oldest first.
func (b *bundle) audit(t *testing.T) []string {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `SELECT concat_ws(' ', action, nullif(detail, '')) FROM audit_log ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// request is what a receiver got.
type request struct {
	header http.Header
	body   []byte
}

// receiver is an endpoint's far side.
type receiver struct {
	*httptest.Server

	mu  sync.Mutex
	got []request
	// now and most are how many requests were under way at once.
	now, most int
}

// answer says what a receiver does with its nth request, counted from one.
type answer func(w http.ResponseWriter, r *http.Request, n int)

// status answers with the codes in turn, and then with the last one.
func status(codes ...int) answer {
	return func(w http.ResponseWriter, _ *http.Request, n int) { w.WriteHeader(codes[min(n, len(codes))-1]) }
}

// held answers 200 when the gate is opened, or the test is over.
func held(t *testing.T, gate <-chan struct{}) answer {
	return func(_ http.ResponseWriter, _ *http.Request, _ int) {
		select {
		case <-gate:
		case <-t.Context().Done():
		}
	}
}

func newReceiver(t *testing.T, do answer) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("read a request: %v", err)
		}
		n := r.begin(request{header: req.Header.Clone(), body: body})
		defer r.end()
		do(w, req, n)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) begin(got request) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, got)
	r.now++
	r.most = max(r.most, r.now)
	return len(r.got)
}

func (r *receiver) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now--
}

func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// overlap is how many requests were under way at once, at the most.
func (r *receiver) overlap() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.most
}

// until waits until the receiver has got so many requests.
func (r *receiver) until(t *testing.T, n int) []request {
	t.Helper()
	pgtest.Until(t, "requests arrive", func() bool { return len(r.requests()) >= n })
	return r.requests()
}

// logBuffer collects a log.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends to the log.
func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
