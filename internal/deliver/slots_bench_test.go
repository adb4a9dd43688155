package deliver

import (
	"fmt"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// BenchmarkSlotsWith10000Waiting gives a slot back, which serves the next one,
// and queues anew.
func BenchmarkSlotsWith10000Waiting(b *testing.B) {
	const total, waiting = 64, 10_000
	for _, accounts := range []int{1, 100, waiting} {
		b.Run(fmt.Sprintf("accounts=%d", accounts), func(b *testing.B) {
			s := newSlots(total)
			type queued struct {
				account gateway.AccountID
				claim   *claim
			}
			var queue []queued
			for i := range waiting {
				account := numbered(i % accounts)
				queue = append(queue, queued{account, s.wait(account, false)})
			}
			first := 0 // the oldest that holds
			b.ReportAllocs()
			for b.Loop() {
				q := &queue[first]
				if !isGranted(q.claim) {
					b.Fatal("another was served than who came next")
				}
				s.release(q.account, false, 1)
				q.claim = s.wait(q.account, false)
				first = (first + 1) % waiting
			}
		})
	}
}

// BenchmarkSlotsWith10000SlowWaiting has a quick lane send past them.
func BenchmarkSlotsWith10000SlowWaiting(b *testing.B) {
	const total, waiting = 64, 10_000
	s := newSlots(total)
	for i := range waiting {
		s.wait(numbered(i), true)
	}
	for b.Loop() {
		s.release(accountA, false, s.try(accountA, false, 1))
	}
}
