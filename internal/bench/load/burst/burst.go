// Package burst does a thing many times over several connections at once, and
// tells how long each took.
package burst

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// warmUps are how many each connection does that do not count: plans and
// connections are made once.
const warmUps = 20

// ErrUnexpected is an outcome that makes a measurement worthless.
var ErrUnexpected = errors.New("not what was to be measured")

// Do is one of many: on which connection, counted from 0, and its number, which
// no other has.
type Do func(ctx context.Context, connection, number int) error

// Burst is how long each of many things took, shortest first, and all of them
// together.
type Burst struct {
	Each []time.Duration
	All  time.Duration
}

// WarmUps is how many Warm does before the first that counts.
func WarmUps(connections int) int { return connections * warmUps }

// Warm does a thing n times after the warm-ups, over so many connections at once.
// The first failure ends it.
func Warm(ctx context.Context, connections, n int, do Do) (Burst, error) {
	warm := WarmUps(connections)
	if _, err := Spread(ctx, connections, 0, warm, do); err != nil {
		return Burst{}, err
	}
	return Spread(ctx, connections, warm, n, do)
}

// Spread does a thing n times, with the numbers from first on.
func Spread(ctx context.Context, connections, first, n int, do Do) (Burst, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b := Burst{Each: make([]time.Duration, n)}
	var taken atomic.Int64
	var senders sync.WaitGroup
	all := time.Now()
	for c := range connections {
		senders.Go(func() {
			for i := int(taken.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(taken.Add(1)) - 1 {
				began := time.Now()
				if err := do(ctx, c, first+i); err != nil {
					cancel(err) // the first one's stays
					return
				}
				b.Each[i] = time.Since(began)
			}
		})
	}
	senders.Wait()
	b.All = time.Since(all)
	slices.Sort(b.Each)
	return b, context.Cause(ctx)
}

// PerSecond is how many were done in a second.
func (b Burst) PerSecond() float64 { return float64(len(b.Each)) / b.All.Seconds() }

// Within is the time in which so many of a hundred were done.
func (b Burst) Within(percent int) time.Duration { return Within(b.Each, percent) }

// Within is the time in which so many of a hundred were done, of times that are
// sorted; 0 for none.
func Within(each []time.Duration, percent int) time.Duration {
	if len(each) == 0 {
		return 0
	}
	return each[max((len(each)*percent+99)/100, 1)-1]
}
