package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// warmUps are how many each connection sends that do not count: plans and
	// connections are made once.
	warmUps = 20
	// answerWithin bounds one of them. It is far above what is measured, so that
	// a slow answer is a figure rather than an error.
	answerWithin = 30 * time.Second
)

// errUnexpected is an outcome that makes a measurement worthless.
var errUnexpected = errors.New("not what was to be measured")

// burst is how long each of many things took, shortest first, and all of them
// together.
type burst struct {
	each []time.Duration
	all  time.Duration
}

// newBurst does a thing n times, after the warm-ups, as many at once as there
// are connections. Each time has a number of its own. The first failure ends it.
func newBurst(ctx context.Context, n int, do func(ctx context.Context, number int) error) (burst, error) {
	warm := connections * warmUps
	if _, err := spread(ctx, 0, warm, do); err != nil {
		return burst{}, err
	}
	began := time.Now()
	each, err := spread(ctx, warm, n, do)
	if err != nil {
		return burst{}, err
	}
	b := burst{each: each, all: time.Since(began)}
	slices.Sort(b.each)
	return b, nil
}

// spread does a thing n times, with the numbers from first on.
func spread(ctx context.Context, first, n int, do func(context.Context, int) error) ([]time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	took := make([]time.Duration, n)
	var taken atomic.Int64
	var senders sync.WaitGroup
	for range connections {
		senders.Go(func() {
			for i := int(taken.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(taken.Add(1)) - 1 {
				began := time.Now()
				if err := do(ctx, first+i); err != nil {
					cancel(err) // the first one's stays
					return
				}
				took[i] = time.Since(began)
			}
		})
	}
	senders.Wait()
	return took, context.Cause(ctx)
}

// perSecond is how many were done in a second.
func (b burst) perSecond() float64 { return float64(len(b.each)) / b.all.Seconds() }

// within is the time in which so many of a hundred were done.
func (b burst) within(percent int) time.Duration {
	return b.each[max((len(b.each)*percent+99)/100, 1)-1]
}
