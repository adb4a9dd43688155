package store_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// deliveriesOf are the confirmed deliveries of each day.
func deliveriesOf(days []store.UsageDay) []int64 {
	all := make([]int64, len(days))
	for i, d := range days {
		all[i] = d.Deliveries
	}
	return all
}

// happened writes what one minute brought into the spans of each length, as
// recording does, and adds it to the day.
func (b bundle) happened(t *testing.T, endpoint gateway.EndpointID, at time.Time, succeeded int) {
	t.Helper()
	for _, span := range []int{1, 15, 120} {
		b.exec(t, 1, `
			INSERT INTO rollups AS r (minute, span, endpoint_id, node, account_id, succeeded, rejected)
			VALUES (date_bin($2 * interval '1 minute', $1, '2000-01-01 00:00:00+00'), $2, $3, 'n', $4, $5, 1)
			ON CONFLICT (endpoint_id, span, minute, node) DO UPDATE
			SET succeeded = r.succeeded + EXCLUDED.succeeded`, at, span, endpoint, b.account, succeeded)
	}
}

// While minutes go from rollups to usage, in however many parts, each day's
// number stays what was delivered, at every moment.
func TestUsageByDayWhileRollupsArePruned(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const days = 4
	until := b.clock.Now().UTC().Truncate(24 * time.Hour)
	since := until.AddDate(0, 0, -days)
	seed := uint64(until.Unix())
	random := rand.New(rand.NewPCG(seed, 1))
	t.Log("seed", seed)
	want := make([]int64, days)
	for _, endpoint := range []gateway.EndpointID{b.newEndpoint(t).ID, b.newEndpoint(t).ID, b.newEndpoint(t).ID} {
		for range 60 {
			at := since.Add(time.Duration(random.IntN(days*24*60)) * time.Minute)
			n := random.IntN(3) // many minutes have failures alone
			b.happened(t, endpoint, at, n)
			want[at.Sub(since)/(24*time.Hour)] += int64(n)
		}
	}
	check := func(when any) {
		t.Helper()
		got, err := b.UsageByDay(t.Context(), b.account, since, until)
		if diff := cmp.Diff(want, deliveriesOf(got)); diff != "" || err != nil {
			t.Fatalf("%v: %v %s", when, err, diff)
		}
	}
	check("nothing pruned")
	for before := since; !before.After(until); before = before.Add(time.Duration(1+random.IntN(500)) * time.Minute) {
		for range 2 { // the second call takes what is longer; some is left behind
			if _, err := b.PruneRollups(t.Context(), before, 1+random.IntN(20)); err != nil {
				t.Fatal(err)
			}
			check(before)
		}
	}
	for left := 1; left > 0; left = b.count(t, `SELECT count(*) FROM rollups`) {
		errs := b.atOnce(t.Context(), 3, func(store.Tx, int) error {
			_, err := b.PruneRollups(t.Context(), until, 7)
			return err
		})
		wantErrors(t, errs, 3, nil)
		check("the rest")
	}
}

// Who reads while others prune sees every delivery once.
func TestUsageByDayAtOnceWithPruning(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	until := b.clock.Now().UTC().Truncate(24 * time.Hour)
	since := until.AddDate(0, 0, -1)
	endpoint := b.newEndpoint(t).ID
	for minute := range 240 {
		b.happened(t, endpoint, since.Add(time.Duration(minute)*time.Minute), 1)
	}
	ctx, stop := context.WithCancel(t.Context())
	pruned := make(chan error, 1)
	go func() {
		defer stop()
		for minute := 0; minute <= 300; minute += 5 {
			if _, err := b.PruneRollups(ctx, since.Add(time.Duration(minute)*time.Minute), 4); err != nil {
				pruned <- err
				return
			}
		}
		pruned <- nil
	}()
	reads := 0
	for ctx.Err() == nil {
		got, err := b.UsageByDay(t.Context(), b.account, since, until)
		if err != nil || got[0].Deliveries != 240 {
			t.Fatalf("%+v, %v", got, err)
		}
		reads++
	}
	if err := <-pruned; err != nil || reads == 0 {
		t.Errorf("read %d times, %v", reads, err)
	}
}

func TestUsageByDay(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	today := b.clock.Now().UTC().Truncate(24 * time.Hour)
	counts := map[store.SourceRef]store.Usage{{AccountID: b.account, SourceID: b.newSource(t).ID}: {Events: 2, Bytes: 30}, {AccountID: b.account}: {Events: 1, Bytes: 1}}
	lane := store.Lane{AccountID: b.account, EndpointID: b.newEndpoint(t).ID}
	add := func(tx store.Tx) error {
		return errors.Join(tx.AddUsage(t.Context(), "one", counts, nil), tx.AddTally(t.Context(), lane, "one", store.Stats{Succeeded: 2, Rejected: 5}))
	}
	b.in(t, add)
	b.in(t, add)
	// What is rolled back is not counted.
	if err := b.InTx(t.Context(), func(tx store.Tx) error { return errors.Join(add(tx), errRollBack) }); !errors.Is(err, errRollBack) {
		t.Fatal(err)
	}
	other := b
	other.account = b.newAccount(t, "other")
	for _, tt := range []struct {
		b    bundle
		want store.UsageDay
	}{
		{b, store.UsageDay{Day: today, Usage: store.Usage{Events: 6, Bytes: 62}, Deliveries: 4}},
		{other, store.UsageDay{Day: today}},
	} {
		got, err := tt.b.UsageByDay(t.Context(), tt.b.account, today.AddDate(0, 0, -2), today.AddDate(0, 0, 1))
		want := []store.UsageDay{{Day: today.AddDate(0, 0, -2)}, {Day: today.AddDate(0, 0, -1)}, tt.want}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	}
	if _, err := b.UsageByDay(t.Context(), b.account, today, today); err == nil {
		t.Error("a window without a day is read")
	}
}
