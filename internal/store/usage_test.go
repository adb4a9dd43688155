package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Transactions of several nodes that count for the same sources at once lose
// nothing and do not wait in a circle.
func TestUsageAddsUp(t *testing.T) {
	t.Parallel()
	const n = 20
	b := newBundle(t)
	accounts := []gateway.AccountID{b.account, b.newAccount(t, "b"), b.newAccount(t, "c"), b.newAccount(t, "idle")}
	sources := []gateway.SourceID{gateway.SourceID(b.clock.NewID()), gateway.SourceID(b.clock.NewID())}
	errs := b.wide(t, n).atOnce(t.Context(), n, func(tx store.Tx, i int) error {
		counts := map[store.SourceRef]store.Usage{}
		types := map[store.TypeRef]int64{}
		for k, account := range accounts[:3] {
			for _, name := range []string{"a", "b", "c"} {
				types[store.TypeRef{AccountID: account, Type: name}] = int64(k + 1)
			}
			for _, source := range sources {
				counts[store.SourceRef{AccountID: account, SourceID: source}] = store.Usage{Events: int64(k + 1), Bytes: int64(10 * (k + 1))}
			}
		}
		return errors.Join(tx.AddUsage(t.Context(), []string{"one", "two"}[i%2], counts, types), tx.AddUsage(t.Context(), "one", nil, nil))
	})
	wantErrors(t, errs, n, nil)
	for k, account := range accounts {
		want := [2]int{2 * n * (k + 1), 2 * 10 * n * (k + 1)}
		if k == 3 {
			want = [2]int{}
		}
		got := [2]int{
			b.count(t, `SELECT coalesce(sum(events), 0)::int FROM usage WHERE account_id = $1`, account),
			b.count(t, `SELECT coalesce(sum(bytes), 0)::int FROM usage WHERE account_id = $1`, account),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("account %d: %s", k, diff)
		}
		perType := want[0] / 2
		counts, err := b.BusiestTypes(t.Context(), account, store.LastSteps(b.clock.Now(), 2, time.Hour), 9)
		if err != nil || k < 3 && len(counts) != 3 || k == 3 && len(counts) != 0 {
			t.Errorf("account %d: %v, %v", k, counts, err)
		}
		for _, c := range counts {
			if c.Events != int64(perType) {
				t.Errorf("account %d: %+v, want %d", k, c, perType)
			}
		}
	}
}

func TestUsageOfARollBackIsTakenAway(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	err := b.InTx(t.Context(), func(tx store.Tx) error {
		counts := map[store.SourceRef]store.Usage{{AccountID: b.account}: {Events: 1, Bytes: 1}}
		return errors.Join(tx.AddUsage(t.Context(), "node", counts, map[store.TypeRef]int64{{AccountID: b.account, Type: "a"}: 1}), errRollBack)
	})
	if n := b.count(t, `SELECT count(*) FROM usage`); n != 0 || !errors.Is(err, errRollBack) {
		t.Errorf("%d rows are left, %v", n, err)
	}
}

func TestStoredBytes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	hour := b.clock.Now().Truncate(time.Hour)
	for _, row := range []struct {
		account gateway.AccountID
		hour    time.Time
		node    string
		bytes   int64
	}{
		{b.account, hour, "one", 1},
		{b.account, hour, "two", 10},
		{b.account, hour.Add(-time.Hour), "one", 100},
		{b.newAccount(t, "other"), hour, "one", 1000},
	} {
		b.exec(t, 1, `INSERT INTO usage (account_id, hour, node, events, bytes) VALUES ($1, $2, $3, 1, $4)`,
			row.account, row.hour, row.node, row.bytes)
	}
	for name, test := range map[string]struct {
		account gateway.AccountID
		since   time.Time
		want    int64
	}{
		"all":             {b.account, hour.Add(-time.Hour), 111},
		"since this hour": {b.account, hour, 11},
		"since later":     {b.account, hour.Add(time.Second), 0},
		"no account":      {gateway.AccountID{}, time.Time{}, 0},
	} {
		if got, err := b.StoredBytes(t.Context(), test.account, test.since); err != nil || got != test.want {
			t.Errorf("%s: %d, %v, want %d", name, got, err, test.want)
		}
	}
}
