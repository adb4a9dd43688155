package dashboard

import (
	"sync"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// maxStreams is how many a process serves at once: each asks the database
	// once a second.
	maxStreams = 500
	// maxOwnStreams is how many of these one person has: some windows side by
	// side, since a page that is not seen has none. So nobody takes all of them.
	maxOwnStreams = 20
)

// streams counts the streams that are open in this process, of all and of each
// person.
type streams struct {
	mu  sync.Mutex
	all int
	of  map[gateway.UserID]int
}

// enter counts one more of a person and tells whether there is room for it;
// leave gives its room back.
func (s *streams) enter(person gateway.UserID) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= maxStreams || s.of[person] >= maxOwnStreams {
		return nil, false
	}
	if s.of == nil {
		s.of = map[gateway.UserID]int{}
	}
	s.all++
	s.of[person]++
	return func() { s.leave(person) }, true
}

func (s *streams) leave(person gateway.UserID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	s.of[person]--
	if s.of[person] == 0 {
		delete(s.of, person)
	}
}
