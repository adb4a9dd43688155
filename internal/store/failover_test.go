package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// chain makes n endpoints, each of which fails over to the next.
func (b bundle) chain(t *testing.T, n int) []gateway.EndpointID {
	t.Helper()
	ids := make([]gateway.EndpointID, n)
	for i := range slices.Backward(ids) {
		e := b.endpoint()
		if ids[i] = e.ID; i < n-1 {
			e.Failover = &ids[i+1]
		}
		b.in(t, func(tx store.Tx) error {
			_, err := tx.CreateEndpoint(t.Context(), b.account, e, 0)
			return err
		})
	}
	return ids
}

func (b bundle) disable(t *testing.T, ids ...gateway.EndpointID) {
	t.Helper()
	b.exec(t, int64(len(ids)), `UPDATE endpoints SET state = 'disabled' WHERE id = ANY ($1)`, ids)
}

// handOn hands on in a transaction of its own.
func (b bundle) handOn(t *testing.T, lane store.Lane, limit int) (n int, next *store.LaneRef) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		n, next, err = tx.FailOver(t.Context(), lane, nil, limit)
		return err
	})
	return n, next
}

// wantGiven fails unless so many deliveries of one endpoint are failed and the
// same events are pending at the other in its place.
func (b bundle) wantGiven(t *testing.T, from, to gateway.EndpointID, want int) {
	t.Helper()
	given := b.count(t, `
		SELECT count(*)
		FROM deliveries a
		JOIN deliveries b
		  ON b.event_id = a.event_id
		WHERE a.endpoint_id = $1 AND a.status = 'failed' AND a.failover_to = $2 AND a.closed_at IS NOT NULL AND a.next_attempt_at IS NULL
		  AND b.endpoint_id = $2 AND b.status = 'pending' AND b.failover_of = $1 AND b.next_attempt_at <= now()
		  AND b.priority = 0 AND b.trigger = 'auto' AND b.account_id = a.account_id`, from, to)
	if all := b.count(t, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, to); given != want || all != want {
		t.Errorf("%d were given, of %d there; want %d", given, all, want)
	}
}

// What failed is given to the next of the chain once, however often that is
// said; what the next one has already stays as it is.
func TestFailOver(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.chain(t, 2)
	queued := b.queued(t, ids[0], 3)
	events := b.eventsOf(t, queued)
	b.exec(t, 3, `UPDATE deliveries SET status = 'failed' WHERE endpoint_id = $1`, ids[0])
	own := store.NewDelivery{AccountID: b.account, EventID: events[2], EndpointID: ids[1]}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.InsertDeliveries(t.Context(), []store.NewDelivery{own})
		return err
	})
	b.exec(t, 1, `UPDATE deliveries SET status = 'delivered' WHERE endpoint_id = $1`, ids[1])
	lane := store.Lane{AccountID: b.account, EndpointID: ids[0]}
	for range 2 {
		b.in(t, func(tx store.Tx) error {
			_, next, err := tx.FailOver(t.Context(), lane, events, 0)
			if next == nil || next.EndpointID != ids[1] || next.AccountID != b.account {
				t.Errorf("next %v", next)
			}
			return err
		})
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'pending' AND failover_of = $2`, ids[1], ids[0]); n != 2 {
		t.Errorf("%d were given, want two", n)
	}
	d, err := b.Delivery(t.Context(), b.account, gateway.DeriveDeliveryID(events[2], ids[1]))
	if err != nil || d.Status != gateway.DeliveryDelivered || d.FailoverOf != nil {
		t.Errorf("its own: %+v, %v", d, err)
	}
	d, err = b.Delivery(t.Context(), b.account, gateway.DeriveDeliveryID(events[0], ids[1]))
	if err != nil || d.FailoverOf == nil || *d.FailoverOf != ids[0] {
		t.Errorf("given: %+v, %v", d, err)
	}
	for i, id := range queued {
		if d, err := b.Delivery(t.Context(), b.account, id); err != nil || d.FailoverTo == nil || *d.FailoverTo != ids[1] {
			t.Errorf("delivery %d: %+v, %v", i, d, err)
		}
	}
}

func (b bundle) eventsOf(t *testing.T, deliveries []gateway.DeliveryID) []gateway.EventID {
	t.Helper()
	events := make([]gateway.EventID, len(deliveries))
	for i, id := range deliveries {
		d, err := b.Delivery(t.Context(), b.account, id)
		if err != nil {
			t.Fatal(err)
		}
		events[i] = d.EventID
	}
	return events
}

// Who has no next one, or whose next one is gone, gives nothing.
func TestFailOverToNobody(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.chain(t, 2)
	events := b.eventsOf(t, b.queued(t, ids[0], 1))
	b.disable(t, ids...)
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, ids[1]) })
	for _, id := range ids {
		lane := store.Lane{AccountID: b.account, EndpointID: id}
		b.in(t, func(tx store.Tx) error {
			_, next, err := tx.FailOver(t.Context(), lane, events, 0)
			if next != nil {
				t.Errorf("next %v", next)
			}
			return err
		})
		if n, next := b.handOn(t, lane, 9); n != 0 || next != nil {
			t.Errorf("handed on %d to %v", n, next)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE status = 'pending' AND endpoint_id = $1`, ids[0]); n != 1 {
		t.Errorf("%d are pending, want the one", n)
	}
}

// Only a disabled endpoint hands on: all that waits, retries included, but for
// what a person has sent there.
func TestHandOn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.chain(t, 2)
	queued := b.queued(t, ids[0], 7)
	b.exec(t, 1, `UPDATE deliveries SET trigger = 'manual' WHERE id = $1`, queued[0])
	b.exec(t, 1, `UPDATE deliveries SET trigger = 'recover', priority = 2 WHERE id = $1`, queued[1])
	b.exec(t, 1, `UPDATE deliveries SET priority = 1, attempts = 3, last_outcome = 'rejected', next_attempt_at = now() + interval '1 h' WHERE id = $1`, queued[2])
	lane := b.acquire(t, ids[0], "n")
	for _, state := range []string{"active", "paused"} {
		b.exec(t, 1, `UPDATE endpoints SET state = $1 WHERE id = $2`, state, ids[0])
		if n, _ := b.handOn(t, lane, 9); n != 0 {
			t.Errorf("%s: handed on %d", state, n)
		}
		if more, err := b.HandsOn(t.Context(), b.account, ids[0]); more || err != nil {
			t.Errorf("%s: hands on %t, %v", state, more, err)
		}
	}
	b.disable(t, ids[0])
	for _, want := range []int{3, 2, 0} {
		if more, err := b.HandsOn(t.Context(), b.account, ids[0]); more != (want > 0) || err != nil {
			t.Errorf("hands on %t, %v", more, err)
		}
		n, next := b.handOn(t, lane, 3)
		if n != want || next == nil || next.EndpointID != ids[1] {
			t.Errorf("handed on %d to %v, want %d", n, next, want)
		}
	}
	b.wantGiven(t, ids[0], ids[1], 5)
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE status = 'failed' AND last_error_kind = $1`, string(gateway.ErrorDisabled)); n != 4 {
		t.Errorf("%d were never sent, want all but the retry", n)
	}
	if n := b.count(t, `SELECT count(*) FROM river_job WHERE kind = 'deliver'`); n != 2 {
		t.Errorf("%d jobs, want one for each that gave something", n)
	}
}

// Twenty at once, and a resume among them: each event is at one of the two.
func TestHandOnAtOnce(t *testing.T) {
	t.Parallel()
	const n, handing = 60, 20
	b := newBundle(t)
	ids := b.chain(t, 2)
	b.queued(t, ids[0], n)
	b.disable(t, ids[0])
	lane := store.Lane{AccountID: b.account, EndpointID: ids[0]}
	errs := b.atOnce(t.Context(), handing, func(tx store.Tx, i int) error {
		if i == handing/2 {
			_, err := tx.ResumeEndpoint(t.Context(), b.account, ids[0])
			return err
		}
		_, _, err := tx.FailOver(t.Context(), lane, nil, 7)
		return err
	})
	wantErrors(t, errs, handing, nil)
	given := b.count(t, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, ids[1])
	stayed := b.count(t, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'pending'`, ids[0])
	if given+stayed != n {
		t.Errorf("%d were given and %d stayed, want %d together", given, stayed, n)
	}
	b.wantGiven(t, ids[0], ids[1], given)
}

// errDied stands for a process that dies before its commit.
var errDied = errors.New("died")

func TestHandingOnIsUndoneWhole(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.chain(t, 2)
	b.queued(t, ids[0], 4)
	b.disable(t, ids[0])
	lane := store.Lane{AccountID: b.account, EndpointID: ids[0]}
	err := b.InTx(t.Context(), func(tx store.Tx) error {
		n, _, err := tx.FailOver(t.Context(), lane, nil, 9)
		return errors.Join(err, fmt.Errorf("%w after %d", errDied, n))
	})
	if !errors.Is(err, errDied) {
		t.Fatal(err)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE status = 'pending' AND endpoint_id = $1`, ids[0]); n != 4 {
		t.Errorf("%d are pending, want all", n)
	}
	b.wantGiven(t, ids[0], ids[1], 0)
	b.handOn(t, lane, 9)
	b.wantGiven(t, ids[0], ids[1], 4)
}

// The next one is being deleted: who gives it something waits, and then finds
// who comes after it; or came first, and what was given is cancelled.
func TestFailOverWhileTheNextIsDeleted(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.chain(t, 3)
	events := b.eventsOf(t, b.queued(t, ids[0], 2))
	b.exec(t, 2, `UPDATE deliveries SET status = 'failed' WHERE endpoint_id = $1`, ids[0])
	lane := store.Lane{AccountID: b.account, EndpointID: ids[0]}
	remove := func(id gateway.EndpointID) func(store.Tx) error {
		return func(tx store.Tx) error { return b.remove(t.Context(), tx, id) }
	}
	failOver := func(event gateway.EventID, want gateway.EndpointID) func(store.Tx) error {
		return func(tx store.Tx) error {
			_, next, err := tx.FailOver(t.Context(), lane, []gateway.EventID{event}, 0)
			if err == nil && (next == nil || next.EndpointID != want) {
				err = fmt.Errorf("given to %v", next)
			}
			return err
		}
	}
	nothing := func(store.Tx) error { return nil }
	if err := b.whileWaiting(t, remove(ids[1]), failOver(events[0], ids[2]), nothing); err != nil {
		t.Errorf("behind the deletion: %v", err)
	}
	if err := b.whileWaiting(t, failOver(events[1], ids[2]), remove(ids[2]), nothing); err != nil {
		t.Errorf("before the deletion: %v", err)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'cancelled'`, ids[2]); n != 2 {
		t.Errorf("%d are cancelled, want both", n)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, ids[1]); n != 0 {
		t.Errorf("%d went to the deleted one", n)
	}
}

// Heads that share their next one and the deletions of it, all at once: nobody
// waits in a circle, and nothing stays open at a deleted one.
func TestFailOverAndDeletionsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const heads = 6
	for range 5 {
		tail := b.chain(t, 2)
		ids := make([]gateway.EndpointID, heads)
		var events []gateway.EventID
		for i := range ids {
			e := b.newEndpoint(t)
			ids[i] = e.ID
			b.exec(t, 1, `UPDATE endpoints SET failover_id = $2 WHERE id = $1`, e.ID, tail[0])
			if i == 0 {
				events = b.eventsOf(t, b.queued(t, e.ID, 20))
			}
		}
		errs := b.atOnce(t.Context(), heads+1, func(tx store.Tx, i int) error {
			if i == heads {
				return b.remove(t.Context(), tx, tail[0])
			}
			lane := store.Lane{AccountID: b.account, EndpointID: ids[i]}
			if _, err := tx.ExtendLane(t.Context(), lane); err != nil {
				return err
			}
			if _, _, err := tx.ReadTarget(t.Context(), lane); err != nil {
				return err
			}
			if i%2 == 0 {
				if _, err := tx.CountFailure(t.Context(), lane, 1); err != nil {
					return err
				}
			}
			mine := slices.Clone(events)
			if i%3 == 0 {
				slices.Reverse(mine)
			}
			_, _, err := tx.FailOver(t.Context(), lane, mine, 9)
			return err
		})
		wantErrors(t, errs, heads+1, nil)
		if n := b.count(t, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'pending'`, tail[0]); n != 0 {
			t.Errorf("%d are open at a deleted endpoint", n)
		}
		if n := b.count(t, `SELECT count(*) FROM endpoints WHERE failover_id = $1 AND deleted_at IS NULL`, tail[0]); n != 0 {
			t.Errorf("%d fail over to a deleted endpoint", n)
		}
	}
}

// remove deletes an endpoint as its button does.
func (b bundle) remove(ctx context.Context, tx store.Tx, id gateway.EndpointID) error {
	if _, err := tx.Bridge(ctx, b.account, id); err != nil {
		return err
	}
	return tx.DeleteEndpoint(ctx, b.account, id)
}

// A head is stalled when something of it is open and nobody is at it: waiting,
// or in the air of a node that is gone.
func TestStalledHeads(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	waits, sends, held, empty := b.chain(t, 2), b.chain(t, 2), b.chain(t, 2), b.chain(t, 2)
	alone := b.newEndpoint(t).ID
	for _, id := range []gateway.EndpointID{waits[0], sends[0], held[0], alone} {
		b.queued(t, id, 1)
	}
	b.takeDue(t, b.acquire(t, sends[0], "dead"), 1)
	b.acquire(t, held[0], "n")
	b.disable(t, waits[0], sends[0], held[0], empty[0], alone)
	want := []gateway.EndpointID{waits[0]}
	for _, then := range []gateway.EndpointID{sends[0], held[0], {}} {
		heads, err := b.StalledHeads(t.Context(), 9)
		var got []gateway.EndpointID
		for _, h := range heads {
			got = append(got, h.EndpointID)
		}
		slices.SortFunc(got, gateway.EndpointID.Compare)
		slices.SortFunc(want, gateway.EndpointID.Compare)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("stalled %v, %v; want %v", got, err, want)
		}
		if !then.IsZero() {
			b.endLease(t, then)
			want = append(want, then)
		}
	}
}

// A delivery that had its last attempt in the air of a dead node is given to
// the next one, too.
func TestTakeOverFailsOver(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.chain(t, 2)
	b.queued(t, ids[0], 2)
	b.takeDue(t, b.acquire(t, ids[0], "dead"), 2)
	b.exec(t, 1, `UPDATE deliveries SET attempts = $1 WHERE id = (SELECT min(id::text)::uuid FROM deliveries)`, gateway.MaxAttempts)
	b.disable(t, ids[0])
	b.steady(t, "heir")
	b.endLease(t, ids[0])
	heir := b.acquire(t, ids[0], "heir")
	b.in(t, func(tx store.Tx) error {
		n, err := tx.TakeOver(t.Context(), heir)
		if n != 2 {
			t.Errorf("took over %d", n)
		}
		return err
	})
	b.wantGiven(t, ids[0], ids[1], 1)
	b.handOn(t, heir, 9)
	b.wantGiven(t, ids[0], ids[1], 2)
}

// What is decided again stands behind what is live, and is handed on like it;
// there it stands behind what is live, too. What an operation opened waits.
func TestHandOnBulk(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.chain(t, 2)
	b.queued(t, ids[0], 2)
	b.exec(t, 2, `UPDATE deliveries SET priority = 2 WHERE endpoint_id = $1`, ids[0])
	opened := b.queued(t, ids[0], 3)
	b.exec(t, 3, `UPDATE deliveries SET priority = 2, trigger = 'recover' WHERE id = ANY ($1)`, opened)
	b.queued(t, ids[0], 1)
	b.disable(t, ids[0])
	if stalled, err := b.StalledHeads(t.Context(), 9); err != nil || len(stalled) != 1 {
		t.Errorf("stalled: %v, %v", stalled, err)
	}
	lane := store.Lane{AccountID: b.account, EndpointID: ids[0]}
	for _, want := range []int{2, 1, 0} {
		more, err := b.HandsOn(t.Context(), b.account, ids[0])
		if n, _ := b.handOn(t, lane, 2); err != nil || more != (want > 0) || n != want {
			t.Errorf("%d were handed on, more %t, %v; want %d", n, more, err, want)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND priority = 2`, ids[1]); n != 2 {
		t.Errorf("%d stand behind what is live at the next", n)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'pending'`, ids[0]); n != len(opened) {
		t.Errorf("%d of %d that were sent again wait", n, len(opened))
	}
	// One that fails for good there is no live traffic at the next, either.
	b.exec(t, 1, `UPDATE deliveries SET status = 'failed' WHERE id = $1`, opened[0])
	b.in(t, func(tx store.Tx) error {
		_, _, err := tx.FailOver(t.Context(), lane, b.eventsOf(t, opened[:1]), 0)
		return err
	})
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND priority = 2`, ids[1]); n != 3 {
		t.Errorf("%d stand behind what is live at the next", n)
	}
}

// The head of a chain is found for each event by the way that it went: one that
// is longer than a chain can be now, none at all, or one that comes round again.
func TestHeadsOf(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.chain(t, gateway.MaxFailoverDepth)
	ids = append(ids, b.newEndpoint(t).ID, b.newEndpoint(t).ID)
	last := ids[len(ids)-1]
	events := b.eventsOf(t, b.queued(t, last, 4))
	b.exec(t, 3, `UPDATE deliveries SET failover_of = $1 WHERE endpoint_id = $2 AND event_id <> $3`, ids[len(ids)-2], last, events[0])
	ways := map[int][][2]int{ // of each event: to whom, in whose place; -1 is nobody
		1: {{0, -1}, {1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 4}},
		2: {{3, -1}, {5, 3}},
		3: {{5, 4}, {4, 6}},
	}
	for i, way := range ways {
		for _, step := range way {
			var of *gateway.EndpointID
			if step[1] >= 0 {
				of = &ids[step[1]]
			}
			to := ids[step[0]]
			b.exec(t, 1, `INSERT INTO deliveries (id, account_id, event_id, endpoint_id, failover_of, next_attempt_at) VALUES ($1, $2, $3, $4, $5, now())`,
				gateway.DeriveDeliveryID(events[i], to), b.account, events[i], to, of)
		}
	}
	heads := func(account gateway.AccountID) (heads map[gateway.EventID]gateway.EndpointID) {
		b.in(t, func(tx store.Tx) (err error) {
			heads, err = tx.HeadsOf(t.Context(), account, last, events)
			return err
		})
		return heads
	}
	found := heads(b.account)
	for i, want := range []gateway.EndpointID{last, ids[0], ids[3]} {
		if found[events[i]] != want {
			t.Errorf("event %d: head %s, want %s", i, found[events[i]], want)
		}
	}
	if _, ok := found[events[3]]; !ok || len(found) != len(events) {
		t.Errorf("heads of %d events of %d", len(found), len(events))
	}
	for event, head := range heads(b.newAccount(t, "other")) {
		if head != last {
			t.Errorf("another account is told the head of %s", event)
		}
	}
}
