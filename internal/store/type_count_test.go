package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// countTypes counts events of types, so many hours ago.
func (b bundle) countTypes(t *testing.T, account gateway.AccountID, hours int, counts map[string]int) {
	t.Helper()
	at := b.clock.Now().Truncate(time.Hour).Add(time.Duration(-hours) * time.Hour)
	for name, n := range counts {
		b.exec(t, 1, `INSERT INTO type_counts (account_id, hour, type, node, events) VALUES ($1, $2, $3, 'n', $4)`, account, at, name, n)
	}
}

func TestBusiestTypes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.countTypes(t, b.account, 0, map[string]int{"a": 1, "b": 5})
	b.countTypes(t, b.account, 1, map[string]int{"a": 7, "c": 5})
	b.countTypes(t, b.account, 2, map[string]int{"old": 100})
	b.countTypes(t, b.newAccount(t, "other"), 0, map[string]int{"theirs": 100})
	w := store.LastSteps(b.clock.Now(), 2, time.Hour)
	got, err := b.BusiestTypes(t.Context(), b.account, w, 3)
	if diff := cmp.Diff([]store.TypeCount{{"a", 8}, {"b", 5}, {"c", 5}}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := b.BusiestTypes(t.Context(), b.account, w, 1); err != nil || len(got) != 1 || got[0].Type != "a" {
		t.Errorf("%v, %v; want a alone", got, err)
	}
	bins, err := b.ReceivedOfType(t.Context(), b.account, "a", w)
	if err != nil || len(bins) != 2 || bins[0].Events != 7 || bins[1].Events != 1 {
		t.Errorf("%+v, %v", bins, err)
	}
}

func TestReceivedFromASource(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newSource(t).ID, b.newSource(t).ID
	b.in(t, func(tx store.Tx) error {
		return tx.AddUsage(t.Context(), "n", map[store.SourceRef]store.Usage{
			{AccountID: b.account, SourceID: one}: {Events: 2, Bytes: 10}, {AccountID: b.account, SourceID: two}: {Events: 5, Bytes: 50},
		}, nil)
	})
	bins, err := b.ReceivedFrom(t.Context(), b.account, one, store.LastSteps(b.clock.Now(), 2, time.Hour))
	if err != nil || bins[0].Events+bins[1].Events != 2 || bins[0].Bytes+bins[1].Bytes != 10 {
		t.Errorf("%+v, %v", bins, err)
	}
	if _, err := b.ReceivedFrom(t.Context(), b.account, one, store.Window{}); err == nil {
		t.Error("a window that is none was read")
	}
}

func TestTypeCountsArePruned(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	other := b.newAccount(t, "other")
	for hours := range 5 {
		b.countTypes(t, b.account, hours, map[string]int{"a": 1, "b": 1})
		b.countTypes(t, other, hours, map[string]int{"a": 1})
	}
	before := b.clock.Now().Truncate(time.Hour).Add(-2 * time.Hour)
	var pruned []int64
	for range 3 {
		n, err := b.PruneTypeCounts(t.Context(), before, 4)
		if err != nil {
			t.Fatal(err)
		}
		pruned = append(pruned, n)
	}
	if diff := cmp.Diff([]int64{4, 2, 0}, pruned); diff != "" {
		t.Error(diff)
	}
	if left := b.count(t, `SELECT count(*) FROM type_counts WHERE hour >= $1`, before); left != 9 || b.count(t, `SELECT count(*) FROM type_counts`) != 9 {
		t.Errorf("%d rows are left that should be, want 9", left)
	}
}
