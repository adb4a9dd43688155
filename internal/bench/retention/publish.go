package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/bench/publish"
)

// connections is how many publish at once.
const connections = 8

// publishers send one event after the other, and note how long each took.
type publishers struct {
	to      *publish.Publisher
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu   sync.Mutex // guards what follows
	took []time.Duration
	err  error
}

func startPublishers(ctx context.Context, base, key string) *publishers {
	ctx, cancel := context.WithCancel(ctx)
	p := &publishers{to: publish.New(base, key, connections), cancel: cancel}
	for range connections {
		p.running.Go(func() { p.run(ctx) })
	}
	return p
}

// stop ends the publishers, and returns the first fault.
func (p *publishers) stop() error {
	p.cancel()
	p.running.Wait()
	p.to.Close()
	return p.err
}

// run publishes until ctx ends, or one is refused.
func (p *publishers) run(ctx context.Context) {
	for {
		began := time.Now()
		err := p.to.Publish(ctx, "order.created", map[string]int{"n": 1})
		if ctx.Err() != nil {
			return
		}
		p.mu.Lock()
		p.took = append(p.took, time.Since(began))
		if p.err == nil {
			p.err = err
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take returns how long each took that was answered since the last time, shortest
// first.
func (p *publishers) take() []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := p.took
	p.took = nil
	slices.Sort(took)
	return took
}
