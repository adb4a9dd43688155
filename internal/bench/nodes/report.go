package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// recoverWithin is how soon a cluster is to have made up for a node that was killed:
// its lanes are lent for 10 s, and what it was to decide is found by the sweep.
const recoverWithin = 15 * time.Second

// result is what was seen.
type result struct {
	acknowledged, delivered, repeats int
	// slowest is the longest from the acknowledgement of an event to its delivery,
	// calm that of the events before anything happened.
	slowest, calm time.Duration

	// killed is when; open events were acknowledged and not delivered then, and
	// came until recovered. killFailed requests failed meanwhile.
	killed     time.Time
	open       int
	recovered  time.Duration
	killFailed int

	rolled     time.Duration
	rollFailed int
}

// count looks at each event in the end.
func (r *result) count(l *load, far *farSide) {
	events := l.acknowledged(time.Time{})
	far.mu.Lock()
	defer far.mu.Unlock()
	r.acknowledged = len(events)
	for id, acked := range events {
		first, came := far.first[id]
		if !came {
			continue
		}
		r.delivered++
		took := first.Sub(acked)
		r.slowest = max(r.slowest, took)
		if first.Before(r.killed) {
			r.calm = max(r.calm, took)
		}
	}
	r.repeats = far.came - len(far.first)
}

func (r result) lost() int { return r.acknowledged - r.delivered }

// String is what is printed.
func (r result) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d nodes: %d events acknowledged, %d delivered at least once, %d lost, %d repeats\n", howMany, r.acknowledged, r.delivered, r.lost(), r.repeats)
	fmt.Fprintf(&text, "kill -9: %d events were acknowledged and on their way; the last was delivered %.1f s later; %d requests failed, and were acknowledged when repeated\n",
		r.open, r.recovered.Seconds(), r.killFailed)
	fmt.Fprintf(&text, "rolling restart of all in %.1f s: %d requests failed\n", r.rolled.Seconds(), r.rollFailed)
	fmt.Fprintf(&text, "from acknowledgement to delivery: %.2f s at the most before anything happened, %.1f s over all\n", r.calm.Seconds(), r.slowest.Seconds())
	return text.String()
}

// fault tells of what must not be.
func (r result) fault() error {
	var found []error
	if r.lost() > 0 {
		found = append(found, fmt.Errorf("%d events were lost", r.lost()))
	}
	if r.rollFailed > 0 {
		found = append(found, fmt.Errorf("the rolling restart was noticed by %d requests", r.rollFailed))
	}
	if r.recovered > recoverWithin {
		found = append(found, fmt.Errorf("it took %s to recover from a node that was killed, want %s", r.recovered.Round(time.Millisecond), recoverWithin))
	}
	return errors.Join(found...)
}
