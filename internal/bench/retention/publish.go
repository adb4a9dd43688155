package main

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/client"
)

// connections is how many publish at once.
const connections = 8

// publishers send one event after the other, and note how long each took.
type publishers struct {
	to      *client.Client
	took    bench.Times
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu  sync.Mutex // guards err
	err error
}

func startPublishers(ctx context.Context, server, key string) (*publishers, error) {
	to, err := client.New(server, key)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &publishers{to: to, cancel: cancel}
	for range connections {
		p.running.Go(func() { p.run(ctx) })
	}
	return p, nil
}

// stop ends the publishers, and returns the first fault.
func (p *publishers) stop() error {
	p.cancel()
	p.running.Wait()
	return p.err
}

// run publishes until ctx ends, or one is refused.
func (p *publishers) run(ctx context.Context) {
	event := map[string]any{"type": "order.created", "data": map[string]int{"n": 1}}
	for {
		began := time.Now()
		err := p.to.Do(ctx, http.MethodPost, "/events", event, nil)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			p.fail(err)
			return
		}
		p.took.Note(time.Since(began))
	}
}

// fail keeps the first fault.
func (p *publishers) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}
