package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// used stores what a source brought in an hour.
func (b bundle) used(t *testing.T, source gateway.SourceID, at time.Time, node string, events int) {
	t.Helper()
	b.exec(t, 1, `INSERT INTO usage (account_id, hour, source_id, node, events, bytes) VALUES ($1, $2, $3, $4, $5::bigint, 10 * $5::bigint)`,
		b.account, at, source, node, events)
}

func TestSourceCounts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two, idle := b.newSource(t).ID, b.newSource(t).ID, b.newSource(t).ID
	now := b.clock.Now()
	hour := now.UTC().Truncate(time.Hour)
	b.used(t, one, hour, "n", 1)
	b.used(t, one, hour, "m", 10)
	b.used(t, one, hour.Add(-2*time.Hour), "n", 100)
	b.used(t, one, hour.Add(-3*time.Hour), "n", 1000) // before
	b.used(t, two, hour.Add(-time.Hour), "n", 5)
	b.used(t, gateway.SourceID{}, hour, "n", 7) // of none
	events := b.accepted(t, one, 2)
	b.insertRequests(t,
		b.request(one, gateway.CauseDuplicate), b.request(one, gateway.CauseDuplicate), b.request(one, "signature_invalid"), b.request(two, "too_old"))
	old := b.request(one, "too_old")
	old.ID = gateway.FirstIDAt[gateway.RequestID](hour.Add(-2*time.Hour - time.Millisecond))
	b.insertRequests(t, old)
	last := events[1].Time()
	all := []gateway.SourceID{one, two, idle, {}}
	got, err := b.SourceCounts(t.Context(), b.account, all, 3, now)
	want := map[gateway.SourceID]store.SourceCount{
		one:  {Received: 111, Hours: []int64{100, 0, 11}, Requests: map[string]int{gateway.CauseDuplicate: 2, "signature_invalid": 1}, LastEventAt: &last},
		two:  {Received: 5, Hours: []int64{0, 5, 0}, Requests: map[string]int{"too_old": 1}},
		idle: {Hours: []int64{0, 0, 0}, Requests: map[string]int{}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	for name, c := range map[string]struct {
		account gateway.AccountID
		sources []gateway.SourceID
	}{"no sources": {b.account, nil}, "another account": {b.newAccount(t, "other"), all}} {
		if got, err := b.SourceCounts(t.Context(), c.account, c.sources, 3, now); len(got) != 0 || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestReceived(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newSource(t).ID, b.newSource(t).ID
	w := store.LastSteps(b.clock.Now(), 3, 2*time.Hour)
	b.used(t, one, w.Since.Add(-time.Hour), "n", 1)
	b.used(t, one, w.Since, "n", 10)
	b.used(t, two, w.Since.Add(time.Hour), "n", 100)
	b.used(t, one, w.Until.Add(-time.Hour), "n", 1000)
	b.used(t, one, w.Until, "n", 10_000)
	read := func(account gateway.AccountID) (all []int64) {
		bins, err := b.Received(t.Context(), account, w)
		if err != nil {
			t.Fatal(err)
		}
		for i, bin := range bins {
			if !bin.At.Equal(w.Since.Add(time.Duration(i)*w.Step)) || bin.Bytes != 10*bin.Events {
				t.Errorf("bin %d: %+v", i, bin)
			}
			all = append(all, bin.Events)
		}
		return all
	}
	if diff := cmp.Diff([]int64{110, 0, 1000}, read(b.account)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{0, 0, 0}, read(b.newAccount(t, "other"))); diff != "" {
		t.Errorf("another account: %s", diff)
	}
}

func TestCountEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.accepted(t, b.newSource(t).ID, 3)
	stranger := b.newAccount(t, "other")
	for name, c := range map[string]struct {
		account    gateway.AccountID
		since      time.Time
		most, want int
	}{
		"all":             {b.account, ids[0].Time(), 10, 3},
		"as many":         {b.account, ids[0].Time(), 3, 3},
		"up to two":       {b.account, ids[0].Time(), 2, 2},
		"since later":     {b.account, ids[2].Time().Add(time.Millisecond), 10, 0},
		"another account": {stranger, ids[0].Time(), 10, 0},
	} {
		if n, err := b.CountEvents(t.Context(), c.account, c.since, c.most); n != c.want || err != nil {
			t.Errorf("%s: %d, %v, want %d", name, n, err, c.want)
		}
	}
}

// Deciding counts each source by itself, and the account's sum is theirs.
func TestUsageOfSources(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newSource(t).ID, b.newSource(t).ID
	for range 2 {
		b.in(t, func(tx store.Tx) error {
			return tx.AddUsage(t.Context(), "n", map[store.SourceRef]store.Usage{
				{AccountID: b.account, SourceID: one}: {Events: 1, Bytes: 10}, {AccountID: b.account, SourceID: two}: {Events: 5, Bytes: 50},
			}, nil)
		})
	}
	counts, err := b.SourceCounts(t.Context(), b.account, []gateway.SourceID{one, two}, 2, b.clock.Now())
	if err != nil || counts[one].Received != 2 || counts[two].Received != 10 {
		t.Errorf("%+v, %v", counts, err)
	}
	if n, err := b.StoredBytes(t.Context(), b.account, b.clock.Now().Add(-2*time.Hour)); n != 120 || err != nil {
		t.Errorf("%d bytes, %v, want 120", n, err)
	}
}
