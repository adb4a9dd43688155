package deliver

import (
	"math/rand/v2"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// accounts of these tests.
var (
	accountA = gateway.AccountID{0: 'a'}
	accountB = gateway.AccountID{0: 'b'}
	accountC = gateway.AccountID{0: 'c'}
)

func isGranted(c *claim) bool {
	select {
	case <-c.granted:
		return true
	default:
		return false
	}
}

func grantedOf(claims []*claim) (n int) {
	for _, c := range claims {
		if isGranted(c) {
			n++
		}
	}
	return n
}

// waitFor queues n times.
func waitFor(s *slots, account gateway.AccountID, slow bool, n int) []*claim {
	claims := make([]*claim, n)
	for i := range claims {
		claims[i] = s.wait(account, slow)
	}
	return claims
}

func TestSlotsOfOneAccount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ total, want int }{{1, 1}, {2, 2}, {3, 3}, {4, 3}, {8, 6}, {16, 12}, {64, 48}} {
		if got := newSlots(c.total).try(accountA, false, 1000); got != c.want {
			t.Errorf("of %d slots one account gets %d, want %d", c.total, got, c.want)
		}
	}
}

func TestSlotsTryTakesNoMoreThanAsked(t *testing.T) {
	t.Parallel()
	s := newSlots(16)
	if n := s.try(accountA, false, 5); n != 5 || s.free != 11 {
		t.Errorf("took %d, %d are free", n, s.free)
	}
	if n := s.try(accountA, false, 0); n != 0 {
		t.Errorf("took %d of none", n)
	}
	if n := s.try(accountA, false, -1); n != 0 {
		t.Errorf("took %d of less than none", n)
	}
}

// Whoever comes next finds a slot, however much the first one wants.
func TestSlotsLeaveRoomForTheNext(t *testing.T) {
	t.Parallel()
	s := newSlots(16)
	s.try(accountA, false, 1000)
	first := s.try(accountB, false, 1000)
	if c := s.wait(accountC, false); first == 0 || !isGranted(c) {
		t.Errorf("B took %d, C was granted: %t", first, isGranted(c))
	}
}

func TestSlotsServeWhoHoldsLeast(t *testing.T) {
	t.Parallel()
	s := newSlots(4)
	a := waitFor(s, accountA, false, 8)
	b := waitFor(s, accountB, false, 8)
	if x, y := grantedOf(a), grantedOf(b); x != 3 || y != 1 {
		t.Fatalf("A has %d, B has %d: want three of four, and the last for who came next", x, y)
	}
	s.release(accountA, false, 1)
	if x, y := grantedOf(a), grantedOf(b); x != 3 || y != 2 {
		t.Errorf("a slot of A's went on to A (%d of 8) instead of B (%d of 8)", x, y)
	}
}

// Within an account who came first is served first.
func TestSlotsAreFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	s := newSlots(1)
	s.try(accountA, false, 1)
	claims := waitFor(s, accountA, false, 5)
	for i := range claims {
		s.release(accountA, false, 1)
		if n := grantedOf(claims); n != i+1 || !isGranted(claims[i]) {
			t.Errorf("after %d releases %d are granted, the next one: %t", i+1, n, isGranted(claims[i]))
		}
	}
}

func TestSlotsSlowHalf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ total, want int }{{1, 1}, {2, 1}, {3, 1}, {4, 2}, {16, 8}} {
		s := newSlots(c.total)
		claims := waitFor(s, accountA, true, 1)
		for i := range byte(20) {
			claims = append(claims, s.wait(gateway.AccountID{0: i}, true))
		}
		if n := grantedOf(claims); n != c.want {
			t.Errorf("of %d slots the slow ones get %d, want %d", c.total, n, c.want)
		}
		if s.slowDown() {
			t.Errorf("of %d slots one more became slow", c.total)
		}
		quick := s.wait(accountC, false)
		if c.total > 1 && !isGranted(quick) {
			t.Errorf("of %d slots none is left for the quick", c.total)
		}
	}
}

func TestSlotsSlowDown(t *testing.T) {
	t.Parallel()
	s := newSlots(4)
	s.try(accountA, false, 1)
	if !s.slowDown() || s.slowHeld != 1 {
		t.Fatalf("%d are slow", s.slowHeld)
	}
	s.release(accountA, true, 1)
	if s.slowHeld != 0 || s.free != 4 {
		t.Errorf("%d are slow, %d free", s.slowHeld, s.free)
	}
}

// A slow claim that cannot be served does not hold up those behind it.
func TestSlotsSlowOnesDoNotBlockTheQueue(t *testing.T) {
	t.Parallel()
	s := newSlots(4)
	waitFor(s, accountA, true, 3)
	if c := s.wait(accountA, false); !isGranted(c) {
		t.Error("a quick claim waits behind a slow one")
	}
}

func TestSlotsDrop(t *testing.T) {
	t.Parallel()
	s := newSlots(1)
	first, second, third := s.wait(accountA, false), s.wait(accountB, false), s.wait(accountC, false)
	s.drop(second)
	s.drop(first) // it was granted: the slot goes on
	if isGranted(second) || !isGranted(third) || len(s.waiting) != 0 {
		t.Errorf("second %t, third %t, %d wait", isGranted(second), isGranted(third), len(s.waiting))
	}
	s.drop(third)
	if s.free != 1 || len(s.held) != 0 {
		t.Errorf("%d free, %v held", s.free, s.held)
	}
}

// Whatever happens in whatever order: never more than there are, never more
// than half of them slow, nobody waits while a slot is theirs, and in the end
// everything is back.
func TestSlotsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	const seed, steps = 7, 20_000
	r := rand.New(rand.NewPCG(seed, seed))
	s := newSlots(9)
	type holding struct {
		account gateway.AccountID
		slow    bool
	}
	var held []holding
	var queue []*claim
	for range steps {
		account, slow := gateway.AccountID{0: byte(r.IntN(4))}, r.IntN(3) == 0
		switch r.IntN(4) {
		case 0:
			for range s.try(account, slow, r.IntN(4)) {
				held = append(held, holding{account, slow})
			}
		case 1:
			queue = append(queue, s.wait(account, slow))
		case 2:
			if len(held) > 0 {
				i := r.IntN(len(held))
				h := held[i]
				held = append(held[:i], held[i+1:]...)
				s.release(h.account, h.slow, 1)
			}
		default:
			if len(queue) > 0 && r.IntN(8) == 0 {
				c := queue[0]
				queue = queue[1:]
				s.drop(c)
			}
		}
		var still []*claim
		for _, c := range queue {
			if isGranted(c) {
				held = append(held, holding{c.account, c.slow})
			} else {
				still = append(still, c)
			}
		}
		queue = still
		slowOnes := 0
		for _, h := range held {
			if h.slow {
				slowOnes++
			}
		}
		if s.free < 0 || s.free+len(held) != 9 || slowOnes > 4 || slowOnes != s.slowHeld {
			t.Fatalf("%d free, %d held, %d of them slow (%d by its own count)", s.free, len(held), slowOnes, s.slowHeld)
		}
		for _, c := range queue {
			if s.mayTake(c.account, c.slow) {
				t.Fatal("a claim waits that could be served")
			}
		}
	}
	for len(held)+len(queue) > 0 {
		if len(held) == 0 {
			t.Fatalf("%d wait though every slot is free", len(queue))
		}
		s.release(held[0].account, held[0].slow, 1)
		held = held[1:]
		var still []*claim
		for _, c := range queue {
			if isGranted(c) {
				held = append(held, holding{c.account, c.slow})
			} else {
				still = append(still, c)
			}
		}
		queue = still
	}
	if s.free != 9 || s.slowHeld != 0 || len(s.held) != 0 {
		t.Errorf("in the end %d free, %d slow, held %v", s.free, s.slowHeld, s.held)
	}
}
