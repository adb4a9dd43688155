package reconcile_test

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// scaleRows is how many rows the list of the test of size has: more are for people
// who want to know.
var scaleRows = flag.Int("reconcile.rows", 100_000, "rows of the list that TestAListIsComparedInConstantMemory compares")

// mostMemory is how much more of it a list of whatever length may take: well below
// what all the rows would.
const mostMemory = 16 << 20

// A list is made while it is read, and neither reading nor comparing holds more
// of it than a part.
func TestAListIsComparedInConstantMemory(t *testing.T) { //nolint:paralleltest // it measures what the process holds
	b := newBundle(t)
	b.fillEvents(t, *scaleRows)
	planned := plannedOf(*scaleRows)
	watch := watchMemory()
	began := time.Now()
	r, err := b.Create(t.Context(), b.account, actor, b.comparison(gateway.MatchByKey), &plantedList{n: *scaleRows})
	if err != nil {
		t.Fatal(err)
	}
	uploaded := time.Since(began)
	for r = b.read(t, r.ID); r.State.IsOpen(); r = b.read(t, r.ID) { // each run goes on for as long as a job does
		if err := b.Run(t.Context(), b.account, r.ID); err != nil {
			t.Fatal(err)
		}
	}
	compared, most := time.Since(began)-uploaded, watch()
	want(t, "numbers", numbersOf(r), planned)
	for reason, n := range map[gateway.RowReason]int{gateway.ReasonFailed: planned.Missing} {
		if counts, err := b.store.MissingReasons(t.Context(), b.account, r.ID); err != nil || counts[reason] != n {
			t.Errorf("missing by reason %v, %v; want %d %s", counts, err, n, reason)
		}
	}
	b.wantAllPlanted(t, r.ID)
	if most > mostMemory {
		t.Errorf("it took %d MiB more at the most, want %d", most>>20, mostMemory>>20)
	}
	t.Logf("%d rows, %d events: read in %s, compared in %s, %.1f MiB more at the most",
		r.Rows, r.Ours, uploaded.Round(time.Millisecond), compared.Round(time.Millisecond), float64(most)/(1<<20))
}

// scaleKey is the nth key, as long as keys are that are made of several things.
func scaleKey(of string, n int) string { return fmt.Sprint(of, "-", n, strings.Repeat("-part", 40)) }

// fillEvents stores n events with the first n keys, each with a failed delivery.
func (b *bundle) fillEvents(t *testing.T, n int) {
	t.Helper()
	const atOnce = 5000
	for begin := 0; begin < n; begin += atOnce {
		var events []store.NewEvent
		var deliveries []store.NewDelivery
		for i := begin; i < min(begin+atOnce, n); i++ {
			e := b.event(sent{key: scaleKey("key", i)})
			events = append(events, e)
			deliveries = append(deliveries, store.NewDelivery{AccountID: b.account, EventID: e.Event.ID, EndpointID: b.endpoint})
		}
		b.in(t, func(tx store.Tx) error {
			if err := tx.InsertEvents(t.Context(), events); err != nil {
				return err
			}
			_, err := tx.InsertDeliveries(t.Context(), deliveries)
			return err
		})
	}
	b.exec(t, `UPDATE deliveries SET status = 'failed', attempts = 8, closed_at = now(), next_attempt_at = NULL`)
}

// What is planted: every so many of ours is not listed, and every so many rows
// come twice, or are nobody's, or cannot be read.
const (
	missingEvery, repeatedEvery, strangeEvery, faultyEvery = 1009, 907, 811, 1201
)

// plannedOf is what a comparison of n events has to find.
func plannedOf(n int) (planned numbers) {
	planned.Ours = n
	for i := range n {
		if i%missingEvery == 0 {
			planned.Missing++
			planned.Sendable++
		} else {
			planned.Matched++
			if i%repeatedEvery == 0 {
				planned.Repeated++
			}
		}
		if i%strangeEvery == 0 {
			planned.Unknown++
		}
		if i%faultyEvery == 0 {
			planned.Faulty++
		}
	}
	planned.Rows = planned.Matched + planned.Repeated + planned.Unknown
	return planned
}

// plantedList makes the list while it is read.
type plantedList struct {
	n, at int
	left  string
}

func (l *plantedList) Read(into []byte) (int, error) {
	for l.left == "" {
		if l.at >= l.n {
			return 0, io.EOF
		}
		l.left = l.lines(l.at)
		l.at++
	}
	n := copy(into, l.left)
	l.left = l.left[n:]
	return n, nil
}

// lines are those that an event leads to.
func (l *plantedList) lines(i int) string {
	var text strings.Builder
	if i%missingEvery != 0 {
		text.WriteString(scaleKey("key", i) + ",paid\n")
		if i%repeatedEvery == 0 {
			text.WriteString(`"` + scaleKey("key", i) + "\",again\n")
		}
	}
	if i%strangeEvery == 0 {
		text.WriteString(scaleKey("strange", i) + ",x\n")
	}
	if i%faultyEvery == 0 {
		text.WriteString("\xff,x\n")
	}
	return text.String()
}

// wantAllPlanted fails unless each thing that is planted is listed by its key.
func (b *bundle) wantAllPlanted(t *testing.T, id gateway.ReconciliationID) {
	t.Helper()
	missing, strange := b.missing(t, id), b.listed(t, id, gateway.RowUnknown)
	for i := range *scaleRows {
		if _, found := missing[scaleKey("key", i)]; found != (i%missingEvery == 0) {
			t.Errorf("key-%d is missing: %t", i, found)
		}
		if _, found := strange[scaleKey("strange", i)]; found != (i%strangeEvery == 0) {
			t.Errorf("strange-%d is unknown: %t", i, found)
		}
	}
}

// watchMemory looks how much of it is in use until the function that it returns
// is called, which tells how much more that was at the most.
func watchMemory() func() uint64 {
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var most uint64
	done, ended := make(chan struct{}), sync.WaitGroup{}
	ended.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			runtime.ReadMemStats(&now)
			if now.HeapInuse > before.HeapInuse {
				most = max(most, now.HeapInuse-before.HeapInuse)
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	return func() uint64 {
		close(done)
		ended.Wait()
		return most
	}
}
