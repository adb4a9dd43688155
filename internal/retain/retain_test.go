package retain_test

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/retain"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

const (
	retention = 7 * 24 * time.Hour
	window    = 3 * 24 * time.Hour
)

type bundle struct {
	*retain.Service

	store   *store.Store
	pool    *pgxpool.Pool
	clock   *clock.Clock
	account gateway.AccountID
}

func newBundle(t *testing.T) bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), 8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := store.New(pool, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b := bundle{store: s, pool: pool, clock: clock.New()}
	b.account = gateway.AccountID(b.clock.NewID())
	b.exec(t, `INSERT INTO accounts (id, name, slug) VALUES ($1, 'acme', 'acme')`, b.account)
	source := gateway.SourceID(b.clock.NewID())
	b.exec(t, `INSERT INTO sources (id, account_id, name, kind, token, settings) VALUES ($1, $2, '', 'api', $3, '')`, source, b.account, source.String())
	b.Service = retain.New(retain.Options{
		Store: s, Clock: b.clock, Log: slog.New(slog.DiscardHandler), Retention: retention, DedupeWindow: window,
	})
	return b
}

func (b bundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func (b bundle) number(t *testing.T, sql string, args ...any) (n int) {
	t.Helper()
	if err := b.pool.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// idAt is a new id that was made at a time.
func idAt[I ~[16]byte](b bundle, at time.Time) I {
	id, first := b.clock.NewID(), gateway.FirstIDAt[gateway.EventID](at)
	copy(id[:6], first[:6])
	return I(id)
}

// delivery stores a delivery of an age and returns its id.
func (b bundle) delivery(t *testing.T, age time.Duration, status string) gateway.DeliveryID {
	t.Helper()
	at := b.clock.Now().Add(-age)
	if _, err := b.store.MakePartitions(t.Context(), at, at); err != nil {
		t.Fatal(err)
	}
	endpoint := gateway.EndpointID(b.clock.NewID())
	b.exec(t, `INSERT INTO endpoints (id, account_id, url, max_in_flight) VALUES ($1, $2, 'https://example.com', 1)`, endpoint, b.account)
	id := idAt[gateway.DeliveryID](b, at)
	b.exec(t, `INSERT INTO deliveries (id, account_id, event_id, endpoint_id, status) VALUES ($1, $2, $1, $3, $4)`,
		id, b.account, endpoint, status)
	return id
}

func TestDaysAreMadeAheadOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.exec(t, `DROP TABLE events_`+b.clock.Now().AddDate(0, 0, 2).Format("20060102"))
	if b.HasDays(t.Context()) == nil {
		t.Error("a day is missing and nobody says so")
	}
	for range 2 {
		if err := b.MakeDays(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.HasDays(t.Context()); err != nil {
		t.Error(err)
	}
	if n := b.number(t, `SELECT count(*) FROM pg_inherits WHERE inhparent = 'events'::regclass`); n != 32 {
		t.Errorf("%d days of events, want 32: yesterday to 30 days ahead", n)
	}
}
