package store_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Of many that note what is open one is told, of each kind and account, and
// what is decided or closed is not counted.
func TestNoteOpenOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.newAccount(t, "idle")
	endpoint, source := b.newEndpoint(t), b.newSource(t).ID
	b.queued(t, endpoint.ID, 3)
	b.takeDue(t, b.acquire(t, endpoint.ID, "node"), 1)
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, b.newEndpoint(t).ID) })
	for _, status := range gateway.EventStatuses {
		b.decided(t, source, status)
	}
	b.accepted(t, source, 1)
	day := b.clock.Now().Truncate(24 * time.Hour)
	want := []store.Notice{{AccountID: b.account, Deliveries: 3, Held: 1, Accepted: 2}}
	for _, kind := range []store.NoticeKind{store.NoticeWarning, store.NoticeExpiry} {
		var mu sync.Mutex
		var told []store.Notice
		for range 2 {
			errs := b.atOnce(t.Context(), 6, func(tx store.Tx, _ int) error {
				notices, err := tx.NoteOpen(t.Context(), day, kind)
				mu.Lock()
				defer mu.Unlock()
				told = append(told, notices...)
				return err
			})
			wantErrors(t, errs, 6, nil)
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
	b.in(t, func(tx store.Tx) error {
		notices, err := tx.NoteOpen(t.Context(), day.AddDate(0, 0, 1), store.NoticeWarning)
		if len(notices) != 0 {
			t.Errorf("of another day: %+v", notices)
		}
		return err
	})
}

// A notice that rolls back was none.
func TestNoteOpenRolledBack(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.accepted(t, b.newSource(t).ID, 1)
	day := b.clock.Now().Truncate(24 * time.Hour)
	note := func(tx store.Tx) error {
		notices, err := tx.NoteOpen(t.Context(), day, store.NoticeExpiry)
		if len(notices) != 1 {
			t.Errorf("%d notices", len(notices))
		}
		return err
	}
	if err := b.InTx(t.Context(), func(tx store.Tx) error { return errors.Join(note(tx), errRollBack) }); !errors.Is(err, errRollBack) {
		t.Fatal(err)
	}
	b.in(t, note)
}

// insertKeys stores keys that were seen at these ages, all in one part, and
// returns it.
func (b bundle) insertKeys(t *testing.T, ages ...time.Duration) (part int) {
	t.Helper()
	now := b.clock.Now()
	for _, age := range ages {
		b.exec(t, 1, `
			INSERT INTO event_keys_3 (account_id, source_id, key_hash, event_id, body_hash, seen_at)
			SELECT $1, $1, hash, $2, '', $3
			FROM generate_series(1, 10000) AS n
			CROSS JOIN LATERAL sha256(($2::uuid::text || n)::bytea) AS hash
			WHERE satisfies_hash_partition('event_keys'::regclass, 8, 3, hash)
			LIMIT 1`, b.account, gateway.EventID(b.clock.NewID()), now.Add(-age))
	}
	return 3
}

// The oldest go first, a call goes on where the one before ended, and what is
// young stays.
func TestPruneKeysInOrder(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	part := b.insertKeys(t, 2*time.Hour, 5*time.Hour, time.Minute, 4*time.Hour, 3*time.Hour)
	now := b.clock.Now()
	var since time.Time
	for call, want := range []struct {
		pruned int64
		hours  int
	}{{2, 4}, {2, 2}, {0, 2}, {0, 2}} {
		n, until, err := b.PruneKeys(t.Context(), part, since, now.Add(-time.Hour), 2)
		if err != nil || n != want.pruned || now.Sub(until).Round(time.Hour) != time.Duration(want.hours)*time.Hour {
			t.Errorf("call %d: %d keys up to %v, %v; want %d", call, n, now.Sub(until), err, want.pruned)
		}
		since = until
	}
	if n := b.count(t, `SELECT count(*) FROM event_keys`); n != 1 {
		t.Errorf("%d keys are left, want the young one", n)
	}
}

// While one node prunes, others find nothing to do, and do not wait.
func TestOneNodePrunes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	part := b.insertKeys(t, time.Hour, time.Hour)
	b.rollup(t, b.newEndpoint(t).ID, "n", time.Hour, 1)
	now := b.clock.Now()
	both := func() []int64 {
		keys, _, err := b.PruneKeys(t.Context(), part, time.Time{}, now, 9)
		rollups, also := b.PruneRollups(t.Context(), now.Add(-time.Minute), 9)
		if err := errors.Join(err, also); err != nil {
			t.Fatal(err)
		}
		return []int64{keys, rollups}
	}
	b.in(t, func(store.Tx) error {
		held, err := b.pool.Begin(t.Context())
		if err != nil {
			return err
		}
		defer held.Rollback(t.Context()) //nolint:errcheck // it wrote nothing
		_, err = held.Exec(t.Context(), `SELECT pg_advisory_xact_lock($1), pg_advisory_xact_lock($2)`, 0x6b657973, 0x726f6c6c757073)
		if got := both(); !slices.Equal(got, []int64{0, 0}) {
			t.Errorf("pruned %v while another node did", got)
		}
		return err
	})
	if got := both(); !slices.Equal(got, []int64{2, 1}) {
		t.Errorf("pruned %v, want 2 keys and 1 rollup", got)
	}
}

// rollup stores what happened in one minute of the past.
func (b bundle) rollup(t *testing.T, endpoint gateway.EndpointID, node string, age time.Duration, succeeded int) {
	t.Helper()
	b.rollupAt(t, endpoint, node, b.clock.Now().Add(-age), succeeded)
}

// rollupAt is rollup of a minute by its time: a minute can end between two calls.
func (b bundle) rollupAt(t *testing.T, endpoint gateway.EndpointID, node string, at time.Time, succeeded int) {
	t.Helper()
	b.exec(t, 1, `
		INSERT INTO rollups (minute, endpoint_id, node, account_id, succeeded, rejected)
		VALUES (date_trunc('minute', $1::timestamptz), $2, $3, $4, $5, 7)`,
		at, endpoint, node, b.account, succeeded)
}

// Old minutes go, young ones stay, and the number of confirmed deliveries does
// not change: twice, and by several at once.
func TestPruneRollupsKeepsTheCount(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const minutes, young = 90, 2
	for _, endpoint := range []gateway.EndpointID{b.newEndpoint(t).ID, b.newEndpoint(t).ID} {
		now := b.clock.Now()
		for minute := range minutes {
			b.rollupAt(t, endpoint, "one", now.Add(-24*time.Hour-time.Duration(minute)*time.Minute), minute%3)
		}
		b.rollup(t, endpoint, "two", 24*time.Hour, 5)
		b.rollup(t, endpoint, "one", 0, 11)
	}
	const meter = `SELECT (SELECT sum(succeeded) FROM rollups)::int + (SELECT coalesce(sum(deliveries), 0) FROM usage)::int`
	want := b.count(t, meter)
	before := b.clock.Now().Add(-time.Hour)
	for b.count(t, `SELECT count(*) FROM rollups`) > young {
		errs := b.atOnce(t.Context(), 4, func(store.Tx, int) error {
			_, err := b.PruneRollups(t.Context(), before, 25)
			return err
		})
		wantErrors(t, errs, 4, nil)
	}
	if n, err := b.PruneRollups(t.Context(), before, 25); n != 0 || err != nil {
		t.Errorf("once more: %d, %v", n, err)
	}
	if got := b.count(t, meter); got != want || b.count(t, `SELECT count(*) FROM rollups`) != young {
		t.Errorf("%d confirmed deliveries are counted, want %d", got, want)
	}
	if n := b.count(t, `SELECT sum(deliveries)::int FROM usage WHERE node = 'two' AND events = 0`); n != 10 {
		t.Errorf("node two counts %d", n)
	}
}

// Longer spans go with their minutes, and are not counted twice.
func TestPruneRollupsOfAllSpans(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t).ID
	now := b.clock.Now().UTC()
	for _, age := range []time.Duration{0, 48 * time.Hour} {
		for _, span := range []int{1, 15, 120} {
			b.tally(t, e, now.Add(-age).Truncate(2*time.Hour), span, 10)
		}
	}
	for _, want := range []int64{1, 2, 0} { // the minute, then what it was a part of
		if n, err := b.PruneRollups(t.Context(), now.Add(-24*time.Hour), 100); n != want || err != nil {
			t.Errorf("pruned %d, %v, want %d", n, err, want)
		}
	}
	if n := b.count(t, `SELECT count(DISTINCT span) FROM rollups`); n != 3 {
		t.Errorf("%d young spans are left, want 3", n)
	}
	if n := b.count(t, `SELECT sum(deliveries)::int FROM usage`); n != 10 {
		t.Errorf("%d deliveries are counted in usage, want the 10 of the minute", n)
	}
}
