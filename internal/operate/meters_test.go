package operate_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/store"
)

var metersSeed = flag.Uint64("meters.seed", 0, "run TestMeters with this seed")

const (
	// meterEvents is how many events come in, meterWave at once.
	meterEvents = 10_000
	meterWave   = 200
	// refusedCommits: a commit is refused with one of so many events that it decides
	// or attempts that it records.
	refusedCommits = 199
)

// TestMeters has ten thousand events taken in, decided and delivered by two
// nodes while nothing goes well: senders repeat themselves, commits are refused
// or their answers lost, connections are killed, nodes lose the database between
// a send and its record, and people send again, cancel and recover. Whatever was
// decided and confirmed in the end is what the meters say.
func TestMeters(t *testing.T) {
	t.Parallel()
	seed := *metersSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("go test ./internal/operate -run TestMeters -meters.seed %d", seed)
	m := newMetered(t, seed)
	for wave := range meterEvents / meterWave {
		m.comeIn(t, wave)
		m.decideSome(t)
		m.happens(t, wave)
	}
	m.settle(t)
	m.wantAdversity(t)
	m.wantDecided(t)
	m.wantDelivered(t)
	m.wantDays(t)
}

// happens has what is no event's doing happen, each now and then.
func (m *metered) happens(t *testing.T, wave int) {
	t.Helper()
	switch wave % 5 {
	case 1:
		m.loseNode(t)
	case 2:
		m.people(t)
	case 3:
		m.pauseOrResume(t)
	case 4:
		m.timePasses(t)
	}
	if wave%15 == 10 {
		m.recoverAll(t)
	}
	m.runOperations(t, 20*time.Millisecond)
}

// people do what can be done to single deliveries and events.
func (m *metered) people(t *testing.T) {
	t.Helper()
	// What was cancelled in the air is not sent again, so that its last attempt
	// still tells that it was.
	const neverCancelled = `NOT EXISTS (SELECT FROM deliveries c WHERE c.event_id = d.event_id AND c.status = 'cancelled')`
	for _, id := range some[gateway.DeliveryID](t, m, `SELECT d.id FROM deliveries d WHERE status IN ('failed', 'delivered', 'pending') AND `+neverCancelled) {
		m.press(t, func(n *meterNode) error {
			_, err := n.deliver.Redeliver(t.Context(), m.account, actor, id, nil, "")
			return err
		})
	}
	for _, id := range some[gateway.EventID](t, m, `SELECT DISTINCT d.event_id FROM deliveries d WHERE `+neverCancelled) {
		m.press(t, func(n *meterNode) error {
			_, err := n.deliver.RedeliverEvent(t.Context(), m.account, actor, id, nil)
			return err
		})
	}
	for _, id := range some[gateway.DeliveryID](t, m, `SELECT id FROM deliveries WHERE status IN ('pending', 'sending') AND last_outcome IS DISTINCT FROM 'succeeded'`) {
		m.press(t, func(n *meterNode) error {
			_, err := n.deliver.Cancel(t.Context(), m.account, actor, id)
			return err
		})
	}
	for _, id := range some[gateway.EventID](t, m, `SELECT id FROM events WHERE status IN ('no_endpoints', 'unresolved')`) {
		m.press(t, func(n *meterNode) error { return n.decide.Reprocess(t.Context(), m.account, actor, id) })
	}
}

// pressed is how many things people do at once.
const pressed = 4

// some are a few of the ids that a query finds, the same for the same seed as
// far as the ids are.
func some[I ~[16]byte](t *testing.T, m *metered, query string) []I {
	t.Helper()
	rows, err := m.pool.Query(t.Context(), `SELECT id FROM (`+query+`) q (id) ORDER BY md5(id::text || $1) LIMIT $2`, fmt.Sprint(m.random.Uint64()), pressed)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[I])
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// press does what a person does, who may be too late for it.
func (m *metered) press(t *testing.T, do func(*meterNode) error) {
	t.Helper()
	if err := do(m.anyNode()); err != nil && !expected(err) && !errors.Is(err, gateway.ErrClaimDone) && !errors.Is(err, gateway.ErrClaimInProgress) && !m.isTrouble(err) {
		t.Error(err)
	}
}

// pauseOrResume has a source hold its events for a while.
func (m *metered) pauseOrResume(t *testing.T) {
	t.Helper()
	do := m.sources.Pause
	if m.paused {
		do = m.sources.Resume
	}
	m.paused = !m.paused
	if _, err := do(t.Context(), m.account, actor, m.pausing.ID); err != nil {
		t.Error(err)
	}
}

// timePasses has leases end, and what waits for a time be due.
func (m *metered) timePasses(t *testing.T) {
	t.Helper()
	m.exec(t, `UPDATE events SET wait_until = now(), decide_after = now() WHERE status = 'accepted' AND wait_until > now()`)
	m.exec(t, `
		UPDATE claims
		SET lease_expires_at = clock_timestamp()
		WHERE id IN (SELECT id FROM claims WHERE state = 'in_progress' ORDER BY id FOR UPDATE SKIP LOCKED)`)
	m.exec(t, `
		UPDATE deliveries
		SET next_attempt_at = now()
		WHERE status = 'pending'
		  AND next_attempt_at IS NOT NULL
		  AND waiting_on IS NOT NULL
		  AND id IN (SELECT id FROM deliveries WHERE waiting_on IS NOT NULL ORDER BY id FOR UPDATE SKIP LOCKED)`)
	m.exec(t, `UPDATE operations SET leased_until = NULL, next_run_at = now() WHERE next_run_at IS NOT NULL`) // nobody is at them
	m.exec(t, `UPDATE lanes SET wake_at = now(), sleep_until = NULL WHERE endpoint_id IN (SELECT endpoint_id FROM lanes ORDER BY 1 FOR UPDATE SKIP LOCKED)`)
	if err := m.anyNode().deliver.RepairTurns(t.Context()); err != nil && !m.isTrouble(err) {
		t.Error(err)
	}
}

// recoverAll opens again what failed, at each endpoint.
func (m *metered) recoverAll(t *testing.T) {
	t.Helper()
	for _, e := range m.endpoints {
		m.press(t, func(n *meterNode) error {
			_, err := n.operate.Start(t.Context(), m.account, actor, m.recovery(e))
			return err
		})
	}
	m.press(t, func(n *meterNode) error {
		_, err := n.operate.Start(t.Context(), m.account, actor, operate.Request{
			Kind: gateway.OperationReprocess, Filter: gateway.OperationFilter{EventStatus: gateway.EventNoEndpoints, Since: m.hourAgo()},
		})
		return err
	})
}

// settle has everything come to its end: the receivers confirm what they get.
func (m *metered) settle(t *testing.T) {
	t.Helper()
	m.far.heal()
	if m.paused {
		m.pauseOrResume(t)
	}
	m.recoverAll(t)
	const open = `
		SELECT (SELECT count(*) FROM deliveries WHERE status IN ('pending', 'sending'))
		     + (SELECT count(*) FROM events WHERE status IN ('accepted', 'held'))
		     + (SELECT count(*) FROM operations WHERE next_run_at IS NOT NULL)`
	until(t, "everything comes to its end", func() bool {
		m.timePasses(t)
		m.decideSome(t)
		m.runOperations(t, time.Second) // a busy machine makes no step in less
		return m.count(t, open) == 0
	})
}

// wantAdversity fails unless everything happened that may lead a meter astray.
func (m *metered) wantAdversity(t *testing.T) {
	t.Helper()
	m.wantCount(t, meterEvents, `SELECT count(*) FROM events WHERE type NOT LIKE 'rowlock.%'`)
	for what, query := range map[string]string{
		"repeats":                 `SELECT count(*) FROM requests WHERE cause = 'duplicate'`,
		"duplicate facts":         `SELECT count(*) FROM events WHERE status = 'duplicate_fact'`,
		"stale facts":             `SELECT count(*) FROM events WHERE status = 'stale_fact'`,
		"ignored events":          `SELECT count(*) FROM events WHERE status = 'ignored'`,
		"events for nobody":       `SELECT count(*) FROM events WHERE status = 'no_endpoints'`,
		"unresolved events":       `SELECT count(*) FROM events WHERE status = 'unresolved'`,
		"decided again":           `SELECT count(*) FROM events WHERE decisions > 1`,
		"suppressed deliveries":   `SELECT count(*) FROM deliveries WHERE status = 'suppressed'`,
		"cancelled deliveries":    `SELECT count(*) FROM deliveries WHERE status = 'cancelled'`,
		"unknown attempts":        `SELECT count(*) FROM attempts WHERE outcome = 'unknown'`,
		"rejected attempts":       `SELECT count(*) FROM attempts WHERE outcome = 'rejected'`,
		"unanswered attempts":     `SELECT count(*) FROM attempts WHERE outcome = 'unreachable'`,
		"sent again by people":    `SELECT count(*) FROM attempts WHERE trigger = 'manual'`,
		"sent again by recovery":  `SELECT count(*) FROM attempts WHERE trigger = 'recover'`,
		"confirmed twice":         `SELECT count(*) FROM (SELECT FROM attempts WHERE outcome = 'succeeded' GROUP BY delivery_id HAVING count(*) > 1) d`,
		"refused commits":         fmt.Sprintf(`SELECT last_value / %d FROM metered_commits`, refusedCommits),
		"lost answers to commits": fmt.Sprintf(`SELECT %d`, m.lostAnswers()),
		"killed connections":      fmt.Sprintf(`SELECT %d`, m.killed),
		"nodes without database":  fmt.Sprintf(`SELECT %d`, m.lostNodes),
	} {
		n := m.count(t, query)
		t.Logf("%s: %d", what, n)
		if n == 0 {
			t.Errorf("no %s", what)
		}
	}
}

// amount is how many there are, or a meter says, and how large they are together.
type amount struct{ N, Bytes int64 }

// amounts reads them by what they are of.
func amounts[K comparable](t *testing.T, m *metered, query string, args ...any) map[K]amount {
	t.Helper()
	rows, err := m.pool.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	all := map[K]amount{}
	var key K
	var a amount
	_, err = pgx.ForEachRow(rows, []any{&key, &a.N, &a.Bytes}, func() error {
		all[key] = a
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wantDecided compares the meter of events with the events and their bodies.
func (m *metered) wantDecided(t *testing.T) {
	t.Helper()
	there := amounts[gateway.SourceID](t, m, `
		SELECT e.source_id, count(*), sum(octet_length(b.body))::bigint
		FROM events e
		JOIN event_bodies b USING (id)
		GROUP BY 1`)
	metered := amounts[gateway.SourceID](t, m, `
		SELECT source_id, sum(events)::bigint, sum(bytes)::bigint
		FROM usage
		GROUP BY 1`)
	if diff := cmp.Diff(there, metered); diff != "" {
		t.Errorf("decided events, by source (-there +metered): %s", diff)
	}
}

// confirmed are the attempts that confirmed their delivery: not one that was in
// the air when its delivery was cancelled, which is the last of it.
const confirmed = `
	FROM attempts a
	JOIN deliveries d ON d.id = a.delivery_id
	WHERE a.outcome = 'succeeded'
	  AND NOT (d.status = 'cancelled' AND d.attempts = a.n)`

// wantDelivered compares the meter of deliveries with the attempts, span by span.
func (m *metered) wantDelivered(t *testing.T) {
	t.Helper()
	there := amounts[gateway.EndpointID](t, m, `SELECT a.endpoint_id, count(*), 0`+confirmed+` GROUP BY 1`)
	for _, span := range []int{1, 15, 120} {
		metered := amounts[gateway.EndpointID](t, m, `
			SELECT endpoint_id, sum(succeeded)::bigint, 0
			FROM rollups
			WHERE span = $1
			GROUP BY 1`, span)
		if diff := cmp.Diff(there, metered); diff != "" {
			t.Errorf("confirmed deliveries, by endpoint, metered by %d minutes (-there +metered): %s", span, diff)
		}
	}
}

// wantDays compares what people are shown with what there is.
func (m *metered) wantDays(t *testing.T) {
	t.Helper()
	const day = 24 * time.Hour
	today := m.clock.Now().UTC().Truncate(day)
	days, err := m.store.UsageByDay(t.Context(), m.account, today.Add(-day), today.Add(day)) // midnight may have passed
	if err != nil {
		t.Fatal(err)
	}
	var shown store.UsageDay
	for _, d := range days {
		shown.Events += d.Events
		shown.Bytes += d.Bytes
		shown.Deliveries += d.Deliveries
	}
	there := store.UsageDay{
		Usage: store.Usage{
			Events: int64(m.count(t, `SELECT count(*) FROM events`)),
			Bytes:  int64(m.count(t, `SELECT sum(octet_length(body)) FROM event_bodies`)),
		},
		Deliveries: int64(m.count(t, `SELECT count(*)`+confirmed)),
	}
	if diff := cmp.Diff(there, shown); diff != "" {
		t.Errorf("usage (-there +shown): %s", diff)
	}
	t.Logf("%d events, %d deliveries confirmed", shown.Events, shown.Deliveries)
}
