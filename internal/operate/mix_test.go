package operate_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// mixFor is how long everything happens at once.
	mixFor = 4 * time.Second
	// mixActors is how many do each thing.
	mixActors = 2
)

// mix is everything that can happen to deliveries, at once.
type mix struct {
	*bundle

	nodes     []*deliver.Service
	mu        sync.Mutex
	endpoints []gateway.EndpointID
	// sick answers failures now and then.
	// calmed: nothing dies any more.
	calmed atomic.Bool
	sick   atomic.Bool
	url    string
	// sent counts what was sent by delivery and attempt.
	sent map[string]int
}

func newMix(t *testing.T) *mix {
	t.Helper()
	m := &mix{bundle: newBundle(t), sent: map[string]int{}}
	m.sick.Store(true)
	r := httptest.NewServer(http.HandlerFunc(m.answer))
	t.Cleanup(r.Close)
	m.url = r.URL
	m.nodes = []*deliver.Service{m.deliver, m.another(t)}
	for _, n := range m.nodes {
		if _, err := m.store.Beat(t.Context(), store.Node{Name: n.Node}); err != nil {
			t.Fatal(err)
		}
	}
	m.exec(t, `UPDATE nodes SET seen_at = now() + interval '1 d', steady_since = now() - interval '1 d'`)
	m.add(t)
	for range 5 {
		m.add(t, eventType)
	}
	// The first fails over to the second, that to the third.
	m.exec(t, `UPDATE endpoints SET failover_id = $2 WHERE id = $1`, m.endpoints[1], m.endpoints[2])
	m.exec(t, `UPDATE endpoints SET failover_id = $2 WHERE id = $1`, m.endpoints[0], m.endpoints[1])
	return m
}

// another is a second node on the same database.
func (m *mix) another(t *testing.T) *deliver.Service {
	t.Helper()
	o := m.deliver.Options
	o.Node = "n2"
	return deliver.New(o)
}

func (m *mix) add(t *testing.T, types ...string) {
	t.Helper()
	id := m.endpoint(t, m.url, types...)
	m.exec(t, `UPDATE endpoints SET retry_schedule_ms = '{20,20}' WHERE id = $1`, id)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endpoints = append(m.endpoints, id)
}

// one is an endpoint, which may be deleted.
func (m *mix) one() gateway.EndpointID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.endpoints[rand.IntN(len(m.endpoints))]
}

func (m *mix) answer(w http.ResponseWriter, req *http.Request) {
	m.mu.Lock()
	m.sent[req.Header.Get("Idempotency-Key")+"#"+req.Header.Get("Rowlock-Attempt")]++
	m.mu.Unlock()
	if m.sick.Load() && rand.IntN(2) == 0 {
		w.WriteHeader(http.StatusBadRequest + rand.IntN(2)*100)
	}
}

// deliverySome is a delivery of any state.
func (m *mix) some(ctx context.Context) (gateway.Delivery, error) {
	var id gateway.DeliveryID
	err := m.pool.QueryRow(ctx, `SELECT id FROM deliveries ORDER BY random() LIMIT 1`).Scan(&id)
	if err != nil {
		return gateway.Delivery{}, err
	}
	return m.store.Delivery(ctx, m.account, id)
}

// happen does one thing again and again until the context ends.
func (m *mix) happen(ctx context.Context, t *testing.T, wg *sync.WaitGroup, what string, do func(context.Context) error) {
	for range mixActors {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := do(ctx); err != nil && ctx.Err() == nil && !expected(err) {
					t.Errorf("%s: %v", what, err)
				}
				waitAbout(ctx, 10*time.Millisecond)
			}
		})
	}
}

func waitAbout(ctx context.Context, mean time.Duration) {
	select {
	case <-time.After(rand.N(2 * mean)):
	case <-ctx.Done():
	}
}

// expected are the answers of guards that let nothing happen.
func expected(err error) bool {
	for _, e := range []error{
		gateway.ErrNotFound, gateway.ErrStateChanged, gateway.ErrDeliveryChanged, gateway.ErrDeliveryInFlight, gateway.ErrNotActive,
		gateway.ErrPayloadGone, gateway.ErrLimitReached,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// runAll works on every operation that waits, as the queue's workers do.
func (m *mix) runAll(ctx context.Context) error {
	rows, err := m.pool.Query(ctx, `SELECT id FROM operations WHERE next_run_at IS NOT NULL ORDER BY random() LIMIT 1`)
	if err != nil {
		return err
	}
	var ids []gateway.OperationID
	for rows.Next() {
		var id gateway.OperationID
		if err := rows.Scan(&id); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		// Some die in the middle, until everything is to come to its end.
		life := 300 * time.Millisecond
		if m.calmed.Load() {
			life = time.Minute
		}
		dies, kill := context.WithTimeout(ctx, rand.N(life))
		err := m.Run(dies, m.account, id)
		over := dies.Err() != nil
		kill()
		if err != nil && !over {
			return err
		}
	}
	return nil
}

func (m *mix) press(ctx context.Context) error {
	e := m.one()
	r := m.recovery(e)
	switch rand.IntN(4) {
	case 0:
		r = m.missing(e)
	case 1:
		r = operate.Request{Kind: gateway.OperationRedeliver, Filter: gateway.OperationFilter{Status: gateway.DeliveryFailed}}
	case 2:
		r = operate.Request{Kind: gateway.OperationReprocess, Filter: gateway.OperationFilter{EventStatus: gateway.EventNoEndpoints}}
	}
	_, err := m.Start(ctx, m.account, actor, r)
	waitAbout(ctx, 150*time.Millisecond)
	return err
}

func (m *mix) stopOne(ctx context.Context) error {
	waitAbout(ctx, 200*time.Millisecond)
	var id gateway.OperationID
	err := m.pool.QueryRow(ctx, `SELECT id FROM operations WHERE state IN ('counting', 'running') ORDER BY random() LIMIT 1`).Scan(&id)
	if err != nil {
		return nil //nolint:nilerr // there is none
	}
	_, err = m.Cancel(ctx, m.account, actor, id)
	return err
}

func (m *mix) changeState(ctx context.Context) error {
	e := m.one()
	return m.store.InTx(ctx, func(tx store.Tx) error {
		if rand.IntN(2) == 0 {
			_, err := tx.PauseEndpoint(ctx, m.account, e)
			return err
		}
		_, err := tx.ResumeEndpoint(ctx, m.account, e)
		return err
	})
}

func (m *mix) disable(ctx context.Context) error {
	waitAbout(ctx, 50*time.Millisecond)
	_, err := m.pool.Exec(ctx, `UPDATE endpoints SET state = 'disabled' WHERE id = $1 AND state = 'active' AND deleted_at IS NULL`, m.one())
	return err
}

func (m *mix) deleteOne(ctx context.Context) error {
	waitAbout(ctx, time.Second)
	e := m.one()
	err := m.store.InTx(ctx, func(tx store.Tx) error {
		if _, err := tx.Bridge(ctx, m.account, e); err != nil {
			return err
		}
		return tx.DeleteEndpoint(ctx, m.account, e)
	})
	if err != nil {
		return err
	}
	return m.empty(ctx)
}

func (m *mix) empty(ctx context.Context) error {
	leaving, err := m.store.LeavingEndpoints(ctx, 100)
	for _, e := range leaving {
		for n := 500; n == 500 && err == nil; {
			err = m.store.InTx(ctx, func(tx store.Tx) (err error) {
				n, err = tx.CancelOpen(ctx, e.AccountID, e.EndpointID, 500)
				return err
			})
		}
	}
	return err
}

// person does what people do to single deliveries.
func (m *mix) person(ctx context.Context) error {
	d, err := m.some(ctx)
	if err != nil {
		return err
	}
	switch rand.IntN(6) {
	case 0:
		_, err = m.deliver.Cancel(ctx, m.account, actor, d.ID)
	case 1:
		_, err = m.deliver.RedeliverEvent(ctx, m.account, actor, d.EventID, nil)
	case 2:
		if rand.IntN(5) == 0 {
			err = m.deliver.DeletePayload(ctx, m.account, actor, d.EventID)
		}
	case 3:
		_, err = m.deliver.SendNow(ctx, m.account, actor, d.EndpointID)
	default:
		_, err = m.deliver.Redeliver(ctx, m.account, actor, d.ID, nil, "")
	}
	return err
}

// live is what comes in meanwhile.
func (m *mix) live(ctx context.Context) error {
	events := make([]store.NewEvent, 20)
	ids := make([]gateway.EventID, len(events))
	for i := range events {
		ids[i] = gateway.EventID(m.clock.NewID())
		status, ofType := gateway.EventAccepted, eventType
		switch i % 4 {
		case 0:
			status = gateway.EventNoEndpoints
		case 1:
			ofType = "invoice.paid"
		}
		events[i] = store.NewEvent{
			Event: gateway.Event{ID: ids[i], AccountID: m.account, SourceID: m.source, Type: ofType, Status: status},
			Body:  gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: []byte(`{"n":` + strconv.Itoa(i) + `}`)},
		}
	}
	if err := m.store.InTx(ctx, func(tx store.Tx) error { return tx.InsertEvents(ctx, events) }); err != nil {
		return err
	}
	waitAbout(ctx, 40*time.Millisecond)
	return m.decide.Process(ctx, ids)
}

// die has whoever holds a lane lose it, with what is in the air.
func (m *mix) die(ctx context.Context) error {
	waitAbout(ctx, 100*time.Millisecond)
	_, err := m.pool.Exec(ctx, `
		UPDATE lanes SET fence = fence + 1, node = 'dead', leased_until = clock_timestamp() - interval '1 s', wake_at = clock_timestamp()
		WHERE endpoint_id = $1 AND leased_until IS NOT NULL`, m.one())
	return err
}

func (m *mix) expire(ctx context.Context) error {
	waitAbout(ctx, 700*time.Millisecond)
	return m.store.InTx(ctx, func(tx store.Tx) error {
		_, _, err := tx.ExpireDay(ctx, m.clock.Now().UTC().Truncate(24*time.Hour))
		return err
	})
}

// sweep is what a node does each while.
func (m *mix) sweep(node *deliver.Service) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := node.RingAlarms(ctx)
		if err == nil {
			_, err = node.RepairLanes(ctx)
		}
		if err == nil {
			err = node.HandOnStalled(ctx)
		}
		waitAbout(ctx, 30*time.Millisecond)
		return err
	}
}

// Everything at once: nothing waits for another in a circle, nothing is left
// behind, and nothing is sent without an attempt of its own.
func TestEverythingAtOnce(t *testing.T) {
	t.Parallel()
	m := newMix(t)
	for _, e := range m.endpoints {
		m.failed(t, e, 300)
	}
	m.events(t, 500, eventType, gateway.EventNoEndpoints)
	for _, n := range m.nodes {
		pgtest.Background(t, n.Run)
	}
	ctx, end := context.WithTimeout(t.Context(), mixFor)
	defer end()
	var all sync.WaitGroup
	for what, do := range map[string]func(context.Context) error{
		"run": m.runAll, "press": m.press, "stop": m.stopOne, "change state": m.changeState, "disable": m.disable, "delete": m.deleteOne,
		"person": m.person, "live": m.live, "die": m.die, "expire": m.expire, "sweep 1": m.sweep(m.nodes[0]), "sweep 2": m.sweep(m.nodes[1]),
	} {
		m.happen(ctx, t, &all, what, do)
	}
	all.Wait()
	m.calm(t)
	m.check(t)
}

// calm lets everything come to its end.
func (m *mix) calm(t *testing.T) {
	t.Helper()
	m.sick.Store(false)
	m.calmed.Store(true)
	pgtest.Background(t, func(ctx context.Context) {
		for ctx.Err() == nil {
			_ = m.sweep(m.nodes[0])(ctx)
			_ = m.sweep(m.nodes[1])(ctx)
		}
	})
	if err := m.empty(t.Context()); err != nil {
		t.Error(err)
	}
	for _, e := range m.endpoints {
		err := m.store.InTx(t.Context(), func(tx store.Tx) error {
			_, err := tx.ResumeEndpoint(t.Context(), m.account, e)
			return err
		})
		if err != nil && !errors.Is(err, gateway.ErrNotFound) {
			t.Error(err)
		}
	}
	until(t, "every operation ends", func() bool {
		if err := m.runAll(t.Context()); err != nil {
			t.Error(err)
		}
		m.decideAll(t)
		return m.count(t, `SELECT count(*) FROM operations WHERE next_run_at IS NOT NULL`) == 0
	})
	m.decideAll(t)
	m.untilCount(t, 0, `SELECT count(*) FROM deliveries WHERE status IN ('pending', 'sending')`)
}

// check compares what is stored with what went out.
func (m *mix) check(t *testing.T) {
	t.Helper()
	m.wantCount(t, 0, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)
	m.wantCount(t, 0, `SELECT count(*) FROM operations WHERE settled_at IS NULL OR done + failed > total OR restored > done`)
	m.wantCount(t, 0, `SELECT count(*) FROM deliveries WHERE status = 'pending' OR closed_at IS NULL OR next_attempt_at IS NOT NULL`)
	m.wantCount(t, 0, `SELECT count(*) FROM attempts a JOIN deliveries d ON d.id = a.delivery_id WHERE a.n > d.attempts`)
	m.mu.Lock()
	defer m.mu.Unlock()
	for sent, n := range m.sent {
		if n > 1 {
			t.Errorf("attempt %s was sent %d times", sent, n)
		}
	}
	t.Logf("%d operations, %d attempts sent, %d unknown, %d deliveries handed on", m.count(t, `SELECT count(*) FROM operations`), len(m.sent),
		m.count(t, `SELECT count(*) FROM attempts WHERE outcome = 'unknown'`), m.count(t, `SELECT count(*) FROM deliveries WHERE failover_of IS NOT NULL`))
}
