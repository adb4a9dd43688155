package deliver

import (
	"math"
	"time"

	"github.com/rowlock/rowlock/internal/store"
)

// allowed is how many sends the endpoint's limit a second lets begin now.
func (h *hold) allowed(target store.Target) int {
	if target.RatePerSecond == 0 {
		return math.MaxInt
	}
	return h.lane.Pace.Room(target.RatePerSecond, h.service.Clock.Now())
}

// keepPace notes what a turn has taken.
func (h *hold) keepPace(t taking) {
	if n := len(t.taken); n > 0 && t.target.RatePerSecond > 0 {
		h.lane.Pace.Take(n, t.target.RatePerSecond, h.service.Clock.Now())
	}
}

// paced tells that there is more to send, and that the limit a second makes it
// wait.
func (h *hold) paced() bool { return h.mayHaveMore && h.allowed(h.target) == 0 }

// untilPaced is how long the limit a second makes the next send wait; more than
// any other wait when it does not.
func (h *hold) untilPaced() time.Duration {
	if !h.paced() {
		return math.MaxInt64
	}
	now := h.service.Clock.Now()
	return max(h.lane.Pace.Next(h.target.RatePerSecond, now).Sub(now), time.Millisecond)
}
