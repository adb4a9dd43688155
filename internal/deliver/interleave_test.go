package deliver_test

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

var interleaveSeed = flag.Uint64("interleave.seed", 0, "run TestInterleavings with this seed alone")

const (
	// worlds, each with so many keys: a key's history is one interleaving.
	worlds    = 5
	worldKeys = 2000
	// stepsPerKey is how many things happen in a world for each of its keys.
	stepsPerKey = 24
	worldLanes  = 5
	// worldBatch is how many deliveries of a lane are taken and recorded at once.
	worldBatch = 96
	// pressed is how many things people do at once.
	pressed = 4
)

// TestInterleavings lets claim, send, crash, release, retry, reclaim, resolve,
// redeliver and cancel happen in any order to many facts at once, and looks that
// no fact is confirmed twice, and that none which somebody waits for is left
// without a holder, a turn, or a person who is asked.
func TestInterleavings(t *testing.T) {
	t.Parallel()
	if *interleaveSeed != 0 {
		runWorld(t, *interleaveSeed)
		return
	}
	for range worlds {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			runWorld(t, seed)
		})
	}
}

func runWorld(t *testing.T, seed uint64) {
	t.Helper()
	t.Logf("go test ./internal/deliver -run TestInterleavings -interleave.seed %d", seed)
	w := newWorld(t, seed)
	for range worldKeys * stepsPerKey / worldBatch {
		w.step(t)
	}
	w.check(t)
	w.settle(t)
}

// world is many facts on their way to a few endpoints. Nobody sends: what would
// happen in the air is drawn.
type world struct {
	*bundle
	random *rand.Rand
	people *deliver.Service
	lanes  []*worldLane
}

// worldLane is a lane as its holder knows it.
type worldLane struct {
	endpoint gateway.Endpoint
	lane     store.Lane
	held     bool
	inAir    []store.Taken
	// lost is what was in the air when a holder died.
	lost []store.Taken
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	b := newBundle(t)
	w := &world{bundle: b, random: rand.New(rand.NewPCG(seed, 1))}
	w.people = deliver.New(deliver.Options{Store: b.store, Clock: b.clock, Log: slog.New(slog.DiscardHandler), Node: "people"})
	doubt := []gateway.OnDoubt{gateway.OnDoubtResend, gateway.OnDoubtHold}[w.random.IntN(2)]
	b.singleFire(t, doubt)
	at := b.clock.Now()
	for range worldLanes {
		w.lanes = append(w.lanes, &worldLane{endpoint: b.endpoint(t, "https://example.com", func(e *gateway.Endpoint) { e.ID = drawID[gateway.EndpointID](w, at) })})
	}
	source := w.source(t)
	var events []store.NewEvent
	var deliveries []store.NewDelivery
	for key := range worldKeys {
		for range 1 + w.random.IntN(3) {
			id, about := drawID[gateway.EventID](w, at), fmt.Sprint("customer-", key)
			events = append(events, store.NewEvent{
				Event: gateway.Event{ID: id, AccountID: b.account, SourceID: source, Type: fact, Subject: &about, Status: gateway.EventProcessed},
				Body:  gateway.Body{Method: "POST", Data: []byte(`{}`)},
			})
			deliveries = append(deliveries, store.NewDelivery{AccountID: b.account, EventID: id, EndpointID: w.lanes[key%worldLanes].endpoint.ID})
		}
	}
	b.in(t, func(tx store.Tx) error {
		if err := tx.InsertEvents(t.Context(), events); err != nil {
			return err
		}
		_, err := tx.InsertDeliveries(t.Context(), deliveries)
		return err
	})
	return w
}

// drawID draws an id of a time: the same for the same seed, but for the time.
func drawID[I ~[16]byte](w *world, at time.Time) I {
	id := [16]byte(gateway.FirstIDAt[I](at))
	binary.BigEndian.PutUint64(id[8:], w.random.Uint64()>>2|1<<63)
	id[6], id[7] = 0x70, byte(w.random.Uint32())
	return I(id)
}

func (w *world) source(t *testing.T) (id gateway.SourceID) {
	t.Helper()
	w.in(t, func(tx store.Tx) (err error) {
		id, err = tx.APISource(t.Context(), w.account)
		return err
	})
	return id
}

// step is one thing that happens.
func (w *world) step(t *testing.T) {
	t.Helper()
	lane := w.lanes[w.random.IntN(len(w.lanes))]
	switch n := w.random.IntN(100); {
	case n < 40:
		w.take(t, lane)
	case n < 70:
		w.record(t, lane)
	case n < 78:
		w.crash(t, lane)
	case n < 81:
		w.haunt(t, lane)
	case n < 84:
		w.leasesEnd(t)
	case n < 98:
		for range pressed {
			w.act(t, n)
		}
	default:
		w.look(t)
	}
}

// act is one thing that a person does.
func (w *world) act(t *testing.T, n int) {
	t.Helper()
	switch {
	case n < 88:
		w.stepIn(t, `state = 'in_progress'`, func(c gateway.Claim) error {
			_, err := w.ledger().Reclaim(t.Context(), w.account, actor, c.ID, c.Fence, "why not")
			return err
		})
	case n < 90:
		w.stepIn(t, `state <> 'done'`, func(c gateway.Claim) error {
			_, err := w.ledger().Resolve(t.Context(), w.account, actor, c.ID, c.Fence, "it is done")
			return err
		})
	case n < 95:
		w.press(t, func(id gateway.DeliveryID) error {
			_, err := w.people.Redeliver(t.Context(), w.account, actor, id, nil, "")
			return err
		})
	default:
		w.press(t, func(id gateway.DeliveryID) error {
			_, err := w.people.Cancel(t.Context(), w.account, actor, id)
			return err
		})
	}
}

// take takes what is due at a lane, as whoever holds it does.
func (w *world) take(t *testing.T, l *worldLane) {
	t.Helper()
	if !l.held && !w.acquire(t, l) {
		return
	}
	w.in(t, func(tx store.Tx) error {
		if mine, err := tx.ExtendLane(t.Context(), l.lane); err != nil || !mine {
			return errors.Join(err, errors.New("the lane was lost"))
		}
		taken, err := tx.TakeDue(t.Context(), l.lane, 1+w.random.IntN(worldBatch))
		if err != nil || len(taken) == 0 {
			return err
		}
		wanted := make([]store.WantedClaim, len(taken))
		for i, d := range taken {
			wanted[i] = store.WantedClaim{
				Delivery: d.ID, ID: gateway.ClaimID(w.clock.NewID()), Scope: l.endpoint.ID, EventType: d.EventType, Subject: d.Subject, OnDoubt: d.OnDoubt,
			}
		}
		won, err := tx.ClaimTaken(t.Context(), l.lane, wanted, time.Hour)
		for i := range won {
			for _, d := range taken {
				if d.ID == won[i].Delivery {
					d.Claim = &won[i]
					l.inAir = append(l.inAir, d)
				}
			}
		}
		return err
	})
}

func (w *world) acquire(t *testing.T, l *worldLane) bool {
	t.Helper()
	node := fmt.Sprint("n", w.random.Uint64())
	w.exec(t, `INSERT INTO nodes VALUES ($1, now() + interval '1 hour', now() - interval '1 hour', now(), '', '')`, node)
	var err error
	l.lane, l.held, err = w.store.AcquireLane(t.Context(), w.account, l.endpoint.ID, node)
	if err != nil {
		t.Fatal(err)
	}
	if l.held && l.lane.Inherited {
		w.in(t, func(tx store.Tx) error {
			_, err := tx.TakeOver(t.Context(), l.lane)
			return err
		})
	}
	return l.held
}

// record has some of what is in the air answered: well, or not, or for good not.
func (w *world) record(t *testing.T, l *worldLane) {
	t.Helper()
	n := min(len(l.inAir), 1+w.random.IntN(worldBatch))
	if n == 0 {
		return
	}
	var results []store.Result
	var ends []store.ClaimEnd
	for _, d := range l.inAir[:n] {
		r := store.Result{
			Attempt: gateway.Attempt{DeliveryID: d.ID, N: d.N, AccountID: w.account, EndpointID: l.endpoint.ID, EventID: d.EventID, Trigger: d.Trigger, StartedAt: w.clock.Now()},
			Status:  gateway.DeliveryDelivered,
		}
		r.Attempt.Outcome = []gateway.Outcome{gateway.OutcomeSucceeded, gateway.OutcomeRejected, gateway.OutcomeUnreachable}[w.random.IntN(3)]
		if r.Attempt.Outcome != gateway.OutcomeSucceeded {
			r.Status = gateway.DeliveryFailed
			if w.random.IntN(3) > 0 {
				r.Status, r.NextAttemptAt = gateway.DeliveryPending, w.clock.Now()
			}
		}
		results = append(results, r)
		ends = append(ends, store.ClaimEnd{ID: d.Claim.ID, Fence: d.Claim.Fence, Done: r.Attempt.Outcome == gateway.OutcomeSucceeded})
	}
	w.in(t, func(tx store.Tx) error {
		if mine, err := tx.ExtendLane(t.Context(), l.lane); err != nil || !mine {
			return errors.Join(err, errors.New("the lane was lost"))
		}
		if _, err := tx.Record(t.Context(), l.lane, results); err != nil {
			return err
		}
		return tx.EndClaims(t.Context(), w.account, ends)
	})
	l.inAir = l.inAir[n:]
}

// crash has the lane's holder die with what it has in the air.
func (w *world) crash(t *testing.T, l *worldLane) {
	t.Helper()
	if l.held {
		if err := w.store.AbandonLane(t.Context(), l.lane); err != nil {
			t.Fatal(err)
		}
	}
	l.held, l.inAir, l.lost = false, nil, append(l.lost, l.inAir...)
}

// haunt has a holder that was taken for dead end the claims that it had. It may
// do so as long as nobody else has claimed them, and changes nothing of others.
func (w *world) haunt(t *testing.T, l *worldLane) {
	t.Helper()
	var ends []store.ClaimEnd
	var others []gateway.Claim
	stale := w.random.IntN(2) == 0 // or those that nobody has claimed since
	for _, d := range l.lost {
		c := w.claimNow(t, d.Claim.ID)
		if stale != (c.Fence != d.Claim.Fence) {
			continue
		}
		ends = append(ends, store.ClaimEnd{ID: d.Claim.ID, Fence: d.Claim.Fence, Done: w.random.IntN(2) == 0})
		if stale {
			others = append(others, c)
		}
	}
	l.lost = nil
	w.in(t, func(tx store.Tx) error { return tx.EndClaims(t.Context(), w.account, ends) })
	for _, before := range others {
		if c := w.claimNow(t, before.ID); c.State != before.State {
			t.Errorf("a holder that was taken for dead made %s of %s", c.State, before.State)
		}
	}
}

func (w *world) claimNow(t *testing.T, id gateway.ClaimID) gateway.Claim {
	t.Helper()
	c, err := w.store.Claim(t.Context(), w.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// leasesEnd has time pass: some leases end, and whoever waits for that is due.
func (w *world) leasesEnd(t *testing.T) {
	t.Helper()
	w.exec(t, `
		UPDATE claims
		SET lease_expires_at = clock_timestamp() - interval '1 second'
		WHERE id IN (
			SELECT id
			FROM claims
			WHERE state = 'in_progress'
			  AND get_byte(key_hash, 0) % 4 = $1
			FOR UPDATE SKIP LOCKED)`, w.random.IntN(4))
	w.exec(t, `
		UPDATE deliveries
		SET next_attempt_at = now()
		WHERE id IN (
			SELECT d.id
			FROM deliveries d
			JOIN claims c ON c.id = d.waiting_on
			WHERE c.lease_expires_at < now()
			  AND d.next_attempt_at IS NOT NULL
			FOR UPDATE OF d SKIP LOCKED)
		  AND waiting_on IS NOT NULL
		  AND next_attempt_at IS NOT NULL`)
}

// stepIn is what a person does to a claim that looks so.
func (w *world) stepIn(t *testing.T, looks string, act func(gateway.Claim) error) {
	t.Helper()
	var id gateway.ClaimID
	err := w.pool.QueryRow(t.Context(), `SELECT id FROM claims WHERE `+looks+` AND key_hash >= sha256($1::text::bytea) ORDER BY key_hash LIMIT 1`, fmt.Sprint(w.random.Uint64())).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	err = act(w.claimNow(t, id))
	if err != nil && !errors.Is(err, gateway.ErrStateChanged) && !errors.Is(err, gateway.ErrFenceStale) { // somebody was faster
		t.Fatal(err)
	}
}

// press is what a person does to any delivery, whether it can be done or not.
func (w *world) press(t *testing.T, act func(gateway.DeliveryID) error) {
	t.Helper()
	var id gateway.DeliveryID
	err := w.pool.QueryRow(t.Context(), `SELECT id FROM deliveries ORDER BY id OFFSET $1 LIMIT 1`, w.random.IntN(worldKeys)).Scan(&id)
	if err == nil {
		err = act(id)
	}
	for _, refused := range []error{
		gateway.ErrClaimDone, gateway.ErrClaimInProgress, gateway.ErrDeliveryInFlight, gateway.ErrDeliveryChanged, gateway.ErrStateChanged,
	} {
		if errors.Is(err, refused) {
			return
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// look is what nodes do by themselves every few seconds.
func (w *world) look(t *testing.T) {
	t.Helper()
	if _, err := w.people.TellInDoubt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.people.RepairTurns(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// confirmedTwice finds facts of which two holders said, or were said, to be
// done.
const confirmedTwice = `
	SELECT count(*)
	FROM (
		SELECT claim_id
		FROM claim_holds
		WHERE ended IN ('completed', 'resolved')
		GROUP BY claim_id
		HAVING count(*) > 1
	) c`

// forgotten finds deliveries that wait without an alarm of their own for a claim
// that nobody holds, of a holder that will not try again.
const forgotten = `
	SELECT count(*)
	FROM deliveries d
	JOIN claims c ON c.id = d.waiting_on
	WHERE d.status = 'pending'
	  AND d.next_attempt_at IS NULL
	  AND c.state <> 'in_progress'
	  AND NOT EXISTS (
		SELECT
		FROM deliveries h
		WHERE h.id = c.delivery_id
		  AND (h.status = 'sending' OR h.status = 'pending' AND h.next_attempt_at IS NOT NULL))`

// stranded finds pending deliveries with neither an alarm nor anything that they
// wait for.
const stranded = `SELECT count(*) FROM deliveries WHERE status = 'pending' AND next_attempt_at IS NULL AND waiting_on IS NULL`

func (w *world) check(t *testing.T) {
	t.Helper()
	for what, sql := range map[string]string{"confirmed twice": confirmedTwice, "forgotten": forgotten, "stranded": stranded} {
		if n := w.count(t, sql); n != 0 {
			t.Errorf("%d are %s", n, what)
		}
	}
}

// settle has everything come to its end: people free what is in doubt, and the
// receivers confirm whatever they get. Then nothing is open any more.
func (w *world) settle(t *testing.T) {
	t.Helper()
	for range 50 {
		for _, l := range w.lanes {
			w.crash(t, l)
		}
		w.exec(t, `UPDATE claims SET lease_expires_at = clock_timestamp() - interval '1 second' WHERE state = 'in_progress'`)
		w.exec(t, `UPDATE deliveries SET next_attempt_at = now() WHERE status = 'pending' AND next_attempt_at IS NOT NULL`)
		w.look(t)
		w.freeAll(t)
		for _, l := range w.lanes {
			w.finish(t, l)
		}
		w.check(t)
		if w.count(t, `SELECT count(*) FROM deliveries WHERE status IN ('pending', 'sending')`) == 0 {
			return
		}
	}
	t.Errorf("%d are still open", w.count(t, `SELECT count(*) FROM deliveries WHERE status IN ('pending', 'sending')`))
}

// freeAll reclaims all that a person is asked about.
func (w *world) freeAll(t *testing.T) {
	t.Helper()
	stuck, err := w.store.Claims(t.Context(), w.account, store.ClaimFilter{Stuck: true}, store.Page[gateway.ClaimID]{Limit: 2 * worldKeys})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range stuck {
		if c.OnDoubt != gateway.OnDoubtHold {
			continue
		}
		if _, err := w.ledger().Reclaim(context.WithoutCancel(t.Context()), w.account, actor, c.ID, c.Fence, "the end"); err != nil {
			t.Fatal(err)
		}
	}
}

// finish empties a lane, whose receiver confirms everything.
func (w *world) finish(t *testing.T, l *worldLane) {
	t.Helper()
	if !w.acquire(t, l) {
		t.Fatal("nobody can have the lane")
	}
	for {
		before := w.count(t, `SELECT count(*) FROM deliveries WHERE status = 'pending' AND next_attempt_at <= now() AND endpoint_id = $1`, l.endpoint.ID)
		if before == 0 {
			return
		}
		w.take(t, l)
		var results []store.Result
		var ends []store.ClaimEnd
		for _, d := range l.inAir {
			results = append(results, store.Result{Status: gateway.DeliveryDelivered, Attempt: gateway.Attempt{
				DeliveryID: d.ID, N: d.N, AccountID: w.account, EndpointID: l.endpoint.ID, EventID: d.EventID, Trigger: d.Trigger,
				StartedAt: w.clock.Now(), Outcome: gateway.OutcomeSucceeded,
			}})
			ends = append(ends, store.ClaimEnd{ID: d.Claim.ID, Fence: d.Claim.Fence, Done: true})
		}
		l.inAir = nil
		w.in(t, func(tx store.Tx) error {
			if _, err := tx.Record(t.Context(), l.lane, results); err != nil {
				return err
			}
			return tx.EndClaims(t.Context(), w.account, ends)
		})
	}
}

// TestInterleavingsAtOnce is the same with a worker for each lane and several
// people, all at once: a seed replays what each of them does, and not which of
// them is faster.
func TestInterleavingsAtOnce(t *testing.T) {
	t.Parallel()
	seed := *interleaveSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("go test ./internal/deliver -run TestInterleavingsAtOnce -interleave.seed %d", seed)
	w := newWorld(t, seed)
	pgtest.AtOnce(2*worldLanes, func(i int) {
		mine := *w
		mine.random = rand.New(rand.NewPCG(seed, uint64(i)+2))
		for range 60 {
			switch {
			case i < worldLanes:
				mine.work(t, w.lanes[i])
			case mine.random.IntN(10) == 0:
				mine.leasesEnd(t)
				mine.look(t)
			default:
				mine.act(t, 84+mine.random.IntN(14))
			}
		}
	})
	w.check(t)
	w.settle(t)
}

// work is what happens at a lane.
func (w *world) work(t *testing.T, l *worldLane) {
	t.Helper()
	switch n := w.random.IntN(100); {
	case n < 50:
		w.take(t, l)
	case n < 90:
		w.record(t, l)
	default:
		w.crash(t, l)
	}
}
