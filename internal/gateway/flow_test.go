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
		f.Trouble(started, now.Add(time.Duration(1+i)*time.Millisecond), "")
	}
	if f.Cap != 32 {
		t.Fatalf("cap %d after one round of trouble, want 32", f.Cap)
	}
	for _, want := range []int{16, 8, 4, 2, 1} {
		started = started.Add(time.Second)
		if f.Trouble(started, started.Add(time.Millisecond), ""); f.Cap != want || !f.SleepUntil.IsZero() {
			t.Fatalf("cap %d, asleep until %s, want %d and awake", f.Cap, f.SleepUntil, want)
		}
	}
}

func TestFailedProbesSleepLongerEachTime(t *testing.T) {
	t.Parallel()
	f := gateway.Flow{Cap: 1}
	at := now
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30, 30, 30, 30} {
		f.Trouble(at, at.Add(time.Millisecond), "")
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
		f.Trouble(now, now.Add(time.Second), gateway.ErrorTimeout)
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
		f.Trouble(at, at, "")
		if got := f.SleepUntil.Sub(at); got != time.Second {
			t.Errorf("%s: the next failed probe sleeps %s, want 1s again", name, got)
		}
	}
}

func TestFlowRemembersTimeouts(t *testing.T) {
	t.Parallel()
	f := newFlow()
	f.Trouble(now, now.Add(time.Second), gateway.ErrorTimeout)
	if !f.TimingOut {
		t.Error("a timeout is not remembered")
	}
	// Of the same round, so the cap stays; but the lane is slow no more.
	f.Trouble(now, now.Add(2*time.Second), "")
	if f.TimingOut || f.Cap != gateway.InitialInFlightCap/2 {
		t.Errorf("%+v after a 500 of the same round", f)
	}
}

// A lane that was stored with a cap below one is still a lane.
func TestFlowIsNeverShut(t *testing.T) {
	t.Parallel()
	for _, stored := range []int{0, -3} {
		f := gateway.Flow{Cap: stored}
		f.Trouble(now, now, "")
		if f.Cap != 1 || f.SleepUntil.IsZero() {
			t.Errorf("cap %d became %+v", stored, f)
		}
	}
}

// A receiver that answers nothing any more is down to one probe with the first
// round, however wide the lane was, and is wide again after as many successes.
func TestFlowProbesASilentReceiver(t *testing.T) {
	t.Parallel()
	f := gateway.Flow{Cap: 64}
	for i := range 64 {
		f.Trouble(now, now.Add(time.Duration(15+i)*time.Millisecond), gateway.ErrorTimeout)
	}
	if f.Cap != 1 || !f.SleepUntil.IsZero() {
		t.Fatalf("%+v after a round without an answer, want one probe at once", f)
	}
	probe := now.Add(time.Minute)
	if f.Trouble(probe, probe.Add(time.Second), gateway.ErrorTimeout); f.SleepUntil.IsZero() {
		t.Errorf("%+v after a failed probe does not sleep", f)
	}
	for range 63 {
		f.Success(64)
	}
	if f.Cap != 64 || !f.SleepUntil.IsZero() {
		t.Errorf("%+v after 63 successes", f)
	}
}

// Where sends are few, a while without an answer is enough.
func TestFlowProbesAfterAWhileOfSilence(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		between time.Duration
		answer  bool
		want    int
	}{
		"within a moment":   {time.Second, false, 32},
		"after a while":     {2 * time.Second, false, 1},
		"an answer between": {2 * time.Second, true, 32},
	} {
		f := gateway.Flow{Cap: 64}
		f.Trouble(now, now.Add(time.Second), gateway.ErrorReset)
		if test.answer {
			f.Trouble(now, now.Add(time.Second), "")
		}
		f.Trouble(now, now.Add(time.Second+test.between), gateway.ErrorReset)
		if f.Cap != test.want {
			t.Errorf("%s: cap %d, want %d", name, f.Cap, test.want)
		}
	}
}
