package deliver

import (
	"sync"

	"github.com/rowlock/rowlock/internal/gateway"
)

// ears tell those who wait for relays of an endpoint that these changed. What is
// told is a hint: who waits looks for itself, and from time to time without it.
type ears struct {
	mu      sync.Mutex
	waiting map[gateway.EndpointID]map[chan struct{}]struct{}
}

// open returns where it is told that relays of an endpoint changed, until it is
// closed.
func (e *ears) open(endpoint gateway.EndpointID) (told <-chan struct{}, closing func()) {
	ear := make(chan struct{}, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.waiting == nil {
		e.waiting = map[gateway.EndpointID]map[chan struct{}]struct{}{}
	}
	if e.waiting[endpoint] == nil {
		e.waiting[endpoint] = map[chan struct{}]struct{}{}
	}
	e.waiting[endpoint][ear] = struct{}{}
	return ear, func() { e.close(endpoint, ear) }
}

func (e *ears) close(endpoint gateway.EndpointID, ear chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if delete(e.waiting[endpoint], ear); len(e.waiting[endpoint]) == 0 {
		delete(e.waiting, endpoint)
	}
}

// HearRelays tells that the relays of an endpoint changed, or may have; of every
// one, if it is zero.
func (s *Service) HearRelays(endpoint gateway.EndpointID) {
	s.ears.mu.Lock()
	defer s.ears.mu.Unlock()
	for id, all := range s.ears.waiting {
		if id != endpoint && !endpoint.IsZero() {
			continue
		}
		for ear := range all {
			select {
			case ear <- struct{}{}:
			default: // it has not looked yet since it was told last
			}
		}
	}
}
