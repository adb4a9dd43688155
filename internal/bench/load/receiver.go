package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// receiver is where a measurement's endpoints are: it notes when the delivery of
// each event came to each of them, and compares every byte.
type receiver struct {
	url    string
	server *http.Server
	served sync.WaitGroup

	body  body
	began time.Time
	// arrived are the times since began, by endpoint and event, in nanoseconds; 0
	// is not yet.
	arrived [][]atomic.Int64
	left    atomic.Int64
	all     chan struct{}
	// repeated came once more, altered are not what was published.
	repeated, altered atomic.Int64
}

// receive starts a receiver of what a publisher publishes, for so many endpoints.
func receive(ctx context.Context, p *publisher, endpoints int) (*receiver, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for deliveries: %w", err)
	}
	r := &receiver{
		url: "http://" + l.Addr().String(), body: p.body, began: p.began,
		arrived: make([][]atomic.Int64, endpoints), all: make(chan struct{}),
	}
	for i := range r.arrived {
		r.arrived[i] = make([]atomic.Int64, len(p.sent))
	}
	r.left.Store(int64(endpoints * len(p.sent)))
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: answerWithin}
	r.served.Go(func() { _ = r.server.Serve(l) }) // until it is closed
	return r, nil
}

func (r *receiver) close() error {
	err := r.server.Close()
	r.served.Wait()
	return err
}

// address is where the n-th endpoint is.
func (r *receiver) address(n int) string { return r.url + "/" + strconv.Itoa(n) }

// buffers are what bodies are read into.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// ServeHTTP takes one delivery.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	endpoint, err := strconv.Atoi(strings.TrimPrefix(q.URL.Path, "/"))
	if err != nil || endpoint < 0 || endpoint >= len(r.arrived) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	if cap(*buffer) < len(r.body.of) {
		*buffer = make([]byte, len(r.body.of))
	}
	data := (*buffer)[:len(r.body.of)]
	if q.ContentLength != int64(len(data)) {
		r.altered.Add(1)
		return
	}
	if _, err := io.ReadFull(q.Body, data); err != nil {
		return // the sender is gone, and comes again
	}
	r.note(endpoint, data)
}

func (r *receiver) note(endpoint int, data []byte) {
	n, same := r.body.number(data)
	switch {
	case !same || n >= len(r.arrived[endpoint]):
		r.altered.Add(1)
	case !r.arrived[endpoint][n].CompareAndSwap(0, int64(time.Since(r.began))):
		r.repeated.Add(1)
	case r.left.Add(-1) == 0:
		close(r.all)
	}
}

// errStopped is deliveries that come no more.
var errStopped = errors.New("deliveries stopped coming")

// stopsAfter is how long nothing may come.
const stopsAfter = 30 * time.Second

// await returns when everything has come.
func (r *receiver) await(ctx context.Context) error {
	tick := time.NewTicker(stopsAfter)
	defer tick.Stop()
	for before := int64(-1); ; {
		select {
		case <-r.all:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			left := r.left.Load()
			if left == before {
				return fmt.Errorf("%w: %d of %d are missing", errStopped, left, len(r.arrived)*len(r.arrived[0]))
			}
			before = left
		}
	}
}
