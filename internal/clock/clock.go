// Package clock is the one source of "now" and of ids.
//
// A node's own clock may be wrong by hours, and may jump. A Clock counts from
// the moment it was made with the monotonic clock, which cannot jump, and is
// corrected by its offset to the database's clock, which all nodes share. So
// ids, schedules and timestamps of all nodes agree, whatever their clocks say.
package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// Clock tells the database's time. It is safe for concurrent use.
type Clock struct {
	// base is when the clock was made, with its monotonic reading.
	base time.Time
	// elapsed is the time since base. It is a field for tests alone.
	elapsed func() time.Duration
	// offset is what to add to base+elapsed, in nanoseconds.
	offset atomic.Int64

	observed sync.Mutex // guards samples
	samples  []sample   // oldest first

	ids ids
}

// New makes a clock that follows the node's time until the database's was
// observed. Observe should be called before the first id is made: an id from
// a clock that is ahead holds back the ids that follow it.
func New() *Clock {
	c := &Clock{base: time.Now()}
	c.elapsed = func() time.Duration { return time.Since(c.base) }
	return c
}

// Now returns the time in UTC, corrected to the database's. It carries no
// monotonic reading: two of them are compared and subtracted as they look.
func (c *Clock) Now() time.Time {
	return c.base.Round(0).Add(c.elapsed() + c.Offset()).UTC()
}

// Offset returns by how much the database is ahead of this node's clock as it
// stood when the Clock was made.
func (c *Clock) Offset() time.Duration { return time.Duration(c.offset.Load()) }
