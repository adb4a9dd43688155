package deliver

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

// slotKind is whose a slot is, and whether it counts as slow.
type slotKind struct {
	account gateway.AccountID
	slow    bool
}

// plainSlots say what slots promise, by looking at every claim every time.
type plainSlots struct {
	total, free, slowHeld int
	held                  map[gateway.AccountID]int
	waiting               []*plainClaim
}

type plainClaim struct {
	slotKind
	granted bool
}

func (p *plainSlots) mayTake(k slotKind) bool {
	held := p.held[k.account]
	return p.free > 0 && (held == 0 || held < 3*p.free) && (!k.slow || p.mayBeSlow())
}

func (p *plainSlots) mayBeSlow() bool { return p.slowHeld < max(p.total/2, 1) }

// count adds n slots to those held; n is negative for those given back.
func (p *plainSlots) count(k slotKind, n int) {
	p.free -= n
	if p.held[k.account] += n; p.held[k.account] == 0 {
		delete(p.held, k.account)
	}
	if k.slow {
		p.slowHeld += n
	}
}

func (p *plainSlots) try(k slotKind, want int) (n int) {
	for n < want && p.mayTake(k) {
		p.count(k, 1)
		n++
	}
	return n
}

func (p *plainSlots) drop(c *plainClaim) {
	if c.granted {
		p.count(c.slotKind, -1)
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(w *plainClaim) bool { return w == c })
}

func (p *plainSlots) serve() {
	for {
		var best *plainClaim
		for _, c := range p.waiting {
			if p.mayTake(c.slotKind) && (best == nil || p.held[c.account] < p.held[best.account]) {
				best = c
			}
		}
		if best == nil {
			return
		}
		p.drop(best)
		p.count(best.slotKind, 1)
		best.granted = true
	}
}

// slotsTrial does the same to slots and to plain ones.
type slotsTrial struct {
	*testing.T
	r        *rand.Rand
	accounts int
	slots    *slots
	plain    *plainSlots
	held     []slotKind
	queue    []queuedTwice
}

type queuedTwice struct {
	real  *claim
	plain *plainClaim
}

func newSlotsTrial(t *testing.T, total, accounts int) *slotsTrial {
	return &slotsTrial{
		T: t, r: rand.New(rand.NewPCG(uint64(total), uint64(accounts))), accounts: accounts, slots: newSlots(total),
		plain: &plainSlots{total: total, free: total, held: map[gateway.AccountID]int{}},
	}
}

// step does something at random.
func (tr *slotsTrial) step() {
	k := slotKind{numbered(tr.r.IntN(tr.accounts)), tr.r.IntN(3) == 0}
	switch tr.r.IntN(12) {
	case 0, 1:
		tr.try(k, tr.r.IntN(5)-1)
	case 2, 3, 4, 5:
		tr.wait(k)
	case 6, 7, 8, 9:
		tr.release()
	case 10:
		tr.drop()
	default:
		tr.slowDown()
	}
	tr.plain.serve()
	tr.compare()
	if tr.r.IntN(3) == 0 { // the others may be dropped before they know
		tr.notice()
	}
}

func (tr *slotsTrial) try(k slotKind, want int) {
	n := tr.plain.try(k, want)
	if got := tr.slots.try(k.account, k.slow, want); got != n {
		tr.Fatalf("took %d of %d, want %d", got, want, n)
	}
	tr.held = append(tr.held, slices.Repeat([]slotKind{k}, n)...)
}

func (tr *slotsTrial) wait(k slotKind) {
	c := &plainClaim{slotKind: k}
	tr.plain.waiting = append(tr.plain.waiting, c)
	tr.queue = append(tr.queue, queuedTwice{tr.slots.wait(k.account, k.slow), c})
}

// release gives back some of a kind.
func (tr *slotsTrial) release() {
	if len(tr.held) == 0 {
		return
	}
	k, n, most := tr.held[tr.r.IntN(len(tr.held))], 0, 1+tr.r.IntN(3)
	tr.held = slices.DeleteFunc(tr.held, func(h slotKind) bool {
		if h != k || n == most {
			return false
		}
		n++
		return true
	})
	tr.plain.count(k, -n)
	tr.slots.release(k.account, k.slow, n)
}

func (tr *slotsTrial) drop() {
	if len(tr.queue) == 0 {
		return
	}
	i := tr.r.IntN(len(tr.queue))
	q := tr.queue[i]
	tr.queue = slices.Delete(tr.queue, i, i+1)
	tr.plain.drop(q.plain)
	tr.slots.drop(q.real)
}

func (tr *slotsTrial) slowDown() {
	i := slices.IndexFunc(tr.held, func(h slotKind) bool { return !h.slow })
	if i < 0 {
		return
	}
	want := tr.plain.mayBeSlow()
	if got := tr.slots.slowDown(); got != want {
		tr.Fatalf("became slow: %t, want %t", got, want)
	}
	if want {
		tr.plain.slowHeld++
		tr.held[i].slow = true
	}
}

// notice takes the claims that were granted out of the queue.
func (tr *slotsTrial) notice() {
	tr.queue = slices.DeleteFunc(tr.queue, func(q queuedTwice) bool {
		if q.plain.granted {
			tr.held = append(tr.held, q.plain.slotKind)
		}
		return q.plain.granted
	})
}

func (tr *slotsTrial) compare() {
	tr.Helper()
	s, p := tr.slots, tr.plain
	if s.free != p.free || s.slowHeld != p.slowHeld {
		tr.Fatalf("%d are free, %d slow, want %d, %d", s.free, s.slowHeld, p.free, p.slowHeld)
	}
	if diff := cmp.Diff(p.held, heldIn(s)); diff != "" {
		tr.Fatalf("held, -want +got:\n%s", diff)
	}
	for i, q := range tr.queue {
		if isGranted(q.real) != q.plain.granted {
			tr.Fatalf("claim %d of %d is granted: %t, want %t", i, len(tr.queue), isGranted(q.real), q.plain.granted)
		}
	}
	sum := s.free
	for _, n := range p.held {
		sum += n
	}
	if s.free < 0 || sum != s.total || s.slowHeld > max(s.total/2, 1) {
		tr.Fatalf("%d free, %d in all, %d slow of %d", s.free, sum, s.slowHeld, s.total)
	}
}

// Whatever happens in whatever order: never more than there are, never more
// than half of them slow, everybody served in turn, and in the end everything
// is back and nobody remembered.
func TestSlotsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	const steps = 3_000
	for _, total := range []int{1, 2, 3, 4, 9, 16, 64} {
		for _, accounts := range []int{1, 4, 40} {
			t.Run(fmt.Sprintf("%d_slots_%d_accounts", total, accounts), func(t *testing.T) {
				t.Parallel()
				tr := newSlotsTrial(t, total, accounts)
				for range steps {
					tr.step()
				}
				for tr.notice(); len(tr.held) > 0; tr.notice() {
					tr.release()
					tr.plain.serve()
					tr.compare()
				}
				s := tr.slots
				if len(tr.queue) != 0 || s.free != total || s.slowHeld != 0 || len(s.shares)+len(s.quick)+len(s.slow) != 0 {
					t.Errorf("in the end %d wait, %d free, %d slow, shares %v", len(tr.queue), s.free, s.slowHeld, s.shares)
				}
			})
		}
	}
}
