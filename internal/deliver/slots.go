package deliver

import (
	"slices"
	"sync"

	"github.com/rowlock/rowlock/internal/gateway"
)

// shareOfFree is how many slots one account may hold for each that is free:
// alone it can have three quarters of them, two busy accounts three sevenths
// each, and so on. Some always stay free for whoever comes next.
const shareOfFree = 3

// slots are the sends that this node may have under way, shared fairly between
// accounts. Lanes that time out may together hold at most half of them.
type slots struct {
	mu       sync.Mutex
	total    int
	free     int
	slowHeld int
	held     map[gateway.AccountID]int
	waiting  []*claim
}

// claim is a place in the queue for one slot.
type claim struct {
	account gateway.AccountID
	slow    bool
	// granted is closed when the slot is the claimer's.
	granted chan struct{}
}

func newSlots(total int) *slots {
	return &slots{total: total, free: total, held: map[gateway.AccountID]int{}}
}

// try takes up to want slots at once and tells how many.
func (s *slots) try(account gateway.AccountID, slow bool, want int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < want && s.mayTake(account, slow) {
		s.take(account, slow)
		n++
	}
	return n
}

// wait queues for one slot.
func (s *slots) wait(account gateway.AccountID, slow bool) *claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &claim{account: account, slow: slow, granted: make(chan struct{})}
	s.waiting = append(s.waiting, c)
	s.grant()
	return c
}

// drop leaves the queue; a slot that was granted meanwhile is given back.
func (s *slots) drop(c *claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, c); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
		return
	}
	s.put(c.account, c.slow, 1)
}

// release gives slots back.
func (s *slots) release(account gateway.AccountID, slow bool, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(account, slow, n)
}

func (s *slots) put(account gateway.AccountID, slow bool, n int) {
	if n == 0 {
		return
	}
	s.free += n
	if slow {
		s.slowHeld -= n
	}
	if s.held[account] -= n; s.held[account] == 0 {
		delete(s.held, account)
	}
	s.grant()
}

// grant serves the queue: the account that holds least first, and within an
// account who came first.
func (s *slots) grant() {
	for {
		best := -1
		for i, c := range s.waiting {
			if s.mayTake(c.account, c.slow) && (best < 0 || s.held[c.account] < s.held[s.waiting[best].account]) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		c := s.waiting[best]
		s.waiting = slices.Delete(s.waiting, best, best+1)
		s.take(c.account, c.slow)
		close(c.granted)
	}
}

func (s *slots) mayTake(account gateway.AccountID, slow bool) bool {
	if s.free == 0 || slow && !s.mayBeSlow() {
		return false
	}
	held := s.held[account]
	return held == 0 || held < shareOfFree*s.free
}

func (s *slots) mayBeSlow() bool { return s.slowHeld < max(s.total/2, 1) }

// slowDown counts one slot that is held among the slow ones, if they have room.
func (s *slots) slowDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mayBeSlow() {
		return false
	}
	s.slowHeld++
	return true
}

func (s *slots) take(account gateway.AccountID, slow bool) {
	s.free--
	s.held[account]++
	if slow {
		s.slowHeld++
	}
}
