package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// farSide receives every delivery, and remembers when each event came first, and how
// often.
type farSide struct {
	*httptest.Server

	mu    sync.Mutex
	first map[string]time.Time
	came  int
}

func listen() *farSide {
	f := &farSide{first: map[string]time.Time{}}
	f.Server = httptest.NewServer(f)
	return f
}

// ServeHTTP takes a delivery.
func (f *farSide) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // its id is what counts
	f.mu.Lock()
	defer f.mu.Unlock()
	f.came++
	if id := r.Header.Get("webhook-id"); f.first[id].IsZero() {
		f.first[id] = time.Now()
	}
}

// lacks tells how many of some events have not come.
func (f *farSide) lacks(events map[string]time.Time) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range events {
		if f.first[id].IsZero() {
			n++
		}
	}
	return n
}
