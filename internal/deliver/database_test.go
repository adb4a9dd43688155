package deliver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// aside opens a connection that no fault of a test touches.
func aside(t *testing.T, database string) *bundle {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return &bundle{pool: pool}
}

// Every connection of the node is killed, again and again, while it delivers:
// nothing is lost, and what is recorded is recorded once.
func TestDatabaseConnectionsAreKilled(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	b, watch := newBundleAt(t, database, poolSize), aside(t, database)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.MaxInFlight = 4 })
	const n = 60
	b.publish(t, e, n)
	const kill = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'rowlock'`
	for at := range 4 {
		r.until(t, n*at/5+1)
		pgtest.Until(t, "connections are killed", func() bool { return watch.count(t, kill) > 0 })
	}
	watch.untilCount(t, 0, open)
	if recorded := watch.count(t, `SELECT count(*) FROM attempts WHERE outcome = 'succeeded'`); recorded != n {
		t.Errorf("%d successes are recorded, want %d", recorded, n)
	}
	if counted := watch.count(t, `SELECT sum(succeeded)::int FROM rollups WHERE span = 1`); counted != n {
		t.Errorf("%d successes are counted, want %d", counted, n)
	}
	if got := len(r.requests()); got < n {
		t.Errorf("%d requests for %d deliveries", got, n)
	}
}

// The take is committed and its answer lost: nobody knows that the deliveries
// are being sent. The drain ends its own lease and takes them over.
func TestFateOfATakeIsUnknown(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	w, over := pgtest.NewWire(t, database)
	b, watch := newBundleAt(t, over, poolSize), aside(t, database)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL)
	b.queue(t, e, 3)
	w.LoseCommit()
	b.wake(e)
	watch.untilCount(t, 0, open)
	if w.Lost() != 1 {
		t.Fatalf("%d answers were lost", w.Lost())
	}
	if n := watch.count(t, `SELECT count(*) FROM attempts WHERE outcome = 'unknown' AND n = 1`); n != 3 {
		t.Errorf("%d attempts of unknown outcome, want 3", n)
	}
	if n := len(r.requests()); n != 3 {
		t.Errorf("%d requests: nothing had been sent when the answer was lost", n)
	}
}

// The record is committed and its answer lost: recording again changes
// nothing.
func TestFateOfARecordIsUnknown(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	w, over := pgtest.NewWire(t, database)
	b, watch := newBundleAt(t, over, poolSize), aside(t, database)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL, narrow)
	b.publish(t, e, 1)
	r.until(t, 1)
	w.LoseCommit()
	close(gate)
	watch.untilCount(t, 0, open)
	watch.untilCount(t, 1, `SELECT count(*) FROM lanes WHERE leased_until IS NULL`)
	if w.Lost() != 1 {
		t.Fatalf("%d answers were lost", w.Lost())
	}
	if n := watch.count(t, `SELECT count(*) FROM attempts`); n != 1 || len(r.requests()) != 1 {
		t.Errorf("%d attempts, %d requests", n, len(r.requests()))
	}
	if n := watch.count(t, `SELECT sum(succeeded)::int FROM rollups WHERE span = 1`); n != 1 {
		t.Errorf("%d successes are counted", n)
	}
}

// An answer that the database will not take costs its neighbours nothing, and
// is not asked for again: what can be stored of it is.
func TestAnswerThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request, n int) {
		held(t, gate)(w, req, n)
		if n == 2 {
			_, _ = w.Write([]byte("poison"))
		}
	})
	b.exec(t, `ALTER TABLE attempts ADD CONSTRAINT no_poison CHECK (response_body <> 'poison')`)
	e := b.endpoint(t, r.URL)
	b.publish(t, e, 4)
	r.until(t, 4)
	close(gate)
	b.untilCount(t, 0, open)
	b.untilReleased(t, e)
	if n := b.count(t, `SELECT count(*) FROM attempts WHERE outcome = 'succeeded'`); n != 4 || len(r.requests()) != 4 {
		t.Errorf("%d attempts succeeded, %d requests, want 4", n, len(r.requests()))
	}
	if n := b.count(t, `SELECT count(*) FROM attempts WHERE detail <> '' AND response_body = ''`); n != 1 {
		t.Errorf("%d attempts say that their answer could not be stored, want one", n)
	}
	pgtest.Until(t, "every slot is back", func() bool { return b.FreeSlots() == workers })
}

// When no attempt at all can be stored, the delivery's status still is.
func TestAttemptThatCannotBeStored(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	b.exec(t, `ALTER TABLE attempts ADD CONSTRAINT none CHECK (n > 1)`)
	e := b.endpoint(t, r.URL)
	b.publish(t, e, 3)
	b.untilCount(t, 3, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`)
	b.untilReleased(t, e)
	if len(r.requests()) != 3 {
		t.Errorf("%d requests, want 3", len(r.requests()))
	}
}

// What comes back while nothing can be recorded frees its slots all the same.
func TestSlotsAreFreeWhileNothingCanBeRecorded(t *testing.T) {
	t.Parallel()
	log := &logBuffer{}
	b := newBundle(t, func(o *deliver.Options) { o.Log = log.logger() })
	first, others := make(chan struct{}), make(chan struct{})
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request, n int) {
		held(t, map[bool]chan struct{}{true: first, false: others}[n == 1])(w, req, n)
	})
	b.publish(t, b.endpoint(t, r.URL), 3)
	r.until(t, 3)
	b.readOnly(t)
	close(first)
	pgtest.Until(t, "the first answer cannot be recorded", func() bool { return strings.Contains(log.String(), "recording deliveries") })
	close(others)
	pgtest.Until(t, "every slot is back", func() bool { return b.FreeSlots() == workers })
	b.writable(t)
	b.untilCount(t, 3, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`)
}

// readOnly has the database refuse what deliveries become.
func (b *bundle) readOnly(t *testing.T) {
	t.Helper()
	b.exec(t, `
		CREATE FUNCTION read_only() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			RAISE EXCEPTION 'cannot execute in a read-only transaction' USING ERRCODE = '25006';
		END $$`)
	b.exec(t, `CREATE TRIGGER read_only BEFORE UPDATE ON deliveries FOR EACH ROW EXECUTE FUNCTION read_only()`)
}

// writable ends readOnly.
func (b *bundle) writable(t *testing.T) {
	t.Helper()
	// It locks every day, and may be a deadlock's victim.
	pgtest.Until(t, "the database takes writes", func() bool {
		_, err := b.pool.Exec(t.Context(), `DROP TRIGGER read_only ON deliveries`)
		return err == nil
	})
}

// A database that takes no writes for a while, as a demoted primary does, is
// one that is not there: results wait for it and nothing is sent again.
func TestDatabaseThatTakesNoWrites(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL)
	b.publish(t, e, 3)
	r.until(t, 3)
	b.readOnly(t)
	close(gate)
	pgtest.Until(t, "every answer is in", func() bool { return b.FreeSlots() == workers })
	b.writable(t)
	b.untilCount(t, 3, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`)
	if len(r.requests()) != 3 {
		t.Errorf("%d requests, want 3", len(r.requests()))
	}
}
