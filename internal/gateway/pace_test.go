package gateway_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// simulate sends as often as a pace allows for a while, looking late by late,
// and tells how many sends began within each window of a second at the most
// and on average.
func simulate(perSecond int, late, during time.Duration) (most int, average float64) {
	var p gateway.Pace
	var sent []time.Time
	for at := now; at.Before(now.Add(during)); at = p.Next(perSecond, at).Add(late) {
		n := p.Room(perSecond, at)
		p.Take(n, perSecond, at)
		for range n {
			sent = append(sent, at)
		}
	}
	first := 0
	for i, at := range sent {
		for at.Sub(sent[first]) >= time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return most, float64(len(sent)) / during.Seconds()
}

func TestPaceKeepsItsLimit(t *testing.T) {
	t.Parallel()
	for perSecond, slack := range map[int]float64{1: 1, 3: 1, 10: 1, 15: 1, 64: 7, 100: 10, 1000: 100, 10_000: 1000} {
		for _, late := range []time.Duration{time.Microsecond, time.Millisecond, 9 * time.Millisecond} {
			most, average := simulate(perSecond, late, 20*time.Second)
			limit := float64(perSecond)
			if float64(most) > limit+slack {
				t.Errorf("%d a second, late by %s: %d within a second", perSecond, late, most)
			}
			if average < 0.95*limit || average > limit+slack/20+0.1 {
				t.Errorf("%d a second, late by %s: %.2f on average", perSecond, late, average)
			}
		}
	}
}

func TestPaceAfterARest(t *testing.T) {
	t.Parallel()
	var p gateway.Pace
	if p.Room(10, now) != 1 || !p.Next(10, now).Equal(now) {
		t.Error("a new pace does not let one go")
	}
	p.Take(1, 10, now)
	if n := p.Room(10, now); n != 0 || !p.Next(10, now).Equal(now.Add(100*time.Millisecond)) {
		t.Errorf("%d more may go at once, the next %s later", n, p.Next(10, now).Sub(now))
	}
	later := now.Add(time.Hour)
	if n := p.Room(10, later); n != 1 {
		t.Errorf("%d may go at once after a rest, want 1", n)
	}
	// A limit that was lowered holds from the next send on.
	p.Take(1, 10, later)
	p.Take(1, 1, later)
	if wait := p.Next(1, later).Sub(later); wait != 1100*time.Millisecond {
		t.Errorf("the next waits %s", wait)
	}
}
