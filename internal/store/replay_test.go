package store_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func (b bundle) guard(source gateway.SourceID, hash byte, window time.Duration) store.ReplayGuard {
	return store.ReplayGuard{AccountID: b.account, SourceID: source, Hash: [32]byte{hash}, EventID: gateway.EventID(b.clock.NewID()), Window: window}
}

func (b bundle) claimReplays(t *testing.T, guards ...store.ReplayGuard) (isNew []bool) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		isNew, err = tx.ClaimReplays(t.Context(), guards)
		return err
	})
	return isNew
}

// What may come once comes once within its window, however many ask at once;
// after that it is new again, and once only.
func TestReplayIsClaimedOnce(t *testing.T) {
	t.Parallel()
	const n = 40
	b := newBundle(t)
	source := b.newSource(t).ID
	for round, age := range []time.Duration{0, 0, 59 * time.Minute, 61 * time.Minute} {
		b.exec(t, int64(min(round, 1)), `UPDATE event_keys SET seen_at = clock_timestamp() - $1::interval`, age)
		isNew := make([]bool, n)
		errs := b.wide(t, n).atOnce(t.Context(), n, func(tx store.Tx, i int) error {
			found, err := tx.ClaimReplays(t.Context(), []store.ReplayGuard{b.guard(source, 1, time.Hour)})
			isNew[i] = found[0]
			return err
		})
		wantErrors(t, errs, n, nil)
		won := len(slices.DeleteFunc(isNew, func(is bool) bool { return !is }))
		if want := map[int]int{0: 1, 3: 1}[round]; won != want {
			t.Errorf("round %d: %d were new, want %d", round, won, want)
		}
	}
}

func TestReplaysAreOfASource(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newSource(t).ID, b.newSource(t).ID
	if got := b.claimReplays(t, b.guard(one, 1, time.Hour), b.guard(two, 1, time.Hour), b.guard(one, 2, time.Hour)); slices.Contains(got, false) {
		t.Errorf("new are %v", got)
	}
	if got := b.claimReplays(t, b.guard(one, 1, time.Hour), b.guard(one, 3, time.Hour)); !slices.Equal(got, []bool{false, true}) {
		t.Errorf("new are %v, want the second", got)
	}
	if got := b.claimReplays(t, b.guard(one, 4, time.Hour), b.guard(one, 4, time.Hour), b.guard(two, 4, time.Hour)); !slices.Equal(got, []bool{true, false, true}) {
		t.Errorf("new are %v, want all but the second", got)
	}
	if got := b.claimReplays(t); len(got) != 0 {
		t.Errorf("nothing is %v", got)
	}
}

// What waits for another transaction is new if that one rolls back.
func TestReplayOfARollBackIsFree(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	ended := make(chan bool, 1)
	_ = b.InTx(t.Context(), func(tx store.Tx) error {
		if _, err := tx.ClaimReplays(t.Context(), []store.ReplayGuard{b.guard(source, 1, time.Hour)}); err != nil {
			t.Error(err)
		}
		go func() {
			var isNew []bool
			err := b.InTx(t.Context(), func(tx store.Tx) (err error) {
				isNew, err = tx.ClaimReplays(t.Context(), []store.ReplayGuard{b.guard(source, 1, time.Hour)})
				return err
			})
			ended <- err == nil && isNew[0]
		}()
		b.waiting(t, 1)
		return errRollBack
	})
	if !<-ended {
		t.Error("it was not new")
	}
}

// Keys are given back by who claimed them, and by nobody else.
func TestReleaseKeys(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	mine, kept := b.key(source, "a", "1"), b.key(source, "b", "1")
	b.claim(t, mine, kept)
	stranger := mine
	stranger.EventID = gateway.EventID(b.clock.NewID())
	for _, test := range []struct {
		key  store.EventKey
		left int
	}{{stranger, 2}, {mine, 1}, {mine, 1}} {
		b.in(t, func(tx store.Tx) error { return tx.ReleaseKeys(t.Context(), []store.EventKey{test.key}) })
		if n := b.count(t, `SELECT count(*) FROM event_keys`); n != test.left {
			t.Errorf("%d keys are left, want %d", n, test.left)
		}
	}
	b.in(t, func(tx store.Tx) error { return tx.ReleaseKeys(t.Context(), nil) })
	if first := b.claim(t, kept)[0]; first == nil || !bytes.Equal(first.EventID[:], kept.EventID[:]) {
		t.Errorf("the other key is of %v", first)
	}
}
