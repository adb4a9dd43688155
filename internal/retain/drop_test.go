package retain_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/retain"
	"github.com/rowlock/rowlock/internal/store"
)

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
	b.wantToldOfExpired(t, `{"day":"`+b.clock.Now().Add(-retention-48*time.Hour).Format(time.DateOnly)+`","deliveries":1,`)
	days, err := b.store.DaysBefore(t.Context(), b.clock.Now().Add(-retention))
	if err != nil || len(days) != 0 {
		t.Errorf("days left: %v, %v", days, err)
	}
}

// What somebody is changing is not waited for: all else is closed, and the day
// stays until it is closed, too.
func TestADayStaysWhileItChanges(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	busy, idle := b.delivery(t, retention+48*time.Hour, "sending"), b.delivery(t, retention+48*time.Hour, "pending")
	tx, err := b.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // committed, if all is well
	if _, err := tx.Exec(t.Context(), `UPDATE deliveries SET step = 1 WHERE id = $1`, busy); err != nil {
		t.Fatal(err)
	}
	if err := b.DropDays(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.number(t, `SELECT count(*) FROM deliveries WHERE id = $1 AND status = 'expired' OR id = $2 AND status = 'sending'`, idle, busy); n != 2 {
		t.Errorf("%d of 2 deliveries are as they should be", n)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.DropDays(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.number(t, `SELECT count(*) FROM deliveries`); n != 0 {
		t.Errorf("%d deliveries are left", n)
	}
	if n := b.number(t, `SELECT count(*) FROM audit_log WHERE action = 'delivery.expire' AND detail LIKE '1 open%'`); n != 2 {
		t.Errorf("told %d times of one delivery, want twice", n)
	}
}

// wantToldOfExpired fails unless one own event tells of what expired, beginning
// so, and members are told the same.
func (b bundle) wantToldOfExpired(t *testing.T, begins string) {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `
		SELECT convert_from(b.body, 'UTF8')
		FROM events e
		JOIN event_bodies b USING (id)
		JOIN alerts a ON a.id = e.id AND a.data = b.body AND a.type = e.type
		WHERE e.type = 'rowlock.delivery.expired'`)
	if err != nil {
		t.Fatal(err)
	}
	told, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(told) != 1 || !strings.HasPrefix(told[0], begins) {
		t.Errorf("told %q, %v; want one that begins with %s", told, err, begins)
	}
}

// Expired deliveries of own events cause no further ones.
func TestExpiredOwnEventsAreNotTold(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.delivery(t, retention+48*time.Hour, "pending")
	at := b.clock.Now().Add(-retention - 48*time.Hour)
	own := idAt[gateway.EventID](b, at)
	err := b.store.InTx(t.Context(), func(tx store.Tx) error {
		source, err := tx.APISource(t.Context(), b.account)
		if err != nil {
			return err
		}
		return tx.InsertEvents(t.Context(), []store.NewEvent{{Event: gateway.Event{
			ID: own, AccountID: b.account, SourceID: source, Type: gateway.TypeEndpointDisabled, Status: gateway.EventProcessed,
		}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	b.exec(t, `UPDATE deliveries SET event_id = $1`, own)
	if err := b.DropDays(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.number(t, `SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM alerts)`); n != 0 {
		t.Errorf("%d own events and alerts", n)
	}
	if n := b.number(t, `SELECT count(*) FROM audit_log WHERE action = 'delivery.expire'`); n != 1 {
		t.Errorf("%d entries of the audit log, want one", n)
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

// events stores events of an age, one of each status.
func (b bundle) events(t *testing.T, age time.Duration, statuses ...gateway.EventStatus) {
	t.Helper()
	at := b.clock.Now().Add(-age)
	if _, err := b.store.MakePartitions(t.Context(), at, at); err != nil {
		t.Fatal(err)
	}
	source := gateway.SourceID(b.clock.NewID())
	b.exec(t, `INSERT INTO sources (id, account_id, name, kind, token, settings) VALUES ($1, $2, 's', 'none', $3, '')`,
		source, b.account, source.String())
	var all []store.NewEvent
	for _, status := range statuses {
		id := idAt[gateway.EventID](b, at)
		all = append(all, store.NewEvent{Event: gateway.Event{ID: id, AccountID: b.account, SourceID: source, Type: "t", Status: status}})
	}
	if err := b.store.InTx(t.Context(), func(tx store.Tx) error { return tx.InsertEvents(t.Context(), all) }); err != nil {
		t.Fatal(err)
	}
}

// wantAudit fails unless the audit log holds these entries of an action.
func (b bundle) wantAudit(t *testing.T, action string, want ...string) {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `SELECT detail FROM audit_log WHERE action = $1 ORDER BY detail`, action)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Concat(want), slices.Concat(got)); diff != "" {
		t.Errorf("%s: %s", action, diff)
	}
}

// impatient is the service of a node that waits for no lock for long.
func (b bundle) impatient(t *testing.T) *retain.Service {
	t.Helper()
	config := b.pool.Config()
	config.ConnConfig.RuntimeParams["lock_timeout"] = "100ms"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	o := b.Options
	if o.Store, err = store.New(pool, nil, o.Log); err != nil {
		t.Fatal(err)
	}
	return retain.New(o)
}

// date is the day of an age.
func (b bundle) date(age time.Duration) string { return b.clock.Now().Add(-age).Format(time.DateOnly) }

// Events that nobody decided do not go without a word, and are told once, also
// if the day cannot be dropped at first.
func TestUndecidedEventsOfADayAreTold(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const old = retention + 48*time.Hour
	b.events(t, old, gateway.EventHeld, gateway.EventHeld, gateway.EventHeld, gateway.EventAccepted, gateway.EventProcessed, gateway.EventIgnored)
	b.events(t, old+72*time.Hour, gateway.EventProcessed, gateway.EventUnresolved)
	reader, err := b.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = reader.Exec(t.Context(), `SELECT count(*) FROM attempts_`+strings.ReplaceAll(b.date(old), "-", "")) // keeps it from being dropped
	if err != nil {
		t.Fatal(err)
	}
	if err := b.impatient(t).DropDays(t.Context()); err == nil {
		t.Error("a day was dropped that is being read")
	}
	if err := reader.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.DropDays(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.wantAudit(t, "event.expire", "3 held and 1 accepted events of "+b.date(old)+": their retention is over")
	b.wantAudit(t, "delivery.expire")
	if n := b.number(t, `SELECT count(*) FROM retention_notices`); n != 0 {
		t.Errorf("%d notices of days that are gone are left", n)
	}
}

// Days that go within three days are warned of, once, by whichever node.
func TestWarnOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	// A day goes when all of it is older than the retention.
	soon, later, over := retention-2*24*time.Hour, retention-4*24*time.Hour, retention+2*24*time.Hour
	b.delivery(t, soon, "pending")
	b.delivery(t, soon, "sending")
	b.delivery(t, soon, "delivered")
	b.events(t, soon, gateway.EventHeld, gateway.EventAccepted, gateway.EventProcessed)
	b.delivery(t, soon-24*time.Hour/2, "cancelled")
	b.delivery(t, later, "pending")
	b.events(t, over, gateway.EventHeld)
	for range 2 {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := b.Warn(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	end := b.clock.Now().Add(-soon).Truncate(24 * time.Hour).Add(24*time.Hour + retention).Format(time.DateTime)
	b.wantAudit(t, "retention.warning", "2 open deliveries, 1 held and 1 accepted events of "+b.date(soon)+": their retention ends at "+end+" UTC")
	b.wantAudit(t, "event.expire")
}

// A day of which nothing is open is warned of as soon as something is.
func TestWarnWhenSomethingOpensAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.delivery(t, retention-24*time.Hour, "failed")
	warn := func() {
		if err := b.Warn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	warn()
	b.wantAudit(t, "retention.warning")
	b.exec(t, `UPDATE deliveries SET status = 'pending' WHERE id = $1`, id)
	warn()
	if n := b.number(t, `SELECT count(*) FROM audit_log WHERE action = 'retention.warning'`); n != 1 {
		t.Errorf("%d warnings, want 1", n)
	}
}
