package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// errRollBack ends a transaction of a test that must leave nothing behind.
var errRollBack = errors.New("roll back")

func TestAcquireLane(t *testing.T) {
	t.Parallel()
	const (
		lane     = `UPDATE lanes SET %s WHERE endpoint_id = $1`
		endpoint = `UPDATE endpoints SET %s WHERE id = $1`
		ended    = `node = 'dead', leased_until = now() - interval '1 s'`
		node     = `INSERT INTO nodes (node, seen_at, steady_since, started_at, roles, version)
			SELECT $1, now() - interval '%s', now() - interval '%s', now(), 'worker', ''`
	)
	b := newBundle(t)
	for name, c := range map[string]struct {
		endpoint      string // a statement about the endpoint
		node          string // a statement about the node
		ok, inherited bool
	}{
		"free":                       {ok: true},
		"held by another node":       {endpoint: fmt.Sprintf(lane, `node = 'other', leased_until = now() + interval '5 s'`)},
		"held under its own name":    {endpoint: fmt.Sprintf(lane, `node = 'held under its own name', leased_until = now() + interval '5 s'`), ok: true, inherited: true},
		"ended, node is steady":      {endpoint: fmt.Sprintf(lane, ended), node: fmt.Sprintf(node, "1 s", "6 s"), ok: true, inherited: true},
		"ended, node is new":         {endpoint: fmt.Sprintf(lane, ended), node: fmt.Sprintf(node, "0 s", "4 s")},
		"ended, node is silent":      {endpoint: fmt.Sprintf(lane, ended), node: fmt.Sprintf(node, "4 s", "60 s")},
		"ended, node is not known":   {endpoint: fmt.Sprintf(lane, ended)},
		"sleeps":                     {endpoint: fmt.Sprintf(lane, `sleep_until = now() + interval '5 s'`)},
		"slept":                      {endpoint: fmt.Sprintf(lane, `sleep_until = now() - interval '1 ms'`), ok: true},
		"the endpoint is paused":     {endpoint: fmt.Sprintf(endpoint, `state = 'paused'`)},
		"the endpoint is disabled":   {endpoint: fmt.Sprintf(endpoint, `state = 'disabled'`)},
		"the endpoint is deleted":    {endpoint: fmt.Sprintf(endpoint, `deleted_at = now()`)},
		"lease ends in a moment yet": {endpoint: fmt.Sprintf(lane, `node = 'other', leased_until = clock_timestamp() + interval '3 s'`), node: fmt.Sprintf(node, "0 s", "9 s")},
	} {
		e := b.newEndpoint(t)
		if c.endpoint != "" {
			b.exec(t, 1, c.endpoint, e.ID)
		}
		if c.node != "" {
			b.exec(t, 1, c.node, name)
		}
		before := b.lane(t, e.ID)
		got, ok, err := b.AcquireLane(t.Context(), b.account, e.ID, name)
		if err != nil || ok != c.ok || ok && (got.Inherited != c.inherited || got.Fence != before.Fence+1) {
			t.Errorf("%s: %t, %v, %+v", name, ok, err, got)
		}
		after := b.lane(t, e.ID)
		if !ok && !cmp.Equal(before, after, cmpopts.IgnoreFields(laneRow{}, "LeaseIn", "AlarmIn", "SleepIn")) {
			t.Errorf("%s: refused, and changed the lane: %s", name, cmp.Diff(before, after))
		}
		want := laneRow{Fence: before.Fence + 1, Node: name, Leased: true, Alarm: true, LeaseIn: 10, AlarmIn: 10, Cap: gateway.InitialInFlightCap}
		if ok && after != want {
			t.Errorf("%s: %s", name, cmp.Diff(want, after))
		}
	}
}

func TestAcquireLaneIsOfOneAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	if _, ok, err := b.AcquireLane(t.Context(), b.newAccount(t, "other"), e.ID, "n"); ok || err != nil {
		t.Errorf("another account's lane: %t, %v", ok, err)
	}
}

// acquireAtOnce has twenty nodes ask for one lane and returns who got it.
func acquireAtOnce(t *testing.T, b bundle, endpoint gateway.EndpointID) (holders []string) {
	t.Helper()
	const nodes = 20
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range nodes {
		node := fmt.Sprintf("n%d", i)
		wg.Go(func() {
			_, ok, err := b.AcquireLane(t.Context(), b.account, endpoint, node)
			if err != nil {
				t.Errorf("%s: %v", node, err)
			}
			if ok {
				mu.Lock()
				defer mu.Unlock()
				holders = append(holders, node)
			}
		})
	}
	wg.Wait()
	return holders
}

func TestLaneHasOneHolder(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	first := acquireAtOnce(t, b, e.ID)
	if again := acquireAtOnce(t, b, b.newEndpoint(t).ID); len(first) != 1 || len(again) != 1 {
		t.Fatalf("free lanes went to %v and %v", first, again)
	}
	for i := range 20 {
		b.steady(t, fmt.Sprintf("n%d", i))
	}
	b.exec(t, 1, `UPDATE lanes SET node = 'dead', leased_until = now() - interval '1 s' WHERE endpoint_id = $1`, e.ID)
	if heirs := acquireAtOnce(t, b, e.ID); len(heirs) != 1 {
		t.Errorf("an ended lane went to %v", heirs)
	}
	if got := b.lane(t, e.ID); got.Fence != 2 {
		t.Errorf("fence %d after two holders", got.Fence)
	}
}

// A lease that has ended by the clock is still its holder's while a turn of
// the holder is under way: who waits for the row finds the lease extended.
func TestAcquireLaneWaitsForTheHoldersTurn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	b.steady(t, "heir")
	lane := b.acquire(t, e.ID, "holder")
	b.endLease(t, e.ID)
	taken := make(chan bool, 1)
	b.in(t, func(tx store.Tx) error {
		if mine, err := tx.ExtendLane(t.Context(), lane); !mine || err != nil {
			t.Fatalf("extend: %t, %v", mine, err)
		}
		go func() {
			_, ok, err := b.AcquireLane(t.Context(), b.account, e.ID, "heir")
			taken <- ok || err != nil
		}()
		b.waitForLock(t)
		return nil
	})
	if <-taken {
		t.Error("the lane was taken from a holder that had just extended it")
	}
}

func TestLostLaneChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	ids := b.queued(t, e.ID, 2)
	lost := b.acquire(t, e.ID, "dead")
	sent := b.takeDue(t, lost, 1)
	b.steady(t, "heir")
	b.endLease(t, e.ID)
	heir := b.acquire(t, e.ID, "heir")
	before := b.lane(t, e.ID)

	for range 2 { // before and after the heir took over
		err := b.InTx(t.Context(), func(tx store.Tx) error {
			mine, err := tx.ExtendLane(t.Context(), lost)
			if mine || err != nil {
				t.Errorf("extended a lost lane: %t, %v", mine, err)
			}
			return errRollBack
		})
		if !errors.Is(err, errRollBack) {
			t.Fatal(err)
		}
		if _, mine, err := b.ReleaseLane(t.Context(), lost); mine || err != nil {
			t.Errorf("released a lost lane: %t, %v", mine, err)
		}
		if err := b.AbandonLane(t.Context(), lost); err != nil {
			t.Error(err)
		}
		b.in(t, func(tx store.Tx) error {
			_, err := tx.TakeOver(t.Context(), heir)
			return err
		})
		if changed := b.record(t, lost, b.answered(sent[0], gateway.OutcomeSucceeded, gateway.DeliveryDelivered)); len(changed) != 0 {
			t.Errorf("a late result changed %v", changed)
		}
	}
	if after := b.lane(t, e.ID); after.Fence != before.Fence || after.Node != "heir" || after.LeaseIn <= 0 || after.AlarmIn <= 0 {
		t.Errorf("the heir's lane: %+v", after)
	}
	for _, id := range ids {
		if got := b.row(t, id); got.Status != "pending" {
			t.Errorf("delivery: %+v", got)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM attempts WHERE outcome = 'unknown'`); n != 1 {
		t.Errorf("%d unknown attempts, want the one that was in the air", n)
	}
}

// A late result is refused too when the heir is sending the same delivery.
func TestLateResultLeavesTheHeirsSendAlone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	id := b.queued(t, e.ID, 1)[0]
	lost := b.acquire(t, e.ID, "dead")
	sent := b.takeDue(t, lost, 1)
	b.steady(t, "heir")
	b.endLease(t, e.ID)
	heir := b.acquire(t, e.ID, "heir")
	b.in(t, func(tx store.Tx) error {
		_, err := tx.TakeOver(t.Context(), heir)
		return err
	})
	b.takeDue(t, heir, 1)
	b.record(t, lost, b.answered(sent[0], gateway.OutcomeSucceeded, gateway.DeliveryDelivered))
	if got := b.row(t, id); got.Status != "sending" || got.Fence != heir.Fence || got.Attempts != 2 {
		t.Errorf("delivery: %+v", got)
	}
}

func TestTakeOver(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	ids := b.queued(t, e.ID, 4)
	dead := b.acquire(t, e.ID, "dead")
	left := b.takeDue(t, dead, 3)
	b.steady(t, "heir")
	b.endLease(t, e.ID)
	heir := b.acquire(t, e.ID, "heir")
	own := b.takeDue(t, heir, 1)
	for i, want := range []int64{3, 0} {
		b.in(t, func(tx store.Tx) error {
			n, err := tx.TakeOver(t.Context(), heir)
			if n != want {
				t.Errorf("take-over %d found %d, want %d", i, n, want)
			}
			return err
		})
	}
	if got := b.row(t, own[0].ID); got.Status != "sending" {
		t.Errorf("the heir's own delivery: %+v", got)
	}
	for _, d := range left {
		want := deliveryRow{Status: "pending", Attempts: 1, Step: 1, Fence: dead.Fence, Outcome: "unknown", Trigger: "auto", Waits: true, Due: true}
		if got := b.row(t, d.ID); got != want {
			t.Errorf("left over: %s", cmp.Diff(want, got))
		}
		attempts, err := b.DeliveryAttempts(t.Context(), b.account, d.ID)
		if err != nil || len(attempts) != 1 || attempts[0].Outcome != gateway.OutcomeUnknown || attempts[0].N != 1 || attempts[0].Detail == "" {
			t.Errorf("attempts %+v, %v", attempts, err)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries`); n != len(ids) {
		t.Errorf("%d deliveries", n)
	}
}

// The last attempt that a delivery can have closes it, also when its answer
// was never recorded: else it would stay due for ever and never be taken.
func TestTakeOverOfTheLastAttempt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	id := b.queued(t, e.ID, 1)[0]
	b.exec(t, 1, `UPDATE deliveries SET attempts = $2 WHERE id = $1`, id, gateway.MaxAttempts-1)
	lane := b.acquire(t, e.ID, "dead")
	b.takeDue(t, lane, 1)
	heir := b.acquire(t, e.ID, "dead")
	b.in(t, func(tx store.Tx) error {
		_, err := tx.TakeOver(t.Context(), heir)
		return err
	})
	if got := b.row(t, id); got.Status != "failed" || got.Waits || !got.Closed {
		t.Errorf("delivery: %+v", got)
	}
	if due, err := b.HasDue(t.Context(), b.account, e.ID); due || err != nil {
		t.Errorf("due: %t, %v", due, err)
	}
}

func TestReleaseLane(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	for name, c := range map[string]struct {
		due   [3]int // minutes from now by priority, 0 is none
		sleep time.Duration
		want  time.Duration // from now; 0 is no alarm
	}{
		"nothing waits":             {},
		"first attempt":             {due: [3]int{1, 2, 3}, want: minutes(1)},
		"retry":                     {due: [3]int{0, 2, 3}, want: minutes(2)},
		"bulk":                      {due: [3]int{0, 0, 3}, want: minutes(3)},
		"retry before first":        {due: [3]int{5, 4, 3}, want: minutes(3)},
		"overdue":                   {due: [3]int{5, -4, 3}, want: minutes(-4)},
		"sleeps longer":             {due: [3]int{1, 2, 3}, sleep: minutes(2), want: minutes(2)},
		"sleeps less":               {due: [3]int{4}, sleep: minutes(2), want: minutes(4)},
		"sleeps, and nothing waits": {sleep: minutes(2), want: minutes(2)},
	} {
		e := b.newEndpoint(t)
		now := b.clock.Now()
		for priority, m := range c.due {
			if m != 0 {
				id := b.queued(t, e.ID, 1)[0]
				b.exec(t, 1, `UPDATE deliveries SET priority = $2, next_attempt_at = $3 WHERE id = $1`, id, priority, now.Add(minutes(m)))
			}
		}
		lane := b.acquire(t, e.ID, "n")
		lane.Flow = gateway.Flow{Cap: 7, FailedProbes: 2, TimingOut: true}
		lane.Pace = gateway.Pace{Due: now.Add(time.Second).UTC().Truncate(time.Microsecond)}
		if c.sleep > 0 {
			lane.Flow.SleepUntil = now.Add(c.sleep)
		}
		alarm, mine, err := b.ReleaseLane(t.Context(), lane)
		if err != nil || !mine || alarm.IsZero() != (c.want == 0) {
			t.Errorf("%s: alarm %v, %t, %v", name, alarm, mine, err)
		}
		if off := alarm.Sub(now) - c.want; c.want != 0 && off.Abs() > time.Millisecond {
			t.Errorf("%s: the alarm is off by %v", name, off)
		}
		got := b.lane(t, e.ID)
		if got.Leased || got.Node != "" || got.Alarm != (c.want != 0) || got.Sleeps != (c.sleep != 0) || got.Cap != 7 || got.FailedProbes != 2 || !got.TimingOut {
			t.Errorf("%s: lane %+v", name, got)
		}
		if c.sleep == 0 {
			if next := b.acquire(t, e.ID, "m"); next.Inherited || next.Flow != (gateway.Flow{Cap: 7, FailedProbes: 2, TimingOut: true}) || !next.Pace.Due.Equal(lane.Pace.Due) {
				t.Errorf("%s: next %+v", name, next)
			}
		}
	}
}

func TestAbandonLane(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	lane := b.acquire(t, e.ID, "n")
	if err := b.AbandonLane(t.Context(), lane); err != nil {
		t.Fatal(err)
	}
	if got := b.lane(t, e.ID); !got.Leased || got.LeaseIn > 0 || got.AlarmIn > 0 {
		t.Errorf("abandoned lane: %+v", got)
	}
	if again := b.acquire(t, e.ID, "n"); !again.Inherited || again.Fence != lane.Fence+1 {
		t.Errorf("acquired again: %+v", again)
	}
}

func TestHasDue(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for name, c := range map[string]struct {
		set  string
		want bool
	}{
		"first attempt":   {`priority = 0`, true},
		"retry":           {`priority = 1`, true},
		"bulk":            {`priority = 2`, true},
		"in a while":      {`next_attempt_at = now() + interval '1 s'`, false},
		"is being sent":   {`status = 'sending'`, false},
		"closed":          {`status = 'delivered', next_attempt_at = NULL`, false},
		"waits for a key": {`next_attempt_at = NULL`, false},
	} {
		e := b.newEndpoint(t)
		b.exec(t, 1, `UPDATE deliveries SET `+c.set+` WHERE id = $1`, b.queued(t, e.ID, 1)[0])
		if due, err := b.HasDue(t.Context(), b.account, e.ID); err != nil || due != c.want {
			t.Errorf("%s: %t, %v", name, due, err)
		}
	}
	if due, err := b.HasDue(t.Context(), b.account, b.newEndpoint(t).ID); err != nil || due {
		t.Errorf("another endpoint's deliveries: %t, %v", due, err)
	}
}

// A lane that is held says how wide it is now, and so it is found by whoever
// takes it over.
func TestExtendLaneSaysHowWideItIs(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	lane := b.acquire(t, e.ID, "n")
	at := b.clock.Now().Truncate(time.Microsecond)
	lane.Flow = gateway.Flow{Cap: 9, FailedProbes: 1, TimingOut: true, NarrowedAt: at}
	lane.Pace = gateway.Pace{Due: at.Add(time.Second)}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.ExtendLane(t.Context(), lane)
		return err
	})
	stale := lane
	stale.Fence, stale.Flow.Cap = lane.Fence-1, 50
	b.in(t, func(tx store.Tx) error {
		mine, err := tx.ExtendLane(t.Context(), stale)
		if mine {
			t.Error("a lane with an older fence was extended")
		}
		return err
	})
	next := b.acquire(t, e.ID, "n")
	if next.Flow.Cap != 9 || next.Flow.FailedProbes != 1 || !next.Flow.TimingOut || !next.Flow.NarrowedAt.Equal(at) || !next.Pace.Due.Equal(lane.Pace.Due) {
		t.Errorf("the next holder finds %+v", next)
	}
}
