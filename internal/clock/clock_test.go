package clock

import (
	"testing"
	"time"
)

// fake is a Clock whose monotonic time stands still until it is moved.
type fake struct {
	*Clock
	now time.Duration // monotonic, since base
}

func newFake() *fake {
	f := &fake{Clock: New()}
	f.elapsed = func() time.Duration { return f.now }
	return f
}

// observe lets the database be ahead of the node by offset when it reads its
// clock, after out of a round trip of out+back.
func (f *fake) observe(offset, out, back time.Duration) {
	sent := f.base.Add(f.now)
	database := sent.Round(0).Add(out + offset)
	f.now += out + back
	f.Observe(sent, f.base.Add(f.now), database)
}

// within fails unless the offset is as wanted, give or take a tolerance.
func (f *fake) within(t *testing.T, want, tolerance time.Duration) {
	t.Helper()
	if off := f.Offset(); (off - want).Abs() > tolerance {
		t.Errorf("offset = %v, want %v ± %v", off, want, tolerance)
	}
}

func TestNewFollowsTheNode(t *testing.T) {
	t.Parallel()
	before := time.Now()
	got := New().Now()
	if got.Before(before.Round(0)) || got.After(time.Now().Round(0)) || got.Location() != time.UTC {
		t.Errorf("Now = %v, want the node's time in UTC", got)
	}
	if got != got.Round(0) {
		t.Error("Now carries a monotonic reading")
	}
}

func TestNowAdvancesWithMonotonicTimeAlone(t *testing.T) {
	t.Parallel()
	f := newFake()
	first := f.Now()
	f.now += 3 * time.Second
	if got := f.Now().Sub(first); got != 3*time.Second {
		t.Errorf("3 s later, Now moved by %v", got)
	}
}

func TestObserveCorrectsHours(t *testing.T) {
	t.Parallel()
	for _, offset := range []time.Duration{-5 * time.Hour, 0, 30 * time.Millisecond, 26 * time.Hour} {
		f := newFake()
		f.observe(offset, time.Millisecond, time.Millisecond)
		f.within(t, offset, 0)
		want := f.base.Round(0).Add(f.now + offset)
		if got := f.Now(); !got.Equal(want) {
			t.Errorf("offset %v: Now = %v, want %v", offset, got, want)
		}
	}
}

func TestObserveKeepsTheShortestRoundTrip(t *testing.T) {
	t.Parallel()
	f := newFake()
	const offset = 10 * time.Second
	f.observe(offset, 200*time.Millisecond, 0)
	f.within(t, offset, 100*time.Millisecond) // all it can know
	f.observe(offset, time.Millisecond, time.Millisecond)
	f.within(t, offset, 0)
	for range 30 { // lopsided and slow: each alone would be 150 ms wrong
		f.now += time.Second
		f.observe(offset, 0, 300*time.Millisecond)
		f.within(t, offset, 0)
	}
}

func TestObserveForgetsWithinAMinute(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.observe(0, time.Millisecond, time.Millisecond)
	// A step that slow round trips hide: none contradicts the good sample.
	const step = 100 * time.Millisecond
	moved := f.now
	for f.now-moved < time.Minute {
		f.observe(step, 150*time.Millisecond, 150*time.Millisecond)
		f.now += time.Second
	}
	f.within(t, step, 0)
}

func TestObserveFollowsAProvenStepAtOnce(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{-2 * time.Hour, -50 * time.Millisecond, 50 * time.Millisecond, 2 * time.Hour} {
		f := newFake()
		f.observe(0, time.Millisecond, time.Millisecond)
		f.now += time.Second
		f.observe(step, 3*time.Millisecond, 3*time.Millisecond)
		f.within(t, step, 0)
		f.now += time.Second
		f.observe(0, 3*time.Millisecond, 3*time.Millisecond)
		f.within(t, 0, 0)
	}
}

func TestObserveFollowsDrift(t *testing.T) {
	t.Parallel()
	f := newFake()
	for second := range 600 { // 100 parts per million
		f.observe(time.Duration(second)*100*time.Microsecond, time.Millisecond, time.Millisecond)
		f.now += time.Second
	}
	f.within(t, 599*100*time.Microsecond, 0) // equals: the newest counts
	if len(f.samples) > maxSamples {
		t.Errorf("%d samples are kept", len(f.samples))
	}
}

func TestObserveBoundsItsSamples(t *testing.T) {
	t.Parallel()
	f := newFake()
	for range 10 * maxSamples {
		f.observe(0, time.Microsecond, time.Microsecond)
	}
	if got := len(f.samples); got != maxSamples {
		t.Errorf("%d samples are kept, want %d", got, maxSamples)
	}
}

func TestObserveIgnoresNonsense(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.observe(time.Hour, time.Millisecond, time.Millisecond)
	f.Observe(f.base.Add(time.Second), f.base, f.base)
	f.Observe(f.base, f.base.Add(time.Nanosecond), time.Time{})
	f.within(t, time.Hour, 0)
}
