package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// typed stores one event of each of these types, received at a time.
func (b bundle) typed(t *testing.T, at time.Time, types ...string) {
	t.Helper()
	source := b.newSource(t).ID
	events := make([]store.NewEvent, len(types))
	for i, name := range types {
		id := gateway.FirstIDAt[gateway.EventID](at.Add(time.Duration(i) * time.Millisecond))
		drawn := b.clock.NewID()
		copy(id[6:], drawn[6:])
		events[i] = store.NewEvent{Event: gateway.Event{
			ID: id, AccountID: b.account, SourceID: source, Type: name, Status: gateway.EventAccepted,
		}}
	}
	b.in(t, func(tx store.Tx) error { return tx.InsertEvents(t.Context(), events) })
}

func TestTypesThatAreSeen(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	now := b.clock.Now()
	if _, err := b.MakePartitions(t.Context(), now.AddDate(0, 0, -4), now); err != nil {
		t.Fatal(err)
	}
	b.declare(t, gateway.EventType{Name: "declared"})
	b.typed(t, now, "a.b", "a", "B", "a.b", "declared", "rowlock.x", "Push Hook")
	b.typed(t, now.AddDate(0, 0, -3), "old", "a")
	other := b
	other.account = b.newAccount(t, "other")
	other.typed(t, now, "theirs")

	seen := func(most, limit int) []string {
		t.Helper()
		types, err := b.UndeclaredTypes(t.Context(), b.account, now, most, limit)
		if err != nil {
			t.Fatal(err)
		}
		return types
	}
	all := seen(100, 100)
	if len(all) != 4 || !cmp.Equal(seen(100, 2), all[:2]) || len(seen(2, 100)) > 2 {
		t.Errorf("%v, %v, %v", all, seen(100, 2), seen(2, 100))
	}
	for _, want := range []string{"a", "a.b", "B", "Push Hook"} {
		found := false
		for _, name := range all {
			found = found || name == want
		}
		if !found {
			t.Errorf("%v lacks %q", all, want)
		}
	}
	counts, err := b.CountTypes(t.Context(), b.account, []string{"a", "a.b", "declared", "old", "theirs"}, now.AddDate(0, 0, -1), 1)
	if diff := cmp.Diff(map[string]int{"a": 1, "a.b": 1, "declared": 1}, counts); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	counts, err = b.CountTypes(t.Context(), b.account, []string{"a", "a.b"}, now.AddDate(0, 0, -5), 9)
	if diff := cmp.Diff(map[string]int{"a": 2, "a.b": 2}, counts); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}
