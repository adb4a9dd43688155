package operate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/internal/store"
)

// metered are two nodes that take in what a seed draws.
type metered struct {
	*bundle

	seed      uint64
	random    *rand.Rand
	nodes     []*meterNode
	far       *fickle
	sources   *source.Service
	endpoints []gateway.EndpointID
	// carrier reports facts, doubter those of subjects that somebody else has told
	// of, and pausing holds its events now and then.
	carrier, doubter, pausing gateway.Source
	paused                    bool

	killed, lostNodes int
}

// meterNode is a node whose connections to the database can fail.
type meterNode struct {
	name    string
	wire    *pgtest.Wire
	accept  *accept.Service
	decide  *decide.Service
	deliver *deliver.Service
	operate *operate.Service
}

const (
	meterOrder  = "order.created"
	meterFact   = "phone.verified"
	meterNobody = "nobody.asks"
	// meterBatch is how many events are decided at once, at the most.
	meterBatch = 200
)

func newMetered(t *testing.T, seed uint64) *metered {
	t.Helper()
	m := &metered{bundle: newBundle(t), seed: seed, random: rand.New(rand.NewPCG(seed, 0)), far: newFickle(t, seed)}
	m.sources = source.New(source.Options{Store: m.store, Clock: m.clock, Changed: func() {}})
	m.in(t, func(tx store.Tx) error {
		_, err := tx.CreateEventType(t.Context(), m.account, gateway.EventType{Name: meterFact, SingleFire: true, OnDoubt: gateway.OnDoubtResend}, gateway.MaxEventTypes)
		return err
	})
	rule := gateway.Rule{
		Key: "body.id", Subject: "body.about", State: "body.state", Emit: `body.state == "noise" ? null : "message." + body.state`,
		Terminal: []string{"delivered", "failed"},
	}
	m.carrier = m.newSource(t, "carrier", rule)
	m.pausing = m.newSource(t, "pausing", gateway.Rule{Key: "body.id", Type: `"` + meterOrder + `"`})
	rule.RequiresExisting = true
	m.doubter = m.newSource(t, "doubter", rule)
	for i, types := range [][]string{{"message.*"}, {meterOrder}, {meterOrder, meterFact}} {
		m.endpoints = append(m.endpoints, m.endpoint(t, fmt.Sprintf("%s/%d", m.far.URL, i), types...))
	}
	m.exec(t, `UPDATE endpoints SET retry_schedule_ms = '{5,5}'`)
	m.refuseCommits(t)
	for i := range 2 {
		m.nodes = append(m.nodes, m.newNode(t, fmt.Sprint("node-", i)))
	}
	return m
}

func (m *metered) newSource(t *testing.T, name string, rule gateway.Rule) (s gateway.Source) {
	t.Helper()
	m.in(t, func(tx store.Tx) (err error) {
		id := gateway.SourceID(m.clock.NewID())
		if s, err = tx.CreateSource(t.Context(), m.account, gateway.Source{ID: id, Name: name, Kind: "none", Token: id.String()}); err == nil {
			s, err = tx.SetSourceRule(t.Context(), m.account, id, &rule)
		}
		return err
	})
	return s
}

// refuseCommits has some of the commits that decide or record refused at their
// very end: by turns with a fault of the database, and with one of the
// transaction.
func (m *metered) refuseCommits(t *testing.T) {
	t.Helper()
	m.exec(t, `CREATE SEQUENCE metered_commits`)
	m.exec(t, fmt.Sprintf(`
		CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS $$
		DECLARE
			n bigint := nextval('metered_commits');
		BEGIN
			IF n %% %[1]d = 0 THEN
				RAISE EXCEPTION 'this commit is refused' USING ERRCODE = CASE WHEN n %% (2 * %[1]d) = 0 THEN '40001' ELSE 'P0001' END;
			END IF;
			RETURN NULL;
		END $$`, refusedCommits))
	for table, status := range map[string]string{"events": "accepted", "deliveries": "sending"} {
		m.exec(t, `
			CREATE CONSTRAINT TRIGGER refuse_commit AFTER UPDATE ON `+table+`
			DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW WHEN (OLD.status = '`+status+`' AND NEW.status <> OLD.status) EXECUTE FUNCTION refuse_commit()`)
	}
}

// isTrouble tells that the database, or the way to it, failed.
func (m *metered) isTrouble(err error) bool {
	return errors.Is(err, gateway.ErrUnavailable) || errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "this commit is refused")
}

func (m *metered) newNode(t *testing.T, name string) *meterNode {
	t.Helper()
	n := &meterNode{name: name}
	var database string
	n.wire, database = pgtest.NewWire(t, m.pool.Config().ConnString())
	pool, err := store.Connect(t.Context(), database, poolSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	log := slog.New(slog.DiscardHandler)
	s, err := store.New(pool, m.sealer, log)
	if err != nil {
		t.Fatal(err)
	}
	out := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(out.CloseIdle)
	n.deliver = deliver.New(deliver.Options{
		Store: s, Clock: m.clock, Log: log, Egress: out, Node: name, Workers: 64, Timeout: patience, DisableAfter: 1000, UserAgent: name,
	})
	n.decide = decide.New(decide.Options{Store: s, Clock: m.clock, Log: log, Node: name, Wake: n.deliver.Wake})
	n.operate = operate.New(operate.Options{Store: s, Clock: m.clock, Wake: n.deliver.Wake})
	n.accept = accept.New(accept.Options{Store: s, Clock: m.clock, Log: log})
	m.exec(t, `INSERT INTO nodes VALUES ($1, now() + interval '1 hour', now() - interval '1 hour', now(), '', '')`, name)
	pgtest.Background(t, n.accept.Run)
	pgtest.Background(t, n.deliver.Run)
	pgtest.Background(t, n.look)
	return n
}

// look is what a node does by itself every now and then.
func (n *meterNode) look(ctx context.Context) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_, _ = n.deliver.RingAlarms(ctx)
			_, _ = n.deliver.RepairLanes(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (m *metered) anyNode() *meterNode { return m.nodes[m.random.IntN(len(m.nodes))] }

func (m *metered) lostAnswers() (n int) {
	for _, node := range m.nodes {
		n += node.wire.Lost()
	}
	return n
}

// arrival is an event that comes in; the same again whenever it is sent again.
type arrival struct {
	source *gateway.Source // nil for one that is published
	in     accept.PublishInput
	body   []byte
}

// arrival draws the nth.
func (m *metered) arrival(n int) arrival {
	random := rand.New(rand.NewPCG(m.seed, uint64(n)+1))
	key := fmt.Sprint("k", n)
	about := fmt.Sprint("m", n/80-random.IntN(3))
	state := []string{"queued", "sent", "delivered", "failed", "noise"}[random.IntN(5)]
	body := fmt.Appendf(nil, `{"n":%d,"id":%q,"about":%q,"state":%q,"more":%q}`, n, key, about, state, strings.Repeat("x", random.IntN(100)))
	publish := func(eventType string) arrival {
		return arrival{in: accept.PublishInput{Type: eventType, Subject: &about, Key: []byte(key), Data: body}}
	}
	switch draw := random.IntN(100); {
	case draw < 40:
		return arrival{source: &m.carrier, body: body}
	case draw < 50:
		if random.IntN(5) == 0 {
			body = bytes.ReplaceAll(body, []byte(about), []byte("nobody knows "+about))
		}
		return arrival{source: &m.doubter, body: body}
	case draw < 60:
		return arrival{source: &m.pausing, body: body}
	case draw < 70:
		return publish(meterNobody)
	case draw < 85:
		return publish(meterFact)
	}
	return publish(meterOrder)
}

// comeIn has a wave of events come in, some of them twice at once, and some of
// those of earlier waves again. Whoever gets no answer sends again.
func (m *metered) comeIn(t *testing.T, wave int) {
	t.Helper()
	var all []int
	for i := range meterWave {
		n := wave*meterWave + i
		all = append(all, n)
		if m.random.IntN(10) == 0 {
			all = append(all, n, m.random.IntN(n+1))
		}
	}
	nodes := make([]*meterNode, len(all))
	for i := range nodes {
		nodes[i] = m.anyNode()
	}
	if m.random.IntN(4) == 0 {
		m.anyNode().wire.LoseCommit()
	}
	pgtest.AtOnce(len(all), func(i int) {
		for {
			err := nodes[i].take(t.Context(), m.account, m.arrival(all[i]))
			if err == nil {
				return
			}
			if !m.isTrouble(err) {
				t.Errorf("arrival %d: %v", all[i], err)
				return
			}
		}
	})
}

func (n *meterNode) take(ctx context.Context, account gateway.AccountID, a arrival) error {
	if a.source == nil {
		_, err := n.accept.Publish(ctx, account, gateway.APIKey{}, a.in)
		return err
	}
	_, err := n.accept.Receive(ctx, accept.Incoming{Token: a.source.Token, Method: http.MethodPost, Header: http.Header{}, Body: a.body})
	return err
}

// decideSome decides what waits for it, as the queue's workers do, while one
// thing or another goes wrong; what fails is left to the next time.
func (m *metered) decideSome(t *testing.T) {
	t.Helper()
	rows, err := m.pool.Query(t.Context(), `
		SELECT id
		FROM events
		WHERE status = 'accepted'
		  AND (wait_until IS NULL OR wait_until <= now())
		ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := pgx.CollectRows(rows, pgx.RowTo[gateway.EventID])
	if err != nil {
		t.Fatal(err)
	}
	for len(waiting) > 0 {
		n := min(len(waiting), 1+m.random.IntN(meterBatch))
		m.decideBatch(t, waiting[:n])
		waiting = waiting[n:]
	}
}

// decideBatch decides a batch on one node, or on both at once.
func (m *metered) decideBatch(t *testing.T, ids []gateway.EventID) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	node, times, fault := m.anyNode(), 1, m.random.IntN(6)
	gaveUp := time.Duration(m.random.IntN(20)) * time.Millisecond
	switch fault {
	case 0:
		node.wire.LoseCommit()
	case 1, 2:
		times = 2 * len(m.nodes)
	case 3:
		defer time.AfterFunc(gaveUp, cancel).Stop()
	}
	var deciding sync.WaitGroup
	for i := range times {
		n := node
		if times > 1 {
			n = m.nodes[i%len(m.nodes)]
		}
		deciding.Go(func() {
			if err := n.decide.Process(ctx, ids); err != nil && !m.isTrouble(err) {
				t.Errorf("decide: %v", err)
			}
		})
	}
	if fault == 4 {
		m.kill(t)
	}
	deciding.Wait()
}

// kill ends connections that are at work.
func (m *metered) kill(t *testing.T) {
	t.Helper()
	m.killed += m.count(t, `
		SELECT count(pg_terminate_backend(pid))
		FROM pg_stat_activity
		WHERE datname = current_database()
		  AND application_name = 'rowlock'
		  AND state <> 'idle'
		  AND pid <> pg_backend_pid()`)
}

// loseNode takes the database away from a node that has sent something and not
// recorded it, until another has taken its lanes over. What it comes back with
// then is late.
func (m *metered) loseNode(t *testing.T) {
	t.Helper()
	name, answer := m.far.hold()
	defer answer()
	if name == "" {
		return // nothing is sent
	}
	for _, n := range m.nodes {
		if n.name != name {
			continue
		}
		m.lostNodes++
		n.wire.Cut()
		defer n.wire.Mend()
		answer()
		const held = `SELECT count(*) FROM lanes WHERE node = $1 AND leased_until IS NOT NULL`
		until(t, "the other node has the lanes", func() bool {
			m.exec(t, `UPDATE lanes SET leased_until = clock_timestamp() - interval '1 ms', wake_at = now() WHERE node = $1 AND leased_until IS NOT NULL`, name)
			return m.count(t, held, name) == 0
		})
	}
}

// runOperations works on what was asked for, on both nodes at once, each for so long
// or a little longer: it ends in the middle of a step, if that is short.
func (m *metered) runOperations(t *testing.T, each time.Duration) {
	t.Helper()
	for _, id := range some[gateway.OperationID](t, m, `SELECT id FROM operations WHERE next_run_at IS NOT NULL`) {
		ctx, stop := context.WithTimeout(t.Context(), each+time.Duration(m.random.IntN(60))*time.Millisecond)
		pgtest.AtOnce(len(m.nodes), func(i int) {
			if err := m.nodes[i].operate.Run(ctx, m.account, id); err != nil && !m.isTrouble(err) && ctx.Err() == nil {
				t.Errorf("operation: %v", err)
			}
		})
		stop()
	}
}

// fickle is a far side that answers as a seed draws: well, or not at first, or
// never until it is healed.
type fickle struct {
	*httptest.Server

	seed uint64

	mu     sync.Mutex
	healed bool
	// gate is closed when those that are held may be answered; nil for not held.
	gate chan struct{}
	// asked gets who sent what is held.
	asked chan string
}

func newFickle(t *testing.T, seed uint64) *fickle {
	t.Helper()
	f := &fickle{seed: seed, asked: make(chan string, 1)}
	f.Server = httptest.NewServer(http.HandlerFunc(f.answer))
	t.Cleanup(f.Close)
	return f
}

func (f *fickle) heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.healed = true
}

// holdTime is how long it is waited for somebody who sends.
const holdTime = 200 * time.Millisecond

// hold has what comes from now on wait for answer, and returns who sent the
// first of it; empty for nobody.
func (f *fickle) hold() (name string, answer func()) {
	gate := make(chan struct{})
	f.mu.Lock()
	f.gate = gate
	f.mu.Unlock()
	answer = sync.OnceFunc(func() {
		f.mu.Lock()
		f.gate = nil
		f.mu.Unlock()
		close(gate)
		select {
		case <-f.asked:
		default:
		}
	})
	select {
	case name = <-f.asked:
	case <-time.After(holdTime):
	}
	return name, answer
}

func (f *fickle) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // who sent it is gone
	}
	f.mu.Lock()
	gate, healed := f.gate, f.healed
	f.mu.Unlock()
	if gate != nil {
		select {
		case f.asked <- r.UserAgent():
		default:
		}
		<-gate
	}
	if !healed {
		w.WriteHeader(f.status(r, body))
	}
}

// status is what an attempt is answered with.
func (f *fickle) status(r *http.Request, body []byte) int {
	_, text, _ := strings.Cut(string(body), `"n":`)
	text, _, _ = strings.Cut(text, ",")
	n, _ := strconv.ParseUint(text, 10, 32)                     // an own event has none
	attempt, _ := strconv.Atoi(r.Header.Get("Rowlock-Attempt")) // and none is none
	random := rand.New(rand.NewPCG(f.seed^n, uint64(len(r.URL.Path)+int(r.URL.Path[len(r.URL.Path)-1]))))
	switch failing := []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 5, 5, 1000}[random.IntN(20)]; {
	case attempt > failing:
		return http.StatusOK
	case random.IntN(20) == 0:
		panic(http.ErrAbortHandler) // no answer
	default:
		return http.StatusBadRequest
	}
}
