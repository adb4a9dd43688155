package gateway_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

func newFlow() gateway.Flow { return gateway.Flow{Cap: gateway.InitialInFlightCap} }

func TestFlowGrowsToItsLimit(t *testing.T) {
	t.Parallel()
	f := newFlow()
	for want := gateway.InitialInFlightCap + 1; want <= 10; want++ {
		if f.Success(10); f.Cap != want {
			t.Fatalf("cap %d, want %d", f.Cap, want)
		}
	}
	for range 3 {
		if f.Success(10); f.Cap != 10 {
			t.Fatalf("cap %d grew over its limit", f.Cap)
		}
	}
	if f.Success(6); f.Cap != 6 {
		t.Errorf("cap %d under a lowered limit of 6", f.Cap)
	}
	if f.Success(0); f.Cap != 1 {
		t.Errorf("cap %d without a limit, want 1: a lane is never shut", f.Cap)
	}
}

// A receiver that restarts answers all that is in flight with trouble: that
// is one round, and halves the cap once.
func TestFlowHalvesOnceARound(t *testing.T) {
	t.Parallel()
	f := gateway.Flow{Cap: 64}
	started := now
	for i := range 64 {
		f.Trouble(started, now.Add(time.Duration(1+i)*time.Millisecond), false)
	}
	if f.Cap != 32 {
		t.Fatalf("cap %d after one round of trouble, want 32", f.Cap)
	}
	for _, want := range []int{16, 8, 4, 2, 1} {
		started = started.Add(time.Second)
		if f.Trouble(started, started.Add(time.Millisecond), false); f.Cap != want || !f.SleepUntil.IsZero() {
			t.Fatalf("cap %d, asleep until %s, want %d and awake", f.Cap, f.SleepUntil, want)
		}
	}
}

func TestFailedProbesSleepLongerEachTime(t *testing.T) {
	t.Parallel()
	f := gateway.Flow{Cap: 1}
	at := now
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30, 30, 30, 30} {
		f.Trouble(at, at.Add(time.Millisecond), false)
		if got := f.SleepUntil.Sub(at.Add(time.Millisecond)); got != want*time.Second || f.Cap != 1 {
			t.Fatalf("probe %d: sleeps %s with cap %d, want %ds and 1", i+1, got, f.Cap, want)
		}
		at = f.SleepUntil
	}
}

func TestAnAnswerWakesTheLane(t *testing.T) {
	t.Parallel()
	asleep := func() gateway.Flow {
		f := gateway.Flow{Cap: 1}
		f.Trouble(now, now.Add(time.Second), true)
		if f.SleepUntil.IsZero() || f.FailedProbes != 1 || !f.TimingOut {
			t.Fatalf("%+v does not sleep", f)
		}
		return f
	}
	for name, test := range map[string]struct {
		answer func(*gateway.Flow)
		cap    int
	}{
		"a success widens it":  {func(f *gateway.Flow) { f.Success(64) }, 2},
		"a rejection does not": {func(f *gateway.Flow) { f.Answered() }, 1},
	} {
		f := asleep()
		test.answer(&f)
		if !f.SleepUntil.IsZero() || f.FailedProbes != 0 || f.TimingOut || f.Cap != test.cap {
			t.Errorf("%s: %+v", name, f)
		}
		at := now.Add(time.Hour)
		f.Cap = 1
		f.Trouble(at, at, false)
		if got := f.SleepUntil.Sub(at); got != time.Second {
			t.Errorf("%s: the next failed probe sleeps %s, want 1s again", name, got)
		}
	}
}

func TestFlowRemembersTimeouts(t *testing.T) {
	t.Parallel()
	f := newFlow()
	f.Trouble(now, now.Add(time.Second), true)
	if !f.TimingOut {
		t.Error("a timeout is not remembered")
	}
	// Of the same round, so the cap stays; but the lane is slow no more.
	f.Trouble(now, now.Add(2*time.Second), false)
	if f.TimingOut || f.Cap != gateway.InitialInFlightCap/2 {
		t.Errorf("%+v after a 500 of the same round", f)
	}
}

// A lane that was stored with a cap below one is still a lane.
func TestFlowIsNeverShut(t *testing.T) {
	t.Parallel()
	for _, stored := range []int{0, -3} {
		f := gateway.Flow{Cap: stored}
		f.Trouble(now, now, false)
		if f.Cap != 1 || f.SleepUntil.IsZero() {
			t.Errorf("cap %d became %+v", stored, f)
		}
	}
}
