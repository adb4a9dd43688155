package worker_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/notify"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/internal/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Suite{M: m}) }

const (
	node     = "n1"
	poolSize = 8
	// patience is how long a test waits for what must happen.
	patience = 20 * time.Second
)

// bundle is the use cases and the queue's client, on a database of its own
// with one account.
type bundle struct {
	client  *river.Client[pgx.Tx]
	decide  *decide.Service
	store   *store.Store
	pool    *pgxpool.Pool
	clock   *clock.Clock
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
	b := &bundle{pool: pool, clock: clock.New()}
	log := slog.New(slog.DiscardHandler)
	if b.store, err = store.New(pool, pgtest.Sealer(t), log); err != nil {
		t.Fatal(err)
	}
	b.newAccount(t)
	out := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(out.CloseIdle)
	sending := deliver.New(deliver.Options{
		Store: b.store, Clock: b.clock, Log: log, Egress: out, Node: node, Workers: 4,
		Timeout: patience, DisableAfter: 100, UserAgent: "Rowlock/test",
	})
	pgtest.Background(t, sending.Run)
	// Nobody is woken but by jobs.
	b.decide = decide.New(decide.Options{Store: b.store, Clock: b.clock, Log: log, Node: node})
	// Nobody takes mails at this address.
	mails, err := notify.New(notify.Options{Store: b.store, Clock: b.clock, Log: log, URL: "smtp://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	b.client, err = river.NewClient(riverpgxv5.New(pool), worker.Config(worker.Options{
		Log: log, Node: node, Decide: b.decide, Deliver: sending, Notify: mails,
	}))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// start begins to work the queue until the test is over.
func (b *bundle) start(t *testing.T) {
	t.Helper()
	if err := b.client.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := b.client.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}

func (b *bundle) in(t *testing.T, do func(store.Tx) error) {
	t.Helper()
	if err := b.store.InTx(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

func (b *bundle) newAccount(t *testing.T) {
	t.Helper()
	b.account, b.source = gateway.AccountID(b.clock.NewID()), gateway.SourceID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		if err := tx.CreateAccount(t.Context(), gateway.Account{ID: b.account, Name: "Acme", Slug: "acme"}); err != nil {
			return err
		}
		_, err := tx.CreateSource(t.Context(), b.account, gateway.Source{ID: b.source, Kind: gateway.SourceKindAPI, Token: "t"})
		return err
	})
}

// receiver makes an endpoint whose far side counts what it gets.
func (b *bundle) receiver(t *testing.T) *atomic.Int32 {
	t.Helper()
	got := &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	t.Cleanup(server.Close)
	e := gateway.Endpoint{ID: gateway.EndpointID(b.clock.NewID()), URL: server.URL, MaxInFlight: 4}
	b.in(t, func(tx store.Tx) error {
		if _, err := tx.CreateEndpoint(t.Context(), b.account, e, 0); err != nil {
			return err
		}
		_, err := tx.AddEndpointSecret(t.Context(), b.account, e.ID, gateway.Secret{ID: gateway.SecretID(b.clock.NewID()), Value: signature.NewSecret()})
		return err
	})
	return got
}

// untilCount waits until a query returns a number.
func (b *bundle) untilCount(t *testing.T, want int, sql string) {
	t.Helper()
	pgtest.Until(t, sql, func() bool { return pgtest.Count(t, b.pool, sql) == want })
}
