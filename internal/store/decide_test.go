package store_test

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// takeUndecided takes events in a transaction of its own.
func (b bundle) takeUndecided(t *testing.T, ids ...gateway.EventID) (taken []store.Undecided) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		taken, err = tx.TakeUndecided(t.Context(), ids)
		return err
	})
	return taken
}

func TestTakeUndecided(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	active, paused := b.newSource(t).ID, b.newSource(t).ID
	b.exec(t, 1, `UPDATE sources SET state = 'paused' WHERE id = $1`, paused)
	first, second := b.newEvent(active, "123"), b.newEvent(paused, "12345")
	b.insert(t, first, second)
	ids := []gateway.EventID{second.Event.ID, first.Event.ID, gateway.EventID(b.clock.NewID()), first.Event.ID}
	for _, status := range gateway.EventStatuses {
		if status != gateway.EventAccepted {
			ids = append(ids, b.decided(t, active, status))
		}
	}
	want := []store.Undecided{
		{ID: first.Event.ID, AccountID: b.account, SourceID: active, Type: queuedType, BodySize: 3},
		{ID: second.Event.ID, AccountID: b.account, SourceID: paused, Type: queuedType, BodySize: 5, SourcePaused: true},
	}
	got := b.takeUndecided(t, ids...)
	for i := range got {
		if got[i].DueAt.IsZero() {
			t.Errorf("%s was never due", got[i].ID)
		}
		got[i].DueAt = time.Time{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if again := b.takeUndecided(t, ids...); len(again) != 0 {
		t.Errorf("taken twice: %v", again)
	}
	if none := b.takeUndecided(t); len(none) != 0 {
		t.Errorf("of no ids %v are taken", none)
	}
	if status := b.event(t, first.Event.ID).Status; status != gateway.EventProcessed {
		t.Errorf("status %s after it was taken", status)
	}
}

// Twenty that decide overlapping lots of events, each in an order of its own,
// take each event once and never wait for each other in a circle.
func TestTakeUndecidedAtOnce(t *testing.T) {
	t.Parallel()
	const takers, n, rounds = 20, 200, 3
	b := newBundle(t).wide(t, takers)
	source := b.newSource(t).ID
	r := seeded()
	for range rounds {
		ids := b.accepted(t, source, n)
		lots := make([][]gateway.EventID, takers)
		for i := range lots {
			lots[i] = slices.Clone(ids)
			r.Shuffle(n, func(x, y int) { lots[i][x], lots[i][y] = lots[i][y], lots[i][x] })
			lots[i] = lots[i][:n/2]
		}
		var mu sync.Mutex
		taken := map[gateway.EventID]int{}
		errs := b.atOnce(t.Context(), takers, func(tx store.Tx, i int) error {
			events, err := tx.TakeUndecided(t.Context(), lots[i])
			mu.Lock()
			defer mu.Unlock()
			for _, e := range events {
				taken[e.ID]++
			}
			return err
		})
		wantErrors(t, errs, takers, nil)
		for _, id := range ids {
			if taken[id] != 1 { // by this seed each is in some lot
				t.Errorf("%s was taken %d times", id, taken[id])
			}
		}
	}
}

func TestTakingThatRollsBackTakesNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.accepted(t, b.newSource(t).ID, 1)[0]
	err := b.InTx(t.Context(), func(tx store.Tx) error {
		events, err := tx.TakeUndecided(t.Context(), []gateway.EventID{id})
		if err != nil || len(events) != 1 {
			t.Errorf("took %d, %v", len(events), err)
		}
		return errRollBack
	})
	if !errors.Is(err, errRollBack) || len(b.takeUndecided(t, id)) != 1 {
		t.Errorf("the event cannot be taken again: %v", err)
	}
}

func TestSetDecisions(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.accepted(t, b.newSource(t).ID, 3)
	b.in(t, func(tx store.Tx) error {
		if err := tx.SetDecisions(t.Context(), nil); err != nil {
			return err
		}
		return tx.SetDecisions(t.Context(), []store.Decision{
			{ID: ids[2], Status: gateway.EventHeld, Reason: "the source is paused"},
			{ID: ids[0], Status: gateway.EventNoEndpoints},
		})
	})
	for i, want := range []store.Decision{
		{Status: gateway.EventNoEndpoints}, {Status: gateway.EventAccepted}, {Status: gateway.EventHeld, Reason: "the source is paused"},
	} {
		if e := b.event(t, ids[i]); e.Status != want.Status || e.Decision != want.Reason {
			t.Errorf("event %d is %s, %q, want %+v", i, e.Status, e.Decision, want)
		}
	}
}

// Of twenty presses of one button one has an effect, and only from the
// statuses that it is for.
func TestReopenEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	wide := b.wide(t, 20)
	for _, status := range gateway.EventStatuses {
		id := b.decided(t, source, status)
		b.exec(t, 1, `UPDATE events SET decision = 'why', decide_after = '2020-01-01' WHERE id = $1`, id)
		var reopened atomic.Int32
		errs := wide.atOnce(t.Context(), 20, func(tx store.Tx, _ int) error {
			did, err := tx.ReopenEvent(t.Context(), b.account, id, gateway.ReprocessableStatuses)
			if did {
				reopened.Add(1)
			}
			return err
		})
		wantErrors(t, errs, 20, nil)
		want := int32(0)
		if slices.Contains(gateway.ReprocessableStatuses, status) {
			want = 1
			e := b.event(t, id)
			if e.Status != gateway.EventAccepted || e.Decision != "" || b.clock.Now().Sub(e.DecideAfter) > time.Minute {
				t.Errorf("%s became %s, %q, due %s", status, e.Status, e.Decision, e.DecideAfter)
			}
		}
		if reopened.Load() != want {
			t.Errorf("%s was reopened %d times, want %d", status, reopened.Load(), want)
		}
	}
}

func TestReopenHeld(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source, other := b.newSource(t).ID, b.newSource(t).ID
	var held []gateway.EventID
	for range 5 {
		held = append(held, b.decided(t, source, gateway.EventHeld))
	}
	elsewhere := b.decided(t, other, gateway.EventHeld)
	done := b.decided(t, source, gateway.EventProcessed)
	reopen := func(account gateway.AccountID) (ids []gateway.EventID) {
		b.in(t, func(tx store.Tx) (err error) {
			ids, err = tx.ReopenHeld(t.Context(), account, source, 3)
			return err
		})
		slices.SortFunc(ids, gateway.EventID.Compare)
		return ids
	}
	if ids := reopen(b.newAccount(t, "stranger")); len(ids) != 0 {
		t.Errorf("another account reopened %d events", len(ids))
	}
	for i, want := range [][]gateway.EventID{held[:3], held[3:], {}} {
		if ids := reopen(b.account); !slices.Equal(ids, want) {
			t.Errorf("call %d: %v, want the oldest, %v", i, ids, want)
		}
	}
	for id, want := range map[gateway.EventID]gateway.EventStatus{
		held[0]: gateway.EventAccepted, elsewhere: gateway.EventHeld, done: gateway.EventProcessed,
	} {
		if status := b.event(t, id).Status; status != want {
			t.Errorf("%s is %s, want %s", id, status, want)
		}
	}
}

func TestReopenHeldAtOnce(t *testing.T) {
	t.Parallel()
	const n = 30
	b := newBundle(t)
	source := b.newSource(t).ID
	for range n {
		b.decided(t, source, gateway.EventHeld)
	}
	var reopened atomic.Int32
	errs := b.atOnce(t.Context(), poolSize, func(tx store.Tx, _ int) error {
		ids, err := tx.ReopenHeld(t.Context(), b.account, source, n)
		reopened.Add(int32(len(ids)))
		return err
	})
	wantErrors(t, errs, poolSize, nil)
	if reopened.Load() != n {
		t.Errorf("%d of %d were reopened", reopened.Load(), n)
	}
}

// hold decides an event of a paused source as far as holding it, and tells
// whether it was held.
func (b bundle) hold(t *testing.T, tx store.Tx, id gateway.EventID) bool {
	t.Helper()
	events, err := tx.TakeUndecided(t.Context(), []gateway.EventID{id})
	if err != nil || len(events) != 1 {
		t.Errorf("took %d events, %v", len(events), err)
		return false
	}
	if !events[0].SourcePaused {
		return false
	}
	paused, err := tx.PausedSources(t.Context(), []gateway.SourceID{events[0].SourceID})
	if err != nil {
		t.Error(err)
	}
	if !paused[events[0].SourceID] {
		return false
	}
	if err := tx.SetDecisions(t.Context(), []store.Decision{{ID: id, Status: gateway.EventHeld}}); err != nil {
		t.Error(err)
	}
	return true
}

// resume makes a source active and lets go what is held, in one transaction.
func (b bundle) resume(t *testing.T, tx store.Tx, source gateway.SourceID) error {
	t.Helper()
	if _, err := tx.SetSourceState(t.Context(), b.account, source, gateway.SourceActive); err != nil {
		return err
	}
	_, err := tx.ReopenHeld(t.Context(), b.account, source, 100)
	return err
}

// A resume that comes while an event is being held waits, and then finds it.
func TestResumeWaitsForWhatIsBeingHeld(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	b.exec(t, 1, `UPDATE sources SET state = 'paused'`)
	id := b.accepted(t, source, 1)[0]
	var all sync.WaitGroup
	b.in(t, func(tx store.Tx) error {
		if !b.hold(t, tx, id) {
			t.Error("an event of a paused source is not held")
		}
		all.Go(func() {
			if err := b.InTx(t.Context(), func(tx store.Tx) error { return b.resume(t, tx, source) }); err != nil {
				t.Error(err)
			}
		})
		b.waiting(t, 1)
		return nil
	})
	all.Wait()
	if status := b.event(t, id).Status; status != gateway.EventAccepted {
		t.Errorf("the event is %s at an active source", status)
	}
}

// Whoever decides after the resume sees it, also when it waited for it.
func TestNothingIsHeldAfterAResume(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	b.exec(t, 1, `UPDATE sources SET state = 'paused'`)
	id := b.accepted(t, source, 1)[0]
	var all sync.WaitGroup
	var held bool
	b.in(t, func(tx store.Tx) error {
		if err := b.resume(t, tx, source); err != nil {
			return err
		}
		all.Go(func() {
			err := b.InTx(t.Context(), func(tx store.Tx) error {
				held = b.hold(t, tx, id)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		b.waiting(t, 1)
		return nil
	})
	all.Wait()
	if held {
		t.Error("the event was held at an active source")
	}
}

// Many of both at once leave nothing behind.
func TestHoldingRacesWithResumes(t *testing.T) {
	t.Parallel()
	const n = 40
	b := newBundle(t)
	source := b.newSource(t).ID
	b.exec(t, 1, `UPDATE sources SET state = 'paused'`)
	ids := b.accepted(t, source, n)
	errs := b.wide(t, n+4).atOnce(t.Context(), n+4, func(tx store.Tx, i int) error {
		if i >= n {
			return b.resume(t, tx, source)
		}
		b.hold(t, tx, ids[i])
		return nil
	})
	wantErrors(t, errs, n+4, nil)
	if left := b.count(t, `SELECT count(*) FROM events WHERE status = 'held'`); left != 0 {
		t.Errorf("%d events are held at an active source", left)
	}
}

func TestPausedSources(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	paused, active := b.newSource(t).ID, b.newSource(t).ID
	b.exec(t, 1, `UPDATE sources SET state = 'paused' WHERE id = $1`, paused)
	b.in(t, func(tx store.Tx) error {
		for _, ids := range [][]gateway.SourceID{{active, paused}, {paused}, {active}, nil} {
			got, err := tx.PausedSources(t.Context(), ids)
			if err != nil {
				return err
			}
			if got[paused] != slices.Contains(ids, paused) || got[active] {
				t.Errorf("of %v paused are %v", ids, got)
			}
		}
		return nil
	})
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	other := b
	other.account = b.newAccount(t, "other")
	byTypes := map[string][]string{"all": {}, "order": {"order.*"}, "user": {"user.*"}, "both": {"user.*", "order.created"}}
	ids := map[gateway.EndpointID]string{}
	for name, types := range byTypes {
		ids[b.newEndpointFor(t, types)] = name
	}
	ids[other.newEndpointFor(t, nil)] = "another account's"
	gone := b.newEndpointFor(t, nil)
	b.exec(t, 1, `UPDATE endpoints SET deleted_at = now() WHERE id = $1`, gone)
	b.exec(t, 1, `UPDATE endpoints SET state = 'paused' WHERE id = $1`, keyOf(ids, "order"))
	for name, test := range map[string]struct {
		accounts []gateway.AccountID
		want     []string
	}{
		"one account":  {[]gateway.AccountID{b.account}, []string{"all", "both", "order"}},
		"two accounts": {[]gateway.AccountID{b.account, other.account}, []string{"all", "another account's", "both", "order"}},
		"none":         {nil, nil},
	} {
		var got []string
		b.in(t, func(tx store.Tx) error {
			candidates, err := tx.Candidates(t.Context(), test.accounts, gateway.PatternsFor("order.created"))
			for _, c := range candidates {
				got = append(got, ids[c.ID])
			}
			return err
		})
		slices.Sort(got)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func (b bundle) newEndpointFor(t *testing.T, types []string) gateway.EndpointID {
	t.Helper()
	endpoint := b.endpoint()
	endpoint.EventTypes = types
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateEndpoint(t.Context(), b.account, endpoint, 0)
		return err
	})
	return endpoint.ID
}

func keyOf[K, V comparable](m map[K]V, value V) (found K) {
	for k, v := range m {
		if v == value {
			found = k
		}
	}
	return found
}

// A deletion that races with a fan-out either cancels what it made or is seen
// by it: nothing is left behind at a deleted endpoint.
func TestFanOutRacesWithADeletion(t *testing.T) {
	t.Parallel()
	const n = 20
	b := newBundle(t)
	endpoint := b.newEndpointFor(t, nil)
	ids := b.accepted(t, b.newSource(t).ID, n)
	errs := b.wide(t, n+1).atOnce(t.Context(), n+1, func(tx store.Tx, i int) error {
		if i == n {
			return tx.DeleteEndpoint(t.Context(), b.account, endpoint)
		}
		candidates, err := tx.Candidates(t.Context(), []gateway.AccountID{b.account}, []string{"*"})
		for _, c := range candidates {
			_, err = tx.InsertDeliveries(t.Context(), []store.NewDelivery{{AccountID: b.account, EventID: ids[i], EndpointID: c.ID}})
		}
		return err
	})
	wantErrors(t, errs, n+1, nil)
	if left := b.count(t, `SELECT count(*) FROM deliveries WHERE status <> 'cancelled'`); left != 0 {
		t.Errorf("%d deliveries are open at a deleted endpoint", left)
	}
}

// An endpoint has an event's delivery once, whoever decides, however often.
func TestInsertDeliveriesOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.accepted(t, b.newSource(t).ID, 2)
	var deliveries []store.NewDelivery
	for _, id := range ids {
		for range 3 {
			deliveries = append(deliveries, store.NewDelivery{AccountID: b.account, EventID: id, EndpointID: b.newEndpoint(t).ID})
		}
	}
	var made atomic.Int64
	for range 2 {
		errs := b.wide(t, 20).atOnce(t.Context(), 20, func(tx store.Tx, _ int) error {
			n, err := tx.InsertDeliveries(t.Context(), deliveries)
			made.Add(n)
			return err
		})
		wantErrors(t, errs, 20, nil)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries`); n != len(deliveries) || made.Load() != int64(n) {
		t.Errorf("%d deliveries are there, %d were made, want %d", n, made.Load(), len(deliveries))
	}
	for _, d := range deliveries {
		id := gateway.DeriveDeliveryID(d.EventID, d.EndpointID)
		if n := b.count(t, `SELECT count(*) FROM deliveries WHERE id = $1 AND status = 'pending' AND next_attempt_at <= now()`, id); n != 1 {
			t.Errorf("the delivery %s is not due", id)
		}
	}
	b.in(t, func(tx store.Tx) error {
		n, err := tx.InsertDeliveries(t.Context(), nil)
		if n != 0 {
			t.Errorf("of none %d were made", n)
		}
		return err
	})
}
