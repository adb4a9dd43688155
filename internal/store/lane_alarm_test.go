package store_test

import (
	"sync"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestRingAlarms(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const lanes = 30
	for range lanes {
		b.newEndpoint(t)
	}
	b.exec(t, lanes, `UPDATE lanes SET wake_at = now() - interval '1 s'`)
	silent := map[string]string{
		"no alarm": `UPDATE lanes SET wake_at = NULL WHERE endpoint_id = $1`,
		"later":    `UPDATE lanes SET wake_at = now() + interval '1 min' WHERE endpoint_id = $1`,
		"paused":   `UPDATE endpoints SET state = 'paused' WHERE id = $1`,
		"disabled": `UPDATE endpoints SET state = 'disabled' WHERE id = $1`,
		"deleted":  `UPDATE endpoints SET deleted_at = now() WHERE id = $1`,
	}
	for _, sql := range silent {
		e := b.newEndpoint(t)
		b.exec(t, 1, `UPDATE lanes SET wake_at = now() - interval '1 s' WHERE endpoint_id = $1`, e.ID)
		b.exec(t, 1, sql, e.ID)
	}
	var mu sync.Mutex
	rung := map[gateway.EndpointID]int{}
	errs := b.atOnce(t.Context(), 6, func(tx store.Tx, _ int) error {
		refs, err := tx.RingAlarms(t.Context(), lanes)
		mu.Lock()
		defer mu.Unlock()
		for _, ref := range refs {
			rung[ref.EndpointID]++
			if ref.AccountID != b.account {
				t.Errorf("account %s", ref.AccountID)
			}
		}
		return err
	})
	wantErrors(t, errs, 6, nil)
	if len(rung) != lanes {
		t.Errorf("%d lanes rang, want %d", len(rung), lanes)
	}
	for id, n := range rung {
		if got := b.lane(t, id); n != 1 || got.AlarmIn < 1 || got.AlarmIn > 2 {
			t.Errorf("lane rang %d times, again in %d s", n, got.AlarmIn)
		}
	}
}

func TestRingAlarmsTakesTheLongestDueFirst(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	late, later := b.newEndpoint(t), b.newEndpoint(t)
	b.exec(t, 1, `UPDATE lanes SET wake_at = now() - interval '1 s' WHERE endpoint_id = $1`, late.ID)
	b.exec(t, 1, `UPDATE lanes SET wake_at = now() - interval '9 s' WHERE endpoint_id = $1`, later.ID)
	for _, want := range []gateway.EndpointID{later.ID, late.ID} {
		b.in(t, func(tx store.Tx) error {
			refs, err := tx.RingAlarms(t.Context(), 1)
			if len(refs) != 1 || refs[0].EndpointID != want {
				t.Errorf("rang %v, want %s", refs, want)
			}
			return err
		})
	}
}

// A lane that another node is ringing, or whose holder is at work, is left
// alone: nobody waits.
func TestRingAlarmsSkipsLockedLanes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	b.exec(t, 1, `UPDATE lanes SET wake_at = now() - interval '1 s' WHERE endpoint_id = $1`, e.ID)
	b.in(t, func(first store.Tx) error {
		if refs, err := first.RingAlarms(t.Context(), 9); len(refs) != 1 || err != nil {
			t.Errorf("first: %v, %v", refs, err)
		}
		return b.InTx(t.Context(), func(second store.Tx) error {
			refs, err := second.RingAlarms(t.Context(), 9)
			if len(refs) != 0 {
				t.Errorf("second: %v", refs)
			}
			return err
		})
	})
}

func TestWakeLane(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for name, c := range map[string]struct{ set string }{
		"no alarm":      {`wake_at = NULL`},
		"later":         {`wake_at = now() + interval '1 min'`},
		"sleeping":      {`wake_at = now() + interval '1 min', sleep_until = now() + interval '1 min'`},
		"rings already": {`wake_at = now() - interval '1 min'`},
	} {
		e := b.newEndpoint(t)
		b.exec(t, 1, `UPDATE lanes SET `+c.set+` WHERE endpoint_id = $1`, e.ID)
		b.in(t, func(tx store.Tx) error { return tx.WakeLane(t.Context(), b.account, e.ID) })
		if got := b.lane(t, e.ID); !got.Alarm || got.AlarmIn > 0 || got.Sleeps {
			t.Errorf("%s: %+v", name, got)
		}
		if name == "rings already" && b.lane(t, e.ID).AlarmIn > -50 {
			t.Error("an alarm that rings was put off")
		}
	}
}

func TestRepairLanes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const (
		lost = `UPDATE lanes SET wake_at = NULL, leased_until = NULL WHERE endpoint_id = $1`
		air  = `UPDATE deliveries SET status = 'sending' WHERE endpoint_id = $1`
	)
	for name, c := range map[string]struct {
		open            bool
		statements      []string
		repaired, lease bool
	}{
		"pending":          {true, []string{lost}, true, false},
		"sending":          {true, []string{air, lost}, true, true},
		"retry later":      {true, []string{`UPDATE deliveries SET priority = 1, next_attempt_at = now() + interval '1 h' WHERE endpoint_id = $1`, lost}, true, false},
		"bulk":             {true, []string{`UPDATE deliveries SET priority = 2 WHERE endpoint_id = $1`, lost}, true, false},
		"nothing is open":  {false, []string{lost}, false, false},
		"all is closed":    {true, []string{`UPDATE deliveries SET status = 'delivered', next_attempt_at = NULL WHERE endpoint_id = $1`, lost}, false, false},
		"has an alarm":     {true, []string{`UPDATE lanes SET wake_at = now() + interval '1 h' WHERE endpoint_id = $1`}, false, false},
		"is held":          {true, []string{`UPDATE lanes SET wake_at = NULL, leased_until = now() + interval '5 s' WHERE endpoint_id = $1`}, false, true},
		"waits for a turn": {true, []string{`UPDATE deliveries SET next_attempt_at = NULL WHERE endpoint_id = $1`, lost}, false, false},
	} {
		e := b.newEndpoint(t)
		if c.open {
			b.queued(t, e.ID, 1)
		}
		for _, sql := range c.statements {
			b.exec(t, 1, sql, e.ID)
		}
		want := int64(0)
		if c.repaired {
			want = 1
		}
		for _, n := range []int64{want, 0} {
			if got, err := b.RepairLanes(t.Context()); err != nil || got != n {
				t.Errorf("%s: repaired %d, %v, want %d", name, got, err, n)
			}
		}
		if got := b.lane(t, e.ID); got.Leased != c.lease || c.repaired && (!got.Alarm || got.AlarmIn > 0 || got.LeaseIn > 0) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What was left in the air without a lease is found by the next holder.
func TestRepairedLaneIsTakenOver(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	id := b.queued(t, e.ID, 1)[0]
	b.takeDue(t, b.acquire(t, e.ID, "n"), 1)
	b.exec(t, 1, `UPDATE lanes SET wake_at = NULL, leased_until = NULL, node = NULL WHERE endpoint_id = $1`, e.ID)
	if n, err := b.RepairLanes(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	b.steady(t, "heir")
	heir := b.acquire(t, e.ID, "heir")
	if !heir.Inherited {
		t.Error("nothing was inherited")
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.TakeOver(t.Context(), heir)
		return err
	})
	if got := b.row(t, id); got.Status != "pending" || got.Outcome != "unknown" {
		t.Errorf("delivery: %+v", got)
	}
}

// A lane that gets work has an alarm soon, unless it has a sooner one: the end of
// its lease, or of its sleep.
func TestAlarmLanes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var lanes []store.LaneRef
	for name, test := range map[string]struct {
		sql    string
		atMost int // seconds until the alarm then
		moved  bool
	}{
		"no alarm": {`UPDATE lanes SET wake_at = NULL WHERE endpoint_id = $1`, 2, true},
		"later":    {`UPDATE lanes SET wake_at = now() + interval '5 min' WHERE endpoint_id = $1`, 2, true},
		"sooner":   {`UPDATE lanes SET wake_at = now() + interval '1 s' WHERE endpoint_id = $1`, 1, false},
		"held":     {`UPDATE lanes SET leased_until = now() + interval '9 s', node = 'n', wake_at = now() + interval '9 s' WHERE endpoint_id = $1`, 9, false},
		"asleep":   {`UPDATE lanes SET sleep_until = now() + interval '1 min', wake_at = now() + interval '1 min' WHERE endpoint_id = $1`, 60, false},
	} {
		e := b.newEndpoint(t)
		b.exec(t, 1, test.sql, e.ID)
		ref := store.LaneRef{AccountID: b.account, EndpointID: e.ID}
		lanes = append(lanes, ref)
		before := b.lane(t, e.ID)
		for range 2 {
			b.in(t, func(tx store.Tx) error { return tx.AlarmLanes(t.Context(), []store.LaneRef{ref}) })
		}
		got := b.lane(t, e.ID)
		if got.AlarmIn > test.atMost || got.AlarmIn < test.atMost-1 {
			t.Errorf("%s: the alarm is in %d s, want %d", name, got.AlarmIn, test.atMost)
		}
		if test.moved == (got == before) {
			t.Errorf("%s: changed from %+v to %+v", name, before, got)
		}
	}
	wantErrors(t, b.atOnce(t.Context(), 8, func(tx store.Tx, _ int) error { return tx.AlarmLanes(t.Context(), lanes) }), 8, nil)
	b.in(t, func(tx store.Tx) error { return tx.AlarmLanes(t.Context(), nil) })
}
