package decide_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

func TestProcess(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	all, orders, refunds := b.endpoint(t), b.endpoint(t, "order.*"), b.endpoint(t, "refund.*")
	ids := b.accept(t, 2, "order.created")
	b.process(t, ids...)
	b.wantStatus(t, gateway.EventProcessed, ids...)
	b.wantCount(t, 4, `SELECT count(*) FROM deliveries WHERE status = 'pending' AND priority = 0 AND trigger = 'auto' AND next_attempt_at <= now()`)
	b.wantCount(t, 0, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, refunds)
	for _, id := range ids {
		for _, e := range []gateway.EndpointID{all, orders} {
			d, err := b.store.Delivery(t.Context(), b.account, gateway.DeriveDeliveryID(id, e))
			if err != nil || d.EventID != id || d.EndpointID != e {
				t.Errorf("delivery %+v, %v", d, err)
			}
		}
	}
	b.wantCount(t, 2, alarms)
	b.wantUsage(t, 2)
	want := []store.LaneRef{{AccountID: b.account, EndpointID: all}, {AccountID: b.account, EndpointID: orders}}
	if diff := cmp.Diff(want, b.woken); diff != "" {
		t.Errorf("woken: %s", diff)
	}
}

func TestProcessAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	ids := b.accept(t, 3, "a")
	for range 2 {
		b.process(t, ids...)
	}
	b.process(t)
	b.process(t, gateway.EventID(b.clock.NewID())) // nobody's
	b.wantCount(t, 3, `SELECT count(*) FROM deliveries`)
	b.wantCount(t, 1, alarms)
	b.wantUsage(t, 3)
	if len(b.woken) != 1 {
		t.Errorf("%d lanes were woken, want one, once", len(b.woken))
	}
}

// Twenty at once, whose batches overlap in all ways, decide each event once.
func TestProcessAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for range 3 {
		b.endpoint(t)
	}
	const n = 30
	ids := b.accept(t, n, "a")
	pgtest.AtOnce(20, func(i int) {
		mine := slices.Concat(ids[i:], ids[:i])
		if i%2 == 0 {
			slices.Reverse(mine)
		}
		if err := b.Process(t.Context(), mine[:n-i%7]); err != nil {
			t.Error(err)
		}
	})
	b.process(t, ids...)
	b.wantStatus(t, gateway.EventProcessed, ids...)
	b.wantCount(t, 3*n, `SELECT count(*) FROM deliveries`)
	b.wantUsage(t, n)
}

func TestProcessSeveralAccounts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	ids := b.accept(t, 2, "a")
	first := b.account
	b.account, b.source = b.newAccount(t, "other")
	b.endpoint(t)
	b.endpoint(t)
	theirs := b.accept(t, 1, "a")
	b.process(t, append(slices.Clone(ids), theirs...)...)
	b.wantStatus(t, gateway.EventProcessed, theirs...)
	b.wantUsage(t, 1)
	b.wantCount(t, 2, `SELECT count(*) FROM deliveries WHERE account_id = $1`, b.account)
	b.account = first
	b.wantUsage(t, 2)
	b.wantCount(t, 2, `SELECT count(*) FROM deliveries WHERE account_id = $1`, b.account)
	b.wantCount(t, 0, `SELECT count(*) FROM deliveries d JOIN endpoints p ON p.id = d.endpoint_id WHERE p.account_id <> d.account_id`)
}

func TestProcessWithoutEndpoints(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t, "b")
	deleted := b.endpoint(t)
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, deleted) })
	id := b.accept(t, 1, "a")[0]
	b.process(t, id)
	if e := b.event(t, id); e.Status != gateway.EventNoEndpoints || e.Decision != "no endpoint asks for a" {
		t.Errorf("event is %s, %q", e.Status, e.Decision)
	}
	b.wantCount(t, 0, alarms)
	b.wantUsage(t, 1)
	if len(b.woken) != 0 {
		t.Errorf("woken: %v", b.woken)
	}
}

// An endpoint that is not active gets its deliveries all the same: they are
// held there.
func TestProcessForInactiveEndpoints(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, state := range []string{"paused", "disabled"} {
		b.exec(t, `UPDATE endpoints SET state = $2 WHERE id = $1`, b.endpoint(t), state)
	}
	id := b.accept(t, 1, "a")[0]
	b.process(t, id)
	b.wantStatus(t, gateway.EventProcessed, id)
	held, err := b.store.Deliveries(t.Context(), b.account, store.DeliveryFilter{Status: gateway.DeliveryHeld}, store.Page[gateway.DeliveryID]{Limit: 9})
	if err != nil || len(held) != 2 {
		t.Errorf("%d are held, %v", len(held), err)
	}
}

// poison makes deciding these events fail.
func (b *bundle) poison(t *testing.T, ids ...gateway.EventID) {
	t.Helper()
	b.exec(t, `CREATE TABLE poison (event_id uuid)`)
	for _, id := range ids {
		b.exec(t, `INSERT INTO poison VALUES ($1)`, id)
	}
	b.exec(t, `
		CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF EXISTS (SELECT FROM poison WHERE event_id = NEW.event_id) THEN
				RAISE EXCEPTION 'poison';
			END IF;
			RETURN NEW;
		END
		$$`)
	b.exec(t, `CREATE TRIGGER refuse_poison BEFORE INSERT ON deliveries FOR EACH ROW EXECUTE FUNCTION refuse_poison()`)
}

// A bad event costs its neighbours nothing, and is decided when it is mended.
func TestProcessBesideABadEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	ids := b.accept(t, 5, "a")
	bad := ids[2]
	b.poison(t, bad)
	err := b.Process(t.Context(), ids)
	if err == nil || !strings.Contains(err.Error(), bad.String()) || strings.Contains(err.Error(), ids[0].String()) {
		t.Errorf("error %v, want it to name the bad event alone", err)
	}
	b.wantStatus(t, gateway.EventProcessed, ids[0], ids[1], ids[3], ids[4])
	b.wantStatus(t, gateway.EventAccepted, bad)
	b.wantCount(t, 4, `SELECT count(*) FROM deliveries`)
	b.wantUsage(t, 4)

	b.exec(t, `DELETE FROM poison`)
	b.process(t, ids...)
	b.wantStatus(t, gateway.EventProcessed, ids...)
	b.wantUsage(t, 5)
}

func TestProcessOfABadEventAlone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	id := b.accept(t, 1, "a")[0]
	b.poison(t, id)
	if err := b.Process(t.Context(), []gateway.EventID{id}); err == nil {
		t.Error("no error")
	}
	b.wantStatus(t, gateway.EventAccepted, id)
	b.wantUsage(t, 0)
	b.wantCount(t, 0, alarms)
	if len(b.woken) != 0 {
		t.Errorf("woken: %v", b.woken)
	}
}

func TestProcessStopsWithItsContext(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.accept(t, 3, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Process(ctx, ids); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	b.wantStatus(t, gateway.EventAccepted, ids...)
}

// A service that wakes nobody is one whose jobs alone tell the workers.
func TestProcessWithoutWake(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	id := b.accept(t, 1, "a")[0]
	s := decide.New(decide.Options{Store: b.store, Clock: b.clock, Log: slog.New(slog.DiscardHandler), Node: "n2"})
	if err := s.Process(t.Context(), []gateway.EventID{id}); err != nil {
		t.Fatal(err)
	}
	b.wantCount(t, 1, `SELECT count(*) FROM river_job WHERE kind = 'deliver'`)
	b.wantCount(t, 0, alarms)
	b.wantCount(t, 1, `SELECT count(*) FROM usage WHERE node = 'n2'`)
}
