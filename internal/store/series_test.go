package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestLastSteps(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		parsed, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for name, c := range map[string]struct {
		now          time.Time
		n            int
		step         time.Duration
		since, until time.Time
	}{
		"an hour":             {at("2026-11-29 16:20:08"), 60, time.Minute, at("2026-11-29 15:21:00"), at("2026-11-29 16:21:00")},
		"a day":               {at("2026-11-29 16:20:08"), 96, 15 * time.Minute, at("2026-11-28 16:30:00"), at("2026-11-29 16:30:00")},
		"a week":              {at("2026-11-29 16:20:08"), 84, 2 * time.Hour, at("2026-11-22 18:00:00"), at("2026-11-29 18:00:00")},
		"a month":             {at("2026-11-29 16:20:08"), 120, 6 * time.Hour, at("2026-10-30 18:00:00"), at("2026-11-29 18:00:00")},
		"one, at its edge":    {at("2026-11-29 16:00:00"), 1, time.Hour, at("2026-11-29 16:00:00"), at("2026-11-29 17:00:00")},
		"in another zone":     {at("2026-11-29 16:20:08").In(time.FixedZone("x", 5400)), 1, 2 * time.Hour, at("2026-11-29 16:00:00"), at("2026-11-29 18:00:00")},
		"over the year's end": {at("2027-01-01 00:00:00"), 2, 6 * time.Hour, at("2026-12-31 18:00:00"), at("2027-01-01 06:00:00")},
	} {
		want := store.Window{Since: c.since, Until: c.until, Step: c.step}
		got := store.LastSteps(c.now, c.n, c.step)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		before := got.Before()
		if !before.Until.Equal(got.Since) || before.Until.Sub(before.Since) != got.Until.Sub(got.Since) || before.Step != got.Step {
			t.Errorf("%s: before it is %+v", name, before)
		}
	}
}

// tally stores what happened in a span that began at a time.
func (b bundle) tally(t *testing.T, endpoint gateway.EndpointID, at time.Time, span, succeeded int) {
	t.Helper()
	b.exec(t, 1, `
		INSERT INTO rollups (minute, span, endpoint_id, node, account_id, succeeded, rejected, gave_up, ms_20)
		VALUES ($1, $2, $3, 'n', $4, $5::integer, 2, 1, $5::integer)`, at, span, endpoint, b.account, succeeded)
}

// succeeded are those of each bin that has some, by their place.
func succeeded(bins []store.Bin) map[int]int64 {
	got := map[int]int64{}
	for i, bin := range bins {
		if bin.Succeeded > 0 {
			got[i] = bin.Succeeded
		}
	}
	return got
}

func TestSeries(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.newEndpoint(t).ID, b.newEndpoint(t).ID
	w := store.LastSteps(b.clock.Now(), 4, 30*time.Minute) // of quarters
	for _, step := range []struct {
		endpoint gateway.EndpointID
		after    time.Duration
		span, n  int
	}{
		{one, -15 * time.Minute, 15, 1}, // just before
		{one, 0, 15, 10},                // both parts of the first step
		{one, 15 * time.Minute, 15, 100},
		{two, 15 * time.Minute, 15, 1000},
		{one, 105 * time.Minute, 15, 10_000},  // the last part of the last
		{one, 120 * time.Minute, 15, 100_000}, // just after
		{one, 30 * time.Minute, 1, 1_000_000}, // another span
	} {
		b.tally(t, step.endpoint, w.Since.Add(step.after), step.span, step.n)
	}
	stranger := b.newAccount(t, "other")
	for name, c := range map[string]struct {
		account  gateway.AccountID
		endpoint *gateway.EndpointID
		want     map[int]int64
	}{
		"the account":     {b.account, nil, map[int]int64{0: 1110, 3: 10_000}},
		"one endpoint":    {b.account, &one, map[int]int64{0: 110, 3: 10_000}},
		"another":         {b.account, &two, map[int]int64{0: 1000}},
		"nobody's":        {b.account, &gateway.EndpointID{}, map[int]int64{}},
		"another account": {stranger, &one, map[int]int64{}},
	} {
		bins, err := b.Series(t.Context(), c.account, c.endpoint, w)
		if err != nil || len(bins) != 4 {
			t.Fatalf("%s: %d bins, %v", name, len(bins), err)
		}
		var sum int64
		for i, bin := range bins {
			sum += bin.Succeeded
			if !bin.At.Equal(w.Since.Add(time.Duration(i) * w.Step)) {
				t.Errorf("%s: bin %d is of %s", name, i, bin.At)
			}
		}
		if diff := cmp.Diff(c.want, succeeded(bins)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		total, err := b.Totals(t.Context(), c.account, c.endpoint, w)
		if err != nil || total.Succeeded != sum || total.Latencies[3] != sum {
			t.Errorf("%s: totals %+v, %v, want %d", name, total, err, sum)
		}
	}
	if before, err := b.Totals(t.Context(), b.account, nil, w.Before()); err != nil || before.Succeeded != 1 || before.GaveUp != 1 || before.Retried() != 1 {
		t.Errorf("before: %+v, %v", before, err)
	}
}

// What is counted is found in steps of every length.
func TestSeriesOfWhatWasTallied(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	b.in(t, func(tx store.Tx) error { return tx.AddTally(t.Context(), lane, "n", someStats()) })
	for _, step := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour} {
		w := store.LastSteps(b.clock.Now(), 2, step) // two: the minute may have just begun
		bins, err := b.Series(t.Context(), b.account, &lane.EndpointID, w)
		if err != nil || len(bins) != 2 {
			t.Fatalf("steps of %s: %d bins, %v", step, len(bins), err)
		}
		if bins[0].Stats != someStats() && bins[1].Stats != someStats() {
			t.Errorf("steps of %s: %+v", step, bins)
		}
	}
}

func TestWindowsThatNobodyCanShow(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	now := b.clock.Now()
	for name, w := range map[string]store.Window{
		"no step":   {Since: now.Add(-time.Hour), Until: now},
		"too many":  store.LastSteps(now, 1001, time.Minute),
		"backwards": {Since: now, Until: now.Add(-time.Hour), Step: time.Minute},
		"empty":     {Since: now, Until: now, Step: time.Minute},
	} {
		if _, err := b.Series(t.Context(), b.account, nil, w); err == nil {
			t.Errorf("%s: a series was read", name)
		}
		if _, err := b.Received(t.Context(), b.account, w); err == nil {
			t.Errorf("%s: what was received was read", name)
		}
	}
}

func TestEndpointTotals(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two, idle := b.newEndpoint(t).ID, b.newEndpoint(t).ID, b.newEndpoint(t).ID
	w := store.LastSteps(b.clock.Now(), 96, 15*time.Minute)
	b.tally(t, one, w.Since, 15, 3)
	b.tally(t, one, w.Until.Add(-w.Step), 15, 4)
	b.tally(t, one, w.Until, 15, 100)
	b.tally(t, two, w.Since, 15, 5)
	totals := func(account gateway.AccountID, ids ...gateway.EndpointID) map[gateway.EndpointID]int64 {
		all, err := b.EndpointTotals(t.Context(), account, ids, w)
		if err != nil {
			t.Fatal(err)
		}
		got := map[gateway.EndpointID]int64{}
		for id, y := range all {
			got[id] = y.Succeeded
		}
		return got
	}
	for name, c := range map[string]struct {
		got, want map[gateway.EndpointID]int64
	}{
		"none":            {totals(b.account), map[gateway.EndpointID]int64{}},
		"all":             {totals(b.account, one, two, idle), map[gateway.EndpointID]int64{one: 7, two: 5}},
		"one":             {totals(b.account, two), map[gateway.EndpointID]int64{two: 5}},
		"another account": {totals(b.newAccount(t, "other"), one, two), map[gateway.EndpointID]int64{}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
