package retain_test

import (
	"context"
	"log/slog"
	"os"
	"slices"
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

// delivery stores a delivery of an age and returns its id.
func (b bundle) delivery(t *testing.T, age time.Duration, status string) gateway.DeliveryID {
	t.Helper()
	at := b.clock.Now().Add(-age)
	if _, err := b.store.MakePartitions(t.Context(), at, at); err != nil {
		t.Fatal(err)
	}
	endpoint := gateway.EndpointID(b.clock.NewID())
	b.exec(t, `INSERT INTO endpoints (id, account_id, url, max_in_flight) VALUES ($1, $2, 'https://example.com', 1)`, endpoint, b.account)
	id := gateway.FirstIDAt[gateway.DeliveryID](at)
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

func TestOldDaysGoAndWhatIsOpenIsTold(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.delivery(t, retention+48*time.Hour, "pending")
	b.delivery(t, retention+72*time.Hour, "delivered")
	young := b.delivery(t, retention-time.Hour, "pending")
	for range 2 { // the second finds nothing to do
		if err := b.DropDays(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.number(t, `SELECT count(*) FROM deliveries`); n != 1 {
		t.Errorf("%d deliveries are left, want the young one", n)
	}
	if n := b.number(t, `SELECT count(*) FROM deliveries WHERE id = $1 AND status = 'pending'`, young); n != 1 {
		t.Error("a delivery within the retention was closed")
	}
	if n := b.number(t, `SELECT count(*) FROM audit_log WHERE action = 'delivery.expire'`); n != 1 {
		t.Errorf("%d entries of the audit log, want one for the day that had something open", n)
	}
	days, err := b.store.DaysBefore(t.Context(), b.clock.Now().Add(-retention))
	if err != nil || len(days) != 0 {
		t.Errorf("days left: %v, %v", days, err)
	}
}

// A process that dies between detaching and dropping leaves a table without a
// parent; one that dies in the middle of detaching leaves it half detached.
func TestDroppingGoesOnAfterAnInterruption(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.delivery(t, retention+48*time.Hour, "delivered")
	old := b.clock.Now().Add(-retention - 48*time.Hour)
	for _, parent := range []string{"attempts", "deliveries", "requests", "event_bodies", "events"} {
		b.exec(t, `ALTER TABLE `+parent+` DETACH PARTITION `+parent+`_`+old.Format("20060102"))
	}
	if err := b.DropDays(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.number(t, `SELECT count(*) FROM pg_class WHERE relname LIKE '%' || $1`, old.Format("20060102")); n != 0 {
		t.Errorf("%d tables of the day are left", n)
	}
}

func TestTwoNodesDropAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.delivery(t, retention+48*time.Hour, "pending")
	done := make(chan error, 2)
	for range 2 {
		go func() { done <- b.DropDays(context.WithoutCancel(t.Context())) }()
	}
	errs := []error{<-done, <-done}
	if !slices.Contains(errs, nil) {
		t.Errorf("neither node got through: %v", errs)
	}
	if err := b.DropDays(t.Context()); err != nil {
		t.Error(err)
	}
	if n := b.number(t, `SELECT count(*) FROM audit_log WHERE action = 'delivery.expire'`); n != 1 {
		t.Errorf("told %d times, want once", n)
	}
}

func TestKeysAreForgottenAfterTheWindow(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for i, age := range []time.Duration{window + time.Hour, window - time.Hour, 0} {
		b.exec(t, `
			INSERT INTO event_keys (account_id, source_id, key_hash, event_id, body_hash, seen_at)
			VALUES ($1, $1, sha256($2), $1, '', $3)`, b.account, []byte{byte(i)}, b.clock.Now().Add(-age))
	}
	for range 2 {
		if err := b.PruneKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.number(t, `SELECT count(*) FROM event_keys`); n != 2 {
		t.Errorf("%d keys are left, want the 2 within the window", n)
	}
}

func TestRequestsAreTrimmedToTheNewest(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := gateway.SourceID(b.clock.NewID())
	b.exec(t, `INSERT INTO sources (id, account_id, name, kind, token, settings) VALUES ($1, $2, 's', 'none', 't', '')`, source, b.account)
	var requests []gateway.Request
	for range gateway.MaxRequestsKept + 7 {
		requests = append(requests, gateway.Request{
			ID: gateway.RequestID(b.clock.NewID()), AccountID: b.account, SourceID: source, Cause: "signature_missing",
			Body: gateway.Body{Method: "POST"},
		})
	}
	err := b.store.InTx(t.Context(), func(tx store.Tx) error { return tx.InsertRequests(t.Context(), requests) })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.TrimRequests(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.number(t, `SELECT count(*) FROM requests`); n != gateway.MaxRequestsKept {
		t.Errorf("%d requests are left, want %d", n, gateway.MaxRequestsKept)
	}
	if n := b.number(t, `SELECT count(*) FROM requests WHERE id = $1`, requests[0].ID); n != 0 {
		t.Error("the oldest is still there")
	}
}
