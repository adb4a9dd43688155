package deliver

import (
	"container/heap"
	"container/list"
	"sync"

	"github.com/rowlock/rowlock/internal/gateway"
)

// shareOfFree is how many slots one account may hold for each that is free:
// alone it can have three quarters of them, two busy accounts three sevenths
// each, and so on. Some always stay free for whoever comes next.
const shareOfFree = 3

// slots are the sends that this node may have under way, shared fairly between
// accounts. Lanes that time out may together hold at most half of them.
//
// Every operation costs the logarithm of how many accounts wait, however many
// claims each has. What an account may hold depends on the count it holds and
// nothing else that is its own, so if the one that holds least may not take,
// no other may: only the heads of the two rankings are ever looked at.
type slots struct {
	mu       sync.Mutex
	total    int
	free     int
	slowHeld int
	// shares has the accounts that hold or wait for something, and no others.
	shares map[gateway.AccountID]*share
	// quick and slow are ranked apart, because the slow ones can be full up
	// while the quick ones are served.
	quick, slow ranking
	arrivals    uint64
}

// share is what one account holds and waits for.
type share struct {
	account     gateway.AccountID
	held        int
	quick, slow line
}

// claim is a place in the queue for one slot.
type claim struct {
	line *line
	// place is nil once the claim has left the line.
	place *list.Element
	// arrival counts the claims that came before, of whatever account.
	arrival uint64
	// granted is closed when the slot is the claimer's.
	granted chan struct{}
}

func newSlots(total int) *slots {
	return &slots{total: total, free: total, shares: map[gateway.AccountID]*share{}}
}

// try takes up to want slots at once and tells how many.
func (s *slots) try(account gateway.AccountID, slow bool, want int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 {
		return 0
	}
	sh := s.share(account)
	n := 0
	for n < want && s.mayTake(sh.held, slow) {
		s.take(sh, slow)
		n++
	}
	s.settle(sh)
	return n
}

// held is how many slots are taken, and how many claims wait for one.
func (s *slots) held() (taken, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sh := range s.shares {
		waiting += sh.quick.claims.Len() + sh.slow.claims.Len()
	}
	return s.total - s.free, waiting
}

// wait queues for one slot.
func (s *slots) wait(account gateway.AccountID, slow bool) *claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.share(account)
	l := &sh.quick
	if slow {
		l = &sh.slow
	}
	c := &claim{line: l, arrival: s.arrivals, granted: make(chan struct{})}
	s.arrivals++
	c.place = l.claims.PushBack(c)
	l.settle()
	s.grant()
	return c
}

// drop leaves the queue; a slot that was granted meanwhile is given back. A
// claim is dropped once.
func (s *slots) drop(c *claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.place == nil {
		s.put(c.line.share.account, c.line.slow, 1)
		return
	}
	c.leave()
	s.settle(c.line.share)
}

// release gives slots back.
func (s *slots) release(account gateway.AccountID, slow bool, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 {
		s.put(account, slow, n)
	}
}

func (s *slots) put(account gateway.AccountID, slow bool, n int) {
	s.free += n
	if slow {
		s.slowHeld -= n
	}
	sh := s.share(account)
	sh.held -= n
	s.settle(sh)
	s.grant()
}

// grant serves the queue: the account that holds least first, and within an
// account who came first.
func (s *slots) grant() {
	for s.free > 0 {
		l := s.next()
		if l == nil || !s.mayTake(l.share.held, l.slow) {
			return
		}
		c := l.head()
		c.leave()
		s.take(l.share, l.slow)
		s.settle(l.share)
		close(c.granted)
	}
}

// next is the line whose turn it is, nil when nobody waits who has room.
func (s *slots) next() *line {
	quick, slow := s.quick.first(), s.slow.first()
	switch {
	case slow == nil || !s.mayBeSlow():
		return quick
	case quick == nil || slow.before(quick):
		return slow
	default:
		return quick
	}
}

// mayTake tells whether an account that holds so many may have one more. Who
// holds none may whenever one is free.
func (s *slots) mayTake(held int, slow bool) bool {
	return held < shareOfFree*s.free && (!slow || s.mayBeSlow())
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

// take counts one slot as held; settle is to follow.
func (s *slots) take(sh *share, slow bool) {
	s.free--
	sh.held++
	if slow {
		s.slowHeld++
	}
}

// share finds the share of an account, or begins it.
func (s *slots) share(account gateway.AccountID) *share {
	sh, ok := s.shares[account]
	if !ok {
		sh = &share{account: account}
		sh.quick = line{share: sh, ranking: &s.quick, rank: unranked}
		sh.slow = line{share: sh, ranking: &s.slow, rank: unranked, slow: true}
		s.shares[account] = sh
	}
	return sh
}

// settle puts a share that changed back in order, and forgets an idle one.
func (s *slots) settle(sh *share) {
	sh.quick.settle()
	sh.slow.settle()
	if sh.held == 0 && sh.quick.claims.Len() == 0 && sh.slow.claims.Len() == 0 {
		delete(s.shares, sh.account)
	}
}

// leave takes the claim out of its line; settle is to follow.
func (c *claim) leave() {
	c.line.claims.Remove(c.place)
	c.place = nil
}

// unranked is the rank of a line in which nobody waits.
const unranked = -1

// line is the claims of one account and one pace, in the order they came.
type line struct {
	share   *share
	slow    bool
	claims  list.List
	ranking *ranking
	rank    int
}

func (l *line) head() *claim { return l.claims.Front().Value.(*claim) }

// before tells whether l is to be served before other.
func (l *line) before(other *line) bool {
	if l.share.held != other.share.held {
		return l.share.held < other.share.held
	}
	return l.head().arrival < other.head().arrival
}

// settle moves the line to its rank.
func (l *line) settle() {
	waits, ranked := l.claims.Len() > 0, l.rank != unranked
	switch {
	case waits && ranked:
		heap.Fix(l.ranking, l.rank)
	case waits:
		heap.Push(l.ranking, l)
	case ranked:
		heap.Remove(l.ranking, l.rank)
	}
}

// ranking is a heap of the lines of one pace in which somebody waits.
type ranking []*line

var _ heap.Interface = (*ranking)(nil)

// first is the line that is served before all others, nil when there is none.
func (r ranking) first() *line {
	if len(r) == 0 {
		return nil
	}
	return r[0]
}

func (r ranking) Len() int           { return len(r) }
func (r ranking) Less(i, j int) bool { return r[i].before(r[j]) }

func (r ranking) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].rank, r[j].rank = i, j
}

// Push is for package heap alone, as is Pop.
func (r *ranking) Push(x any) {
	l := x.(*line)
	l.rank = len(*r)
	*r = append(*r, l)
}

func (r *ranking) Pop() any {
	last := len(*r) - 1
	l := (*r)[last]
	(*r)[last] = nil
	*r = (*r)[:last]
	l.rank = unranked
	return l
}
