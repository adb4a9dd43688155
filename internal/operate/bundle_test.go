package operate_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Suite{M: m}) }

const (
	actor = gateway.Actor("key_test")
	// patience is how long a test waits for what must happen: thousands of
	// sends, on a machine that is busy.
	patience = 2 * time.Minute
	poolSize = 8
	// tried is how many attempts a delivery has had that the tests begin with.
	tried = 8
)

// bundle is a node that operates and delivers, on a database of its own, with
// one account.
type bundle struct {
	*operate.Service
	store   *store.Store
	pool    *pgxpool.Pool
	clock   *clock.Clock
	sealer  *secret.Sealer
	decide  *decide.Service
	deliver *deliver.Service
	account gateway.AccountID
	source  gateway.SourceID
}

func newBundle(t *testing.T) *bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), poolSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	log := slog.New(slog.DiscardHandler)
	b := &bundle{pool: pool, clock: clock.New(), sealer: pgtest.Sealer(t)}
	if b.store, err = store.New(pool, b.sealer, log); err != nil {
		t.Fatal(err)
	}
	out := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(out.CloseIdle)
	b.deliver = deliver.New(deliver.Options{
		Store: b.store, Clock: b.clock, Log: log, Egress: out, Node: "n1", Workers: 64,
		Schedule: []time.Duration{time.Hour}, Timeout: patience, DisableAfter: 1000, UserAgent: "Rowlock/test",
	})
	b.decide = decide.New(decide.Options{Store: b.store, Clock: b.clock, Log: log, Node: "n1", Wake: b.deliver.Wake})
	b.Service = operate.New(operate.Options{Store: b.store, Clock: b.clock, Wake: b.deliver.Wake, CountTime: patience})
	b.account = gateway.AccountID(b.clock.NewID())
	b.source = gateway.SourceID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		if err := tx.CreateAccount(t.Context(), gateway.Account{ID: b.account, Name: "acme", Slug: "acme"}); err != nil {
			return err
		}
		_, err := tx.CreateSource(t.Context(), b.account, gateway.Source{ID: b.source, Kind: gateway.SourceKindAPI, Token: b.source.String()})
		return err
	})
	return b
}

// delivering has the node deliver until the test is over.
func (b *bundle) delivering(t *testing.T) {
	t.Helper()
	pgtest.Background(t, b.deliver.Run)
	pgtest.Background(t, func(ctx context.Context) {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_, _ = b.deliver.RingAlarms(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
}

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

// until waits until something holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("not within %s: %s", patience, what)
		case <-tick.C:
		}
	}
}

// untilCount waits until a query returns a number.
func (b *bundle) untilCount(t *testing.T, want int, sql string, args ...any) {
	t.Helper()
	until(t, sql, func() bool { return b.count(t, sql, args...) == want })
}

// endpoint makes an endpoint with a signing secret.
func (b *bundle) endpoint(t *testing.T, url string, types ...string) gateway.EndpointID {
	t.Helper()
	e := gateway.Endpoint{ID: gateway.EndpointID(b.clock.NewID()), URL: url, MaxInFlight: gateway.DefaultMaxInFlight, EventTypes: types}
	b.in(t, func(tx store.Tx) error {
		if _, err := tx.CreateEndpoint(t.Context(), b.account, e, 0); err != nil {
			return err
		}
		_, err := tx.AddEndpointSecret(t.Context(), b.account, e.ID, gateway.Secret{ID: gateway.SecretID(b.clock.NewID()), Value: signature.NewSecret()})
		return err
	})
	return e.ID
}

const eventType = "order.created"

// events stores n events of a type and status.
func (b *bundle) events(t *testing.T, n int, eventType string, status gateway.EventStatus) []gateway.EventID {
	t.Helper()
	events := make([]store.NewEvent, n)
	ids := make([]gateway.EventID, n)
	for i := range n {
		ids[i] = gateway.EventID(b.clock.NewID())
		events[i] = store.NewEvent{
			Event: gateway.Event{ID: ids[i], AccountID: b.account, SourceID: b.source, Type: eventType, Status: status},
			Body:  gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: []byte(`{}`)},
		}
	}
	b.in(t, func(tx store.Tx) error { return tx.InsertEvents(t.Context(), events) })
	return ids
}

// queued makes n events, each with a delivery to the endpoint that is due.
func (b *bundle) queued(t *testing.T, endpoint gateway.EndpointID, n int) []gateway.DeliveryID {
	t.Helper()
	events := b.events(t, n, eventType, gateway.EventProcessed)
	deliveries := make([]store.NewDelivery, n)
	ids := make([]gateway.DeliveryID, n)
	for i, e := range events {
		deliveries[i] = store.NewDelivery{AccountID: b.account, EventID: e, EndpointID: endpoint}
		ids[i] = gateway.DeriveDeliveryID(e, endpoint)
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.InsertDeliveries(t.Context(), deliveries)
		return err
	})
	return ids
}

// failed makes n deliveries that have used their attempts up.
func (b *bundle) failed(t *testing.T, endpoint gateway.EndpointID, n int) []gateway.DeliveryID {
	t.Helper()
	ids := b.queued(t, endpoint, n)
	b.exec(t, `
		UPDATE deliveries
		SET status = 'failed', attempts = $2, step = $2, priority = 1, closed_at = now(), next_attempt_at = NULL,
		    last_outcome = 'rejected', last_status_code = 503
		WHERE id = ANY ($1)`, ids, tried)
	return ids
}

// hourAgo is a time before everything that a test makes.
func (b *bundle) hourAgo() time.Time { return b.clock.Now().Add(-time.Hour) }

// recovery asks for an endpoint's failed deliveries of the last hour.
func (b *bundle) recovery(endpoint gateway.EndpointID) operate.Request {
	return operate.Request{
		Kind: gateway.OperationRecoverFailed, Filter: gateway.OperationFilter{Endpoint: &endpoint, Since: b.hourAgo()},
	}
}

func (b *bundle) start(t *testing.T, r operate.Request) gateway.OperationID {
	t.Helper()
	o, err := b.Start(t.Context(), b.account, actor, r)
	if err != nil {
		t.Fatal(err)
	}
	return o.ID
}

// work is what the queue's workers and the sweep do, until the operation ends.
func (b *bundle) work(t *testing.T, id gateway.OperationID) gateway.Operation {
	t.Helper()
	var o gateway.Operation
	until(t, "the operation ends", func() bool {
		if err := b.Run(t.Context(), b.account, id); err != nil {
			t.Errorf("run: %v", err)
		}
		o = b.operation(t, id)
		return o.SettledAt != nil
	})
	return o
}

func (b *bundle) operation(t *testing.T, id gateway.OperationID) gateway.Operation {
	t.Helper()
	o, err := b.store.Operation(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// wantNumbers fails unless an operation is in a state with these numbers.
func wantNumbers(t *testing.T, o gateway.Operation, state gateway.OperationState, total, done, failed int) {
	t.Helper()
	if o.State != state || o.Total != total || o.Done != done || o.Failed != failed {
		t.Errorf("%s, %d done and %d failed of %d; want %s, %d and %d of %d", o.State, o.Done, o.Failed, o.Total, state, done, failed, total)
	}
}

// receiver counts what it gets by webhook-id.
type receiver struct {
	*httptest.Server

	mu  sync.Mutex
	got map[string]int
	// order is in which order ids came first.
	order []string
}

// newReceiver answers as told; nil answers 200.
func newReceiver(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{got: map[string]int{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.count(req.Header.Get("Webhook-Id"))
		if answer != nil {
			answer(w, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) count(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got[id]++
	r.order = append(r.order, id)
}

// numbers are how many different ids came, and how many requests.
func (r *receiver) numbers() (ids, requests int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got), len(r.order)
}
