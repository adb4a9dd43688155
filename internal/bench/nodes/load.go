package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// endpoints get the events in turn: their lanes are spread over the nodes.
	endpoints = 12
	// connections are how many requests may be under way.
	connections = 64
	// callTimeout bounds one request; againAfter is the wait before it is repeated.
	callTimeout, againAfter = 10 * time.Second, 100 * time.Millisecond
)

// load publishes events with keys, at a steady pace.
type load struct {
	base, key string
	perSecond int
	client    *http.Client

	mu     sync.Mutex
	acks   map[string]time.Time // by the event's id
	failed int
}

// load makes the endpoints that it publishes for.
func (c *cluster) load(ctx context.Context, far *farSide, perSecond int) (*load, error) {
	l := &load{
		base: c.balancer.URL + "/api/v1", key: c.key, perSecond: perSecond, acks: map[string]time.Time{},
		client: &http.Client{Timeout: callTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: connections}},
	}
	for i := range endpoints {
		_, err := l.post(ctx, "/endpoints", map[string]any{"url": far.URL, "event_types": []string{kind(i)}})
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

func kind(n int) string { return fmt.Sprintf("nodes.%d", n%endpoints) }

// start publishes until the returned function is called, which waits until every
// event is acknowledged. It may be called twice.
func (l *load) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		slots := make(chan struct{}, connections)
		tick := time.NewTicker(time.Second / time.Duration(l.perSecond))
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			slots <- struct{}{}
			running.Go(func() {
				l.publish(context.WithoutCancel(ctx), n)
				<-slots
			})
		}
	})
	return func() {
		cancel()
		running.Wait()
		l.client.CloseIdleConnections()
	}
}

// publish sends one event until it is acknowledged.
func (l *load) publish(ctx context.Context, n int) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for ctx.Err() == nil {
		id, err := l.post(ctx, "/events", map[string]any{"type": kind(n), "key": fmt.Sprintf("event-%d", n), "data": map[string]int{"n": n}})
		l.mu.Lock()
		if err == nil {
			l.acks[id] = time.Now()
		} else {
			l.failed++
		}
		l.mu.Unlock()
		if err == nil || rest(ctx, againAfter) != nil {
			return
		}
	}
}

// post calls the API and returns the id of what it made.
func (l *load) post(ctx context.Context, path string, body any) (id string, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.base+path, bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+l.key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := l.client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close() //nolint:errcheck // what was to be read was
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		return "", fmt.Errorf("POST %s: %s: %s", path, answer.Status, got)
	}
	var made struct{ ID string }
	err = json.Unmarshal(got, &made)
	return made.ID, err
}

func (l *load) failures() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// acknowledged lists the events that were acknowledged before a time, or all.
func (l *load) acknowledged(before time.Time) map[string]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := map[string]time.Time{}
	for id, at := range l.acks {
		if before.IsZero() || at.Before(before) {
			found[id] = at
		}
	}
	return found
}
