package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// queuedType and queuedBody are what the events of queued say.
const (
	queuedType = "order.created"
	queuedBody = `{"order":1}`
)

// queued stores n decided events, each with one delivery to the endpoint that
// is due now, and returns the deliveries, oldest first.
func (b bundle) queued(t *testing.T, endpoint gateway.EndpointID, n int) []gateway.DeliveryID {
	t.Helper()
	events := make([]store.NewEvent, n)
	deliveries := make([]store.NewDelivery, n)
	ids := make([]gateway.DeliveryID, n)
	b.in(t, func(tx store.Tx) error {
		source := b.builtIn(t, tx)
		for i := range n {
			id := gateway.EventID(b.clock.NewID())
			events[i] = store.NewEvent{
				Event: gateway.Event{ID: id, AccountID: b.account, SourceID: source, Type: queuedType, Status: gateway.EventProcessed},
				Body:  gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: []byte(queuedBody)},
			}
			deliveries[i] = store.NewDelivery{AccountID: b.account, EventID: id, EndpointID: endpoint}
			ids[i] = gateway.DeriveDeliveryID(id, endpoint)
		}
		if err := tx.InsertEvents(t.Context(), events); err != nil {
			return err
		}
		_, err := tx.InsertDeliveries(t.Context(), deliveries)
		return err
	})
	return ids
}

// builtIn returns the account's built-in source, made when it is missing.
func (b bundle) builtIn(t *testing.T, tx store.Tx) gateway.SourceID {
	t.Helper()
	id, err := tx.APISource(t.Context(), b.account)
	if errors.Is(err, gateway.ErrNotFound) {
		id = gateway.SourceID(b.clock.NewID())
		_, err = tx.CreateSource(t.Context(), b.account, gateway.Source{ID: id, Kind: gateway.SourceKindAPI, Token: id.String()})
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// acquire takes a lane that must be free.
func (b bundle) acquire(t *testing.T, endpoint gateway.EndpointID, node string) store.Lane {
	t.Helper()
	lane, ok, err := b.AcquireLane(t.Context(), b.account, endpoint, node)
	if err != nil || !ok {
		t.Fatalf("acquire the lane for %s: %t, %v", node, ok, err)
	}
	return lane
}

// takeDue takes due deliveries in a transaction of its own.
func (b bundle) takeDue(t *testing.T, lane store.Lane, limit int) (taken []store.Taken) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		taken, err = tx.TakeDue(t.Context(), lane, limit)
		return err
	})
	return taken
}

// record records results in a transaction of its own.
func (b bundle) record(t *testing.T, lane store.Lane, results ...store.Result) (changed map[gateway.AttemptID]bool) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		changed, err = tx.Record(t.Context(), lane, results)
		return err
	})
	return changed
}

// answered is the result of what was taken.
func (b bundle) answered(d store.Taken, outcome gateway.Outcome, status gateway.DeliveryStatus) store.Result {
	r := store.Result{Status: status, Attempt: gateway.Attempt{
		DeliveryID: d.ID, N: d.N, EventID: d.EventID, Trigger: d.Trigger, StartedAt: b.clock.Now(), Outcome: outcome,
	}}
	if status == gateway.DeliveryPending {
		r.NextAttemptAt = b.clock.Now().Add(time.Minute)
	}
	return r
}

// steady makes a node one that may take over lanes.
func (b bundle) steady(t *testing.T, node string) {
	t.Helper()
	b.exec(t, 1, `
		INSERT INTO nodes (node, seen_at, steady_since, started_at, roles, version)
		VALUES ($1, now() + interval '1 min', now() - interval '1 min', now(), 'worker', '')`, node)
}

// endLease makes a lane look as if its holder had died a while ago.
func (b bundle) endLease(t *testing.T, endpoint gateway.EndpointID) {
	t.Helper()
	b.exec(t, 1, `UPDATE lanes SET leased_until = now() - interval '1 s' WHERE endpoint_id = $1`, endpoint)
}

// deliveryRow is a delivery as it is stored.
type deliveryRow struct {
	Status   string
	Attempts int
	Step     int
	Fence    int64
	Priority int
	Outcome  string
	Trigger  string
	// Waits tells that a next attempt is set, Due that its time has come.
	Waits, Due, Closed bool
}

func (b bundle) row(t *testing.T, id gateway.DeliveryID) deliveryRow {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `
		SELECT status, attempts, step, fence, priority::int, coalesce(last_outcome, ''), trigger,
		       next_attempt_at IS NOT NULL, coalesce(next_attempt_at <= clock_timestamp(), false), closed_at IS NOT NULL
		FROM deliveries
		WHERE id = $1`, id)
	if err != nil {
		t.Fatal(err)
	}
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[deliveryRow])
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// laneRow is a lane as it is stored. Times are whole seconds from now.
type laneRow struct {
	Fence                     int64
	Node                      string
	Leased, Alarm, Sleeps     bool
	LeaseIn, AlarmIn, SleepIn int
	Cap, FailedProbes         int
	TimingOut                 bool
}

func (b bundle) lane(t *testing.T, endpoint gateway.EndpointID) laneRow {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `
		SELECT fence, coalesce(node, ''), leased_until IS NOT NULL, wake_at IS NOT NULL, sleep_until IS NOT NULL,
		       coalesce(round(extract(epoch FROM leased_until - clock_timestamp())), 0)::int,
		       coalesce(round(extract(epoch FROM wake_at - clock_timestamp())), 0)::int,
		       coalesce(round(extract(epoch FROM sleep_until - clock_timestamp())), 0)::int,
		       in_flight_cap, failed_probes::int, timing_out
		FROM lanes
		WHERE endpoint_id = $1`, endpoint)
	if err != nil {
		t.Fatal(err)
	}
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[laneRow])
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// waitForLock waits until a statement of this test's database waits for a
// row's lock.
func (b bundle) waitForLock(t *testing.T) {
	t.Helper()
	b.eventually(t, "a statement waits for a lock", `
		SELECT count(*)
		FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock'`)
}
