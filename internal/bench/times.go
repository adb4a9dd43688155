package bench

import (
	"slices"
	"sync"
	"time"
)

// Times are how long things took that are done by many at once. The zero value has
// none.
type Times struct {
	mu   sync.Mutex
	took []time.Duration
}

// Note adds one.
func (t *Times) Note(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.took = append(t.took, took)
}

// Take returns those that were noted since the last time, shortest first.
func (t *Times) Take() []time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	took := t.took
	t.took = nil
	slices.Sort(took)
	return took
}
