package reconcile_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Suite{M: m}) }

const (
	actor     = gateway.Actor("key_test")
	poolSize  = 8
	eventType = "order.created"
	// tried is how many attempts deliveries have had that are closed.
	tried = 8
)

// bundle compares in a database of its own, with one account and an endpoint.
type bundle struct {
	*reconcile.Service
	store    *store.Store
	pool     *pgxpool.Pool
	clock    *clock.Clock
	account  gateway.AccountID
	source   gateway.SourceID
	endpoint gateway.EndpointID
}

func newBundle(t testing.TB) *bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), poolSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := &bundle{pool: pool, clock: clock.New()}
	if b.store, err = store.New(pool, pgtest.Sealer(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	b.Service = reconcile.New(reconcile.Options{Store: b.store, Clock: b.clock})
	b.account, b.source = gateway.AccountID(b.clock.NewID()), gateway.SourceID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		if err := tx.CreateAccount(t.Context(), gateway.Account{ID: b.account, Name: "acme", Slug: "acme"}); err != nil {
			return err
		}
		_, err := tx.CreateSource(t.Context(), b.account, gateway.Source{ID: b.source, Kind: gateway.SourceKindAPI, Token: b.source.String()})
		return err
	})
	b.endpoint = b.newEndpoint(t, gateway.Endpoint{EventTypes: []string{"order.*"}})
	return b
}

func (b *bundle) newEndpoint(t testing.TB, e gateway.Endpoint) gateway.EndpointID {
	t.Helper()
	e.ID, e.URL, e.MaxInFlight = gateway.EndpointID(b.clock.NewID()), "https://example.com/hooks", gateway.DefaultMaxInFlight
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateEndpoint(t.Context(), b.account, e, 0)
		return err
	})
	return e.ID
}

func (b *bundle) in(t testing.TB, do func(store.Tx) error) {
	t.Helper()
	if err := b.store.InTx(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

func (b *bundle) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (b *bundle) count(t testing.TB, sql string, args ...any) int {
	t.Helper()
	return pgtest.Count(t, b.pool, sql, args...)
}

// sent is an event of ours, and how it stands with the endpoint.
type sent struct {
	eventType, key, subject string
	// age is how long ago it came in; zero is a minute.
	age    time.Duration
	status gateway.EventStatus
	// delivery is the status of its delivery; empty for none.
	delivery gateway.DeliveryStatus
	data     string
}

// send stores events with their deliveries, and returns their ids.
func (b *bundle) send(t testing.TB, all ...sent) []gateway.EventID {
	t.Helper()
	events, ids := make([]store.NewEvent, len(all)), make([]gateway.EventID, len(all))
	var deliveries []store.NewDelivery
	for i, s := range all {
		events[i] = b.event(s)
		ids[i] = events[i].Event.ID
		if s.delivery != "" {
			deliveries = append(deliveries, store.NewDelivery{AccountID: b.account, EventID: ids[i], EndpointID: b.endpoint})
		}
	}
	b.in(t, func(tx store.Tx) error {
		if err := tx.InsertEvents(t.Context(), events); err != nil {
			return err
		}
		_, err := tx.InsertDeliveries(t.Context(), deliveries)
		return err
	})
	for i, s := range all {
		if s.delivery != "" && s.delivery != gateway.DeliveryPending {
			b.exec(t, `UPDATE deliveries SET status = $2, attempts = $3, closed_at = now(), next_attempt_at = NULL WHERE id = $1`,
				gateway.DeriveDeliveryID(ids[i], b.endpoint), string(s.delivery), tried)
		}
	}
	return ids
}

func (b *bundle) event(s sent) store.NewEvent {
	if s.age == 0 {
		s.age = time.Minute
	}
	first, drawn := gateway.FirstIDAt[gateway.EventID](b.clock.Now().Add(-s.age)), b.clock.NewID()
	copy(drawn[:6], first[:6])
	e := gateway.Event{ID: gateway.EventID(drawn), AccountID: b.account, SourceID: b.source, Type: s.eventType, Status: s.status}
	if e.Type == "" {
		e.Type = eventType
	}
	if e.Status == "" {
		e.Status = gateway.EventProcessed
	}
	if s.key != "" {
		e.Key = []byte(s.key)
	}
	if s.subject != "" {
		e.Subject = &s.subject
	}
	if s.data == "" {
		s.data = `{}`
	}
	return store.NewEvent{Event: e, Body: gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: []byte(s.data)}}
}

// comparison asks for the last hour, in CSV with the key in the first column.
func (b *bundle) comparison(by gateway.MatchBy) reconcile.Input {
	return reconcile.Input{
		Layout:   reconcile.Layout{Format: reconcile.FormatCSV, MatchBy: by, NoHeader: true},
		Endpoint: b.endpoint, Name: "list.csv", Since: b.clock.Now().Add(-time.Hour),
	}
}

// create uploads a list, which must be taken.
func (b *bundle) create(t testing.TB, in reconcile.Input, list string) gateway.ReconciliationID {
	t.Helper()
	r, err := b.Create(t.Context(), b.account, actor, in, strings.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// work compares until it is done.
func (b *bundle) work(t testing.TB, id gateway.ReconciliationID) gateway.Reconciliation {
	t.Helper()
	var r gateway.Reconciliation
	pgtest.Until(t, "the reconciliation ends", func() bool {
		if err := b.Run(t.Context(), b.account, id); err != nil {
			t.Errorf("run: %v", err)
		}
		r = b.read(t, id)
		return !r.State.IsOpen()
	})
	return r
}

func (b *bundle) read(t testing.TB, id gateway.ReconciliationID) gateway.Reconciliation {
	t.Helper()
	r, err := b.store.Reconciliation(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// numbers are what a reconciliation found.
type numbers struct{ Rows, Faulty, Matched, Unknown, Repeated, Ours, Missing, Sendable, Unnamed int }

func numbersOf(r gateway.Reconciliation) numbers {
	return numbers{r.Rows, r.Faulty, r.Matched, r.Unknown, r.Repeated, r.Ours, r.Missing, r.Sendable, r.Unnamed}
}

// lines makes a list of one column.
func lines[T fmt.Stringer](keys ...T) string {
	var list strings.Builder
	for _, key := range keys {
		list.WriteString(key.String() + "\n")
	}
	return list.String()
}
