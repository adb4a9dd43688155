package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/client"
)

const (
	// connections bounds how many publish at once.
	connections = 64
	// arrivesWithin bounds how long the last events are waited for.
	arrivesWithin = time.Minute
	// tickEvery is how often it is looked what is due.
	tickEvery = 5 * time.Millisecond
	// looksEvery is how often it is looked whether they have come.
	looksEvery = 100 * time.Millisecond
)

// flow publishes events at a steady pace, and receives them. How long each took it
// learns from the time that the event itself carries.
type flow struct {
	options
	to     *client.Client
	far    *httptest.Server
	filler string
	took   bench.Times

	mu              sync.Mutex // guards what follows
	seen            map[string]bool
	sent, came, two int
	err             error
}

// data is what an event says.
type data struct {
	Sent   time.Time `json:"sent"`
	Filler string    `json:"filler"`
}

func newFlow(o options, server, key string) (*flow, error) {
	to, err := client.New(server, key)
	if err != nil {
		return nil, err
	}
	f := &flow{options: o, to: to, filler: strings.Repeat("x", o.bodies), seen: map[string]bool{}}
	f.far = httptest.NewServer(f)
	return f, nil
}

func (f *flow) close() { f.far.Close() }

func kind(n int) string { return fmt.Sprintf("soak.%d", n) }

func (f *flow) makeEndpoints(ctx context.Context) error {
	for n := range f.endpoints {
		want := map[string]any{"url": f.far.URL, "event_types": []string{kind(n)}}
		if err := f.to.Do(ctx, http.MethodPost, "/endpoints", want, nil); err != nil {
			return fmt.Errorf("make an endpoint: %w", err)
		}
	}
	return nil
}

// start publishes until the returned function is called, which waits for the answers.
func (f *flow) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	due := make(chan int)
	for range connections {
		running.Go(func() {
			for n := range due {
				f.publish(context.WithoutCancel(ctx), n)
			}
		})
	}
	running.Go(func() {
		defer close(due)
		f.pace(ctx, due)
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// pace says what is due to be published, and makes up for moments in which nobody
// had time.
func (f *flow) pace(ctx context.Context, due chan<- int) {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for n, began := 0, time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for ; float64(n) < time.Since(began).Seconds()*float64(f.rate); n++ {
			due <- n
		}
	}
}

func (f *flow) publish(ctx context.Context, n int) {
	event := map[string]any{"type": kind(n % f.endpoints), "data": data{Sent: time.Now(), Filler: f.filler}}
	err := f.to.Do(ctx, http.MethodPost, "/events", event, nil)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.err = err
		return
	}
	f.sent++
}

// ServeHTTP takes a delivery.
func (f *flow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var event data
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &event)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.took.Note(time.Since(event.Sent))
	f.mu.Lock()
	defer f.mu.Unlock()
	if id := r.Header.Get("Webhook-Id"); f.seen[id] {
		f.two++
	} else {
		f.seen[id] = true
	}
	f.came++
}

// await returns when every accepted event has come.
func (f *flow) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, arrivesWithin)
	defer cancel()
	for f.delivered()-f.again() < f.accepted() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %d events: %w", f.accepted()-f.delivered(), ctx.Err())
		case <-time.After(looksEvery):
		}
	}
	return nil
}

func (f *flow) number(n *int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return *n
}

func (f *flow) accepted() int  { return f.number(&f.sent) }
func (f *flow) delivered() int { return f.number(&f.came) }
func (f *flow) again() int     { return f.number(&f.two) }

func (f *flow) fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
