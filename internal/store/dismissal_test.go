package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// dismiss dismisses groups in a transaction of its own and returns how many
// that changed.
func (b bundle) dismiss(t *testing.T, account gateway.AccountID, all ...store.Dismissal) (n int) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		n, err = tx.Dismiss(t.Context(), account, gateway.ActorRowlock, "known", all)
		return err
	})
	return n
}

func (b bundle) restore(t *testing.T, account gateway.AccountID, endpoint *gateway.EndpointID, cause *gateway.Cause) (n int) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		n, err = tx.Restore(t.Context(), account, endpoint, cause)
		return err
	})
	return n
}

// wantFailed fails unless so many failures are counted, and so many grouped
// that are not dismissed.
func (b bundle) wantFailed(t *testing.T, want int) {
	t.Helper()
	n, err := b.CountFailed(t.Context(), b.account, 100)
	open := 0
	for _, g := range b.failures(t, b.account, store.FailureFilter{}) {
		if !g.Dismissed() {
			open += g.Count
		}
	}
	if n != want || open != want || err != nil {
		t.Errorf("%d are counted, %d grouped as open, %v; want %d", n, open, err, want)
	}
}

// A dismissed group is open again when it fails again, by itself.
func TestDismissedFailuresReopen(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newEndpoint(t).ID, b.newEndpoint(t).ID
	down, slow := gateway.Cause{StatusCode: 503}, gateway.Cause{ErrorKind: gateway.ErrorTimeout}
	b.fail(t, one, down, 3)
	b.fail(t, one, slow, 2)
	b.fail(t, two, down, 1)
	b.wantFailed(t, 6)
	seen := b.failures(t, b.account, store.FailureFilter{Endpoint: &one, Cause: &down})[0]
	d := store.Dismissal{EndpointID: one, Cause: down, Until: seen.Last}
	if n := b.dismiss(t, b.newAccount(t, "other"), d); n != 0 {
		t.Error("another account dismissed it")
	}
	if n := b.dismiss(t, b.account, d); n != 1 {
		t.Errorf("%d dismissed", n)
	}
	if n := b.dismiss(t, b.account, d); n != 0 {
		t.Error("a second press dismissed again")
	}
	b.wantFailed(t, 3)
	got := b.failures(t, b.account, store.FailureFilter{Endpoint: &one, Cause: &down})[0].Dismissal
	if got == nil || got.Note != "known" || got.ActorName != "Rowlock" || !got.Until.Equal(seen.Last) || time.Since(got.At) > time.Minute {
		t.Errorf("dismissed as %+v", got)
	}
	b.fail(t, one, down, 1)
	b.wantFailed(t, 7)
	if n := b.dismiss(t, b.account, d); n != 0 {
		t.Error("what was not seen was dismissed")
	}
	b.wantFailed(t, 7)
	d.Until = b.failures(t, b.account, store.FailureFilter{Endpoint: &one, Cause: &down})[0].Last
	if n := b.dismiss(t, b.account, d); n != 1 {
		t.Error("it could not be dismissed again")
	}
	b.wantFailed(t, 3)
	if n := b.restore(t, b.newAccount(t, "third"), &one, &down); n != 0 {
		t.Error("another account restored it")
	}
	if first, second := b.restore(t, b.account, &one, &down), b.restore(t, b.account, &one, &down); first != 1 || second != 0 {
		t.Errorf("restored %d, then %d", first, second)
	}
	b.wantFailed(t, 7)
}

// What is restored is an endpoint's, a cause's, or one of both.
func TestRestore(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newEndpoint(t).ID, b.newEndpoint(t).ID
	down, slow := gateway.Cause{StatusCode: 503}, gateway.Cause{ErrorKind: gateway.ErrorTimeout}
	all := []store.Dismissal{}
	for _, e := range []gateway.EndpointID{one, two} {
		for _, c := range []gateway.Cause{down, slow} {
			all = append(all, store.Dismissal{EndpointID: e, Cause: c, Until: b.clock.Now()})
		}
	}
	for name, c := range map[string]struct {
		endpoint *gateway.EndpointID
		cause    *gateway.Cause
		want     int
	}{"endpoint": {&one, nil, 2}, "cause": {nil, &down, 2}, "both": {&two, &slow, 1}, "unknown": {&two, &gateway.Cause{}, 0}} {
		b.restore(t, b.account, nil, nil)
		if n := b.dismiss(t, b.account, all...); n != len(all) {
			t.Fatalf("%d dismissed", n)
		}
		if n := b.restore(t, b.account, c.endpoint, c.cause); n != c.want {
			t.Errorf("%s: %d restored, want %d", name, n, c.want)
		}
	}
	if n, err := b.PruneDismissals(t.Context(), b.clock.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("%d pruned that are new, %v", n, err)
	}
	if n, err := b.PruneDismissals(t.Context(), b.clock.Now().Add(time.Hour)); n == 0 || err != nil {
		t.Errorf("%d pruned, %v", n, err)
	}
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, one) })
	if n := b.dismiss(t, b.account, all...); n != 2 {
		t.Errorf("%d dismissed, two of them of a deleted endpoint", n)
	}
}

// Any number of presses at once, each for several groups in another order, have
// one effect on each.
func TestDismissAtOnce(t *testing.T) {
	t.Parallel()
	const n, codes = 16, 8
	b := newBundle(t)
	e := b.newEndpoint(t).ID
	var all []store.Dismissal
	for i := range codes {
		all = append(all, store.Dismissal{EndpointID: e, Cause: gateway.Cause{StatusCode: 500 + i}, Until: b.clock.Now()})
	}
	var changed, restored atomic.Int64
	errs := b.atOnce(t.Context(), n, func(tx store.Tx, i int) error {
		turned := append(append([]store.Dismissal{}, all[i%codes:]...), all[:i%codes]...)
		did, err := tx.Dismiss(t.Context(), b.account, gateway.ActorRowlock, "", turned)
		changed.Add(int64(did))
		return err
	})
	wantErrors(t, errs, n, nil)
	errs = b.atOnce(t.Context(), n, func(tx store.Tx, _ int) error {
		did, err := tx.Restore(t.Context(), b.account, &e, nil)
		restored.Add(int64(did))
		return err
	})
	wantErrors(t, errs, n, nil)
	if changed.Load() != codes || restored.Load() != codes {
		t.Errorf("%d dismissed and %d restored, want %d each", changed.Load(), restored.Load(), codes)
	}
}

// Retrying are those whose last attempt failed and that are open.
func TestRetrying(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two, gone := b.newEndpoint(t), b.newEndpoint(t), b.newEndpoint(t)
	down, slow, unknown := gateway.Cause{StatusCode: 503}, gateway.Cause{ErrorKind: gateway.ErrorTimeout}, gateway.Cause{}
	retried := func(e gateway.EndpointID, c gateway.Cause, n int) []gateway.DeliveryID {
		ids := b.fail(t, e, c, n)
		b.exec(t, int64(n), `UPDATE deliveries SET status = 'pending', closed_at = NULL, next_attempt_at = now() + interval '1 minute' WHERE id = ANY ($1)`, ids)
		return ids
	}
	newest := [][]gateway.DeliveryID{newestFirst(retried(one.ID, down, 3)...), newestFirst(retried(two.ID, slow, 2)...), retried(two.ID, unknown, 1)}
	b.exec(t, 1, `UPDATE deliveries SET status = 'sending' WHERE id = $1`, newest[1][0])
	retried(gone.ID, down, 9)
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, gone.ID) })
	b.fail(t, one.ID, down, 5)
	b.queued(t, one.ID, 4)
	got, more, err := b.Retrying(t.Context(), b.account, store.FailureFilter{Step: time.Hour})
	if err != nil || more || len(got) != 3 {
		t.Fatalf("%+v, more: %t, %v", got, more, err)
	}
	for i, g := range got {
		if diff := cmp.Diff(newest[i], g.Newest); diff != "" || g.Count != len(newest[i]) || g.NextAttemptAt == nil || g.Dismissal != nil {
			t.Errorf("group %d: %+v, %s", i, g, diff)
		}
		if first, last := g.Oldest.Time(), g.Newest[0].Time(); !g.First.Equal(first) || !g.Last.Equal(last) {
			t.Errorf("from %s to %s, want from %s to %s", g.First, g.Last, first, last)
		}
	}
	if got[0].Cause != down || got[0].Endpoint.URL != one.URL || got[1].Cause != slow || got[2].Cause != unknown {
		t.Errorf("%+v", got)
	}
	for name, f := range map[string]store.FailureFilter{"endpoint": {Endpoint: &one.ID}, "cause": {Cause: &down}} {
		if got, _, err := b.Retrying(t.Context(), b.account, f); len(got) != 1 || err != nil {
			t.Errorf("by %s: %+v, %v", name, got, err)
		}
	}
	if got, _, err := b.Retrying(t.Context(), b.newAccount(t, "other"), store.FailureFilter{}); len(got) != 0 || err != nil {
		t.Errorf("another account: %+v, %v", got, err)
	}
}

// Who restores takes the groups in the order of their key, as who dismisses
// does, however they are stored: neither waits for the other in a circle.
func TestRestoreWhileDismissing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t).ID
	seen := b.clock.Now()
	group := func(code int, until time.Time) store.Dismissal {
		return store.Dismissal{EndpointID: e, Cause: gateway.Cause{StatusCode: code}, Until: until}
	}
	for _, code := range []int{503, 500} { // the last one is stored first
		b.dismiss(t, b.account, group(code, seen))
	}
	b.exec(t, 0, `ANALYZE dismissals`) // so that the table is read as it is stored
	again := func(code int) func(store.Tx) error {
		return func(tx store.Tx) error {
			_, err := tx.Dismiss(t.Context(), b.account, gateway.ActorRowlock, "", []store.Dismissal{group(code, seen.Add(time.Second))})
			return err
		}
	}
	restore := func(tx store.Tx) error {
		n, err := tx.Restore(t.Context(), b.account, nil, nil)
		if err == nil && n != 2 {
			t.Errorf("%d restored, want 2", n)
		}
		return err
	}
	if err := b.whileWaiting(t, again(500), restore, again(503)); err != nil {
		t.Errorf("restore: %v", err)
	}
}
