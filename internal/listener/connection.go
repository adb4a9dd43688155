package listener

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// firstPause and longestPause are how long to wait before trying again: twice
	// as long each time.
	firstPause, longestPause = 200 * time.Millisecond, 5 * time.Second
)

// connection is how it stands with the server.
type connection struct {
	// was there, and is now lost, for failures calls in a row.
	was      bool
	failures int
}

// isNew tells that the server has not answered yet.
func (c *connection) isNew() bool { return !c.was }

// isThere notes an answer, and returns what to say about it: nothing, if that is
// no news.
func (c *connection) isThere() string {
	lost := c.failures > 0
	c.was, c.failures = true, 0
	if lost {
		return "Connected again."
	}
	return ""
}

// lost notes that no answer came, and returns what to say about it.
func (c *connection) lost(err error) string {
	c.failures++
	if c.failures > 1 {
		return ""
	}
	return fmt.Sprintf("Connection lost, trying again: %s.", err)
}

// wait waits before the next try, or until ctx ends.
func (c *connection) wait(ctx context.Context) {
	pause := min(firstPause<<min(c.failures-1, 10), longestPause)
	timer := time.NewTimer(pause/2 + rand.N(pause)) //nolint:gosec // spreads load, guards nothing
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
