package deliver

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// numbered is the account of that number.
func numbered(n int) (id gateway.AccountID) {
	binary.BigEndian.PutUint64(id[:], uint64(n))
	return id
}

// heldIn is what each account holds.
func heldIn(s *slots) map[gateway.AccountID]int {
	held := map[gateway.AccountID]int{}
	for id, sh := range s.shares {
		if sh.held != 0 {
			held[id] = sh.held
		}
	}
	return held
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
	if isGranted(second) || !isGranted(third) || len(s.quick) != 0 {
		t.Errorf("second %t, third %t, %d wait", isGranted(second), isGranted(third), len(s.quick))
	}
	s.drop(third)
	if s.free != 1 || len(s.shares) != 0 {
		t.Errorf("%d free, held %v", s.free, heldIn(s))
	}
}

// An account that asks once is served soon, however long the queue of another
// is, slow or not; and the other one goes on being served.
func TestSlotsStarveNobody(t *testing.T) {
	t.Parallel()
	const total, flood, others, rounds = 8, 200, 20, 2_000
	const patience = total * others // releases
	s := newSlots(total)
	type queued struct {
		slotKind
		claim *claim
		since int
	}
	var queue, held []queued
	ask := func(k slotKind, now int) { queue = append(queue, queued{k, s.wait(k.account, k.slow), now}) }
	for range flood {
		ask(slotKind{account: accountA}, 0)
	}
	for i := range others {
		ask(slotKind{account: numbered(i), slow: i%3 == 0}, 0)
	}
	served := map[gateway.AccountID]int{}
	for now := range rounds {
		queue = slices.DeleteFunc(queue, func(q queued) bool {
			if !isGranted(q.claim) {
				if q.account != accountA && now-q.since > patience {
					t.Fatalf("account %v (slow: %t) waits for %d releases", q.account, q.slow, now-q.since)
				}
				return false
			}
			held = append(held, q)
			served[q.account]++
			return true
		})
		first := held[0]
		held = held[1:]
		s.release(first.account, first.slow, 1)
		ask(first.slotKind, now)
	}
	if n := served[accountA]; n < rounds/patience {
		t.Errorf("the long queue was served %d times in %d", n, rounds)
	}
}

// A slow claim gets its turn among the quick ones of its account, even if more
// of them come all the time.
func TestSlotsServeASlowClaimAmongQuickOnes(t *testing.T) {
	t.Parallel()
	s := newSlots(1)
	s.try(accountA, false, 1)
	before := waitFor(s, accountA, false, 50)
	slow := s.wait(accountA, true)
	for i := range before {
		s.wait(accountA, false)
		s.release(accountA, false, 1)
		if !isGranted(before[i]) || isGranted(slow) {
			t.Fatalf("release %d served another than who came next", i+1)
		}
	}
	s.release(accountA, false, 1)
	if !isGranted(slow) {
		t.Error("the slow claim was passed over")
	}
}

// Busy accounts hold the same, however many lanes of each want to send and
// whoever came first.
func TestSlotsAreSharedEqually(t *testing.T) {
	t.Parallel()
	const total, each = 16, 5 // one stays free: who holds five may have no sixth then
	r := rand.New(rand.NewPCG(1, 2))
	s := newSlots(total)
	accounts := []gateway.AccountID{accountA, accountB, accountC}
	for i, lanes := range []int{2_000, 200, 20} {
		waitFor(s, accounts[i], false, lanes)
	}
	want := map[gateway.AccountID]int{accountA: each, accountB: each, accountC: each}
	for heldIn(s)[accountA] > each {
		s.release(accountA, false, 1)
	}
	for range 1_000 {
		if diff := cmp.Diff(want, heldIn(s)); diff != "" {
			t.Fatalf("held, -want +got:\n%s", diff)
		}
		account := accounts[r.IntN(len(accounts))]
		s.wait(account, false)
		s.release(account, false, 1)
	}
}

// Many ask, give up and give back at once: in the end everything is back.
func TestSlotsInParallel(t *testing.T) {
	t.Parallel()
	const total, workers, rounds = 8, 16, 500
	s := newSlots(total)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			account, slow := numbered(w/2), w%4 == 0
			for i := range rounds {
				c := s.wait(account, slow)
				if i%5 == 0 {
					s.drop(c)
					continue
				}
				<-c.granted
				s.release(account, slow, 1+s.try(account, slow, 2))
			}
		})
	}
	wg.Wait()
	if s.free != total || s.slowHeld != 0 || len(s.shares) != 0 {
		t.Errorf("in the end %d free, %d slow, held %v", s.free, s.slowHeld, heldIn(s))
	}
}
