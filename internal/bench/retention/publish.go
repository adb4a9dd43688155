package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// connections is how many publish at once.
	connections = 8
	// publishLimit bounds one request.
	publishLimit = 30 * time.Second
)

// publishers send one event after the other, and note how long each took.
type publishers struct {
	url, key string
	client   *http.Client
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu   sync.Mutex // guards what follows
	took []time.Duration
	err  error
}

func startPublishers(ctx context.Context, base, key string) *publishers {
	ctx, cancel := context.WithCancel(ctx)
	p := &publishers{
		url: base + "/api/v1/events", key: key, cancel: cancel,
		client: &http.Client{Timeout: publishLimit, Transport: &http.Transport{MaxIdleConnsPerHost: connections}},
	}
	for range connections {
		p.running.Go(func() { p.run(ctx) })
	}
	return p
}

// stop ends the publishers, and returns the first fault.
func (p *publishers) stop() error {
	p.cancel()
	p.running.Wait()
	p.client.CloseIdleConnections()
	return p.err
}

// run publishes until ctx ends, or one is refused.
func (p *publishers) run(ctx context.Context) {
	for {
		began := time.Now()
		err := p.publish(ctx)
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

func (p *publishers) publish(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader([]byte(`{"type":"order.created","data":{"n":1}}`)))
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+p.key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := p.client.Do(request)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // what was to be read was
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusAccepted {
		err = fmt.Errorf("publish: %s: %s", answer.Status, text)
	}
	return err
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
