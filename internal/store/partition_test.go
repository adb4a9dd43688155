package store_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// bigTables are the tables that have a partition a day.
const bigTables = 5

func (b bundle) hasPartitions(t *testing.T, day time.Time) bool {
	t.Helper()
	all, err := b.HasPartitions(t.Context(), day)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPartitionsAtFirst(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	today := b.clock.Now()
	for days, want := range map[int]bool{-2: false, -1: true, 0: true, 1: true, 2: true, 3: false} {
		if got := b.hasPartitions(t, today.AddDate(0, 0, days)); got != want {
			t.Errorf("%d days from now: %t, want %t", days, got, want)
		}
	}
}

// Nodes that make partitions at once make each once.
func TestMakePartitionsAtOnce(t *testing.T) {
	t.Parallel()
	const n, days = 10, 6
	b := newBundle(t).wide(t, 2*n)
	first := time.Date(2031, 2, 26, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 0, days-1)
	var made atomic.Int32
	errs := b.atOnce(t.Context(), n, func(store.Tx, int) error {
		tables, err := b.MakePartitions(t.Context(), first, last)
		made.Add(int32(tables))
		return err
	})
	wantErrors(t, errs, n, nil)
	if made.Load() != days*bigTables {
		t.Errorf("%d tables were made, want %d", made.Load(), days*bigTables)
	}
	for day := range days {
		if !b.hasPartitions(t, first.AddDate(0, 0, day)) {
			t.Errorf("day %d is missing", day)
		}
	}
}

// A day is one of UTC, wherever the clock is that names it.
func TestPartitionsAreOfUTC(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	east := time.FixedZone("", 10*3600)
	at := time.Date(2031, 2, 28, 3, 0, 0, 0, east) // the 27th in UTC
	if _, err := b.MakePartitions(t.Context(), at, at); err != nil {
		t.Fatal(err)
	}
	if !b.hasPartitions(t, at) || !b.hasPartitions(t, at.UTC()) || b.hasPartitions(t, at.AddDate(0, 0, 1)) {
		t.Error("another day was made than that of UTC")
	}
}

// The first and the last id of a day lie within it, and those around it have
// no place until their day is made.
func TestPartitionBounds(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	day := time.Date(2031, 2, 28, 0, 0, 0, 0, time.UTC)
	if _, err := b.MakePartitions(t.Context(), day, day); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		at time.Time
		ok bool
	}{
		"before": {day.Add(-time.Millisecond), false},
		"first":  {day, true},
		"last":   {day.AddDate(0, 0, 1).Add(-time.Millisecond), true},
		"after":  {day.AddDate(0, 0, 1), false},
	} {
		event := b.newEvent(source, queuedBody)
		id := gateway.FirstIDAt[gateway.EventID](test.at)
		copy(event.Event.ID[:6], id[:6])
		err := b.InTx(t.Context(), func(tx store.Tx) error { return tx.InsertEvents(t.Context(), []store.NewEvent{event}) })
		if (err == nil) != test.ok {
			t.Errorf("the %s id: %v", name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "no partition") {
			t.Errorf("the %s id: %v", name, err)
		}
	}
}

// Days are made while events come in: nobody fails, nobody waits for ever.
func TestMakePartitionsUnderLoad(t *testing.T) {
	t.Parallel()
	const days, inserters = 10, 4
	b := newBundle(t)
	source := b.newSource(t).ID
	first := time.Date(2032, 1, 1, 0, 0, 0, 0, time.UTC)
	var made atomic.Bool
	var inserted atomic.Int32
	var all sync.WaitGroup
	for range inserters {
		all.Go(func() {
			for !made.Load() {
				events := []store.NewEvent{b.newEvent(source, queuedBody)}
				if err := b.InTx(t.Context(), func(tx store.Tx) error { return tx.InsertEvents(t.Context(), events) }); err != nil {
					t.Error(err)
					return
				}
				inserted.Add(1)
			}
		})
	}
	for day := range days {
		at := first.AddDate(0, 0, day)
		if n, err := b.MakePartitions(t.Context(), at, at); err != nil || n != bigTables {
			t.Errorf("day %d: %d tables, %v", day, n, err)
		}
	}
	made.Store(true)
	all.Wait()
	if n := b.count(t, `SELECT count(*) FROM events`); n != int(inserted.Load()) || n == 0 {
		t.Errorf("%d events are stored, %d were inserted", n, inserted.Load())
	}
}
