package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

const (
	// lookEvery is how often it is asked whether something has happened.
	lookEvery = 10 * time.Millisecond
	// patience is how long it may take to happen.
	patience = 2 * time.Minute
)

// farSide receives deliveries, and remembers when.
type farSide struct {
	*httptest.Server

	mu     sync.Mutex
	silent chan struct{} // nil while it answers; closed when it does again
	// delay is how long an answer takes.
	delay    time.Duration
	began    []time.Time
	answered []time.Time
	now      int
	most     int
}

// listen starts a far side that answers 200.
func listen() *farSide {
	f := &farSide{}
	f.Server = httptest.NewServer(f)
	return f
}

// ServeHTTP takes a delivery.
func (f *farSide) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // its time is what counts
	wait, delay := f.begin()
	defer f.end()
	if wait != nil {
		<-r.Context().Done() // it is never answered
		return
	}
	select {
	case <-time.After(delay):
		f.mu.Lock()
		f.answered = append(f.answered, time.Now())
		f.mu.Unlock()
		w.WriteHeader(http.StatusOK)
	case <-r.Context().Done():
	}
}

func (f *farSide) begin() (silent chan struct{}, delay time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.began = append(f.began, time.Now())
	f.now++
	f.most = max(f.most, f.now)
	return f.silent, f.delay
}

func (f *farSide) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now--
}

// fallSilent stops answering; answer begins again.
func (f *farSide) fallSilent() { f.set(make(chan struct{})) }
func (f *farSide) answer()     { f.set(nil) }

func (f *farSide) set(silent chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.silent = silent
}

// forget begins the counts anew.
func (f *farSide) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.began, f.answered, f.most = nil, nil, f.now
}

func (f *farSide) atOnce() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *farSide) mostAtOnce() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most
}

func (f *farSide) firstAnswer() (time.Time, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.answered) == 0 {
		return time.Time{}, false
	}
	return f.answered[0], true
}

func (f *farSide) starts() []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]time.Time{}, f.began...)
}

// until returns when so many deliveries have arrived.
func (f *farSide) until(ctx context.Context, n int) error {
	return until(ctx, "the deliveries arrive", func() (bool, error) { return len(f.starts()) >= n, nil })
}

// perSecond tells how many arrived in each whole second, from the first one on.
func (f *farSide) perSecond() (least, most int) {
	began := f.starts()
	whole := int(began[len(began)-1].Sub(began[0]) / time.Second)
	counts := make([]int, whole)
	for _, at := range began {
		if second := int(at.Sub(began[0]) / time.Second); second < whole {
			counts[second]++
		}
	}
	for i, n := range counts {
		if i == 0 {
			least = n
		}
		least, most = min(least, n), max(most, n)
	}
	return least, most
}

// average is how many arrived a second.
func (f *farSide) average() float64 {
	began := f.starts()
	return float64(len(began)-1) / began[len(began)-1].Sub(began[0]).Seconds()
}

var errPatience = errors.New("it takes too long")

// until waits for something to happen.
func until(ctx context.Context, what string, happened func() (bool, error)) error {
	deadline := time.After(patience)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if ok, err := happened(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("%s: %w", what, errPatience)
		case <-tick.C:
		}
	}
}
