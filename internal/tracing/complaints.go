package tracing

import (
	"log/slog"
	"sync"
	"time"
)

// complainEvery is how often it is told at the most that spans cannot be sent: each
// batch fails by itself.
const complainEvery = time.Minute

// complaints tells of faults of sending, now and then.
type complaints struct {
	log *slog.Logger
	now func() time.Time

	mu   sync.Mutex
	last time.Time
}

func newComplaints(o Options) *complaints { return &complaints{log: o.Log, now: o.Now} }

func (c *complaints) handle(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if !c.last.IsZero() && now.Sub(c.last) < complainEvery {
		return
	}
	c.last = now
	c.log.Warn("sending traces", "error", err)
}
