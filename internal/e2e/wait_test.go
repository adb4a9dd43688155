package e2e

import (
	"testing"
	"time"
)

const (
	// pollEvery is how often a condition is looked at that nobody signals.
	pollEvery = 25 * time.Millisecond
	// patience bounds a wait that is not itself under test; the machine may be
	// busy with other things.
	patience = 90 * time.Second
)

// waitFor returns when a condition holds, and fails the test when it does not
// in time.
func waitFor(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}
