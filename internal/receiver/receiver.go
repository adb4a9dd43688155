// Package receiver is an endpoint to try deliveries on: it tells what arrives,
// checks the signature by itself, and can be made slow or unreliable.
package receiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

const (
	// DefaultListen is reachable from this machine only.
	DefaultListen = "127.0.0.1:9000"
	// maxBody bounds, in bytes, one request: far above what a server delivers
	// by default (1 MiB), so that the receiver is never the limit.
	maxBody = 64 << 20
	// failStatus is what a request gets that is made to fail.
	failStatus = http.StatusInternalServerError
)

// Options say how a receiver behaves.
type Options struct {
	// Listen is the address for Run, host:port; empty means DefaultListen.
	Listen string
	// FailRate is the share of requests, 0 to 1, that are answered 500.
	FailRate float64
	// Delay is how long each answer takes.
	Delay time.Duration
	// Status is the answer to requests that are not made to fail; 0 means 200.
	Status int
	// Secret is the endpoint's secret (whsec_…, or whpk_… for Ed25519). With
	// it, requests that do not verify are answered 401.
	Secret string
	// Answer, if it is set, chooses the status of requests that verify and are not
	// made to fail. It may take its time.
	Answer func(q *http.Request, body []byte) int
	// Out gets one line for each request.
	Out io.Writer
}

// Receiver is an http.Handler that prints, checks and answers what it gets. It
// is safe for concurrent use.
type Receiver struct {
	options  Options
	verifier *verifier // nil: signatures are not checked

	mu     sync.Mutex // guards counts, and keeps the lines of Out whole
	counts Counts
}

// New makes a receiver. The error says which option cannot be used; it never
// holds the secret.
func New(o Options) (*Receiver, error) {
	if o.Listen == "" {
		o.Listen = DefaultListen
	}
	if o.Status == 0 {
		o.Status = http.StatusOK
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	v, err := newVerifier(o.Secret)
	if err != nil {
		return nil, err
	}
	return &Receiver{options: o, verifier: v}, nil
}

func (o Options) check() error {
	inRange := o.FailRate >= 0 && o.FailRate <= 1 // false for NaN
	switch {
	case o.Out == nil:
		return errors.New("the receiver needs somewhere to print")
	case !inRange:
		return fmt.Errorf("fail rate %v is not between 0 and 1", o.FailRate)
	case o.Delay < 0:
		return fmt.Errorf("delay %v is negative", o.Delay)
	case o.Status < 200 || o.Status > 599:
		return fmt.Errorf("status %d is not between 200 and 599", o.Status)
	}
	return nil
}

// ServeHTTP answers one request as the options say, and prints its line.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	a, err := read(w, q)
	reply := answer{http.StatusBadRequest, refused}
	if err == nil {
		a.verdict = r.verifier.verify(q.Header, a.body, a.at)
		reply = r.choose(a)
	}
	if !wait(q.Context(), r.options.Delay) {
		reply = answer{http.StatusServiceUnavailable, abandoned}
	}
	r.record(a, reply)
	w.WriteHeader(reply.status)
}

// arrival is a request as it came.
type arrival struct {
	at      time.Time
	request *http.Request
	body    []byte
	verdict verdict
}

// read takes the body in; the error means that it is not all there.
func read(w http.ResponseWriter, q *http.Request) (arrival, error) {
	a := arrival{at: time.Now(), request: q, verdict: unchecked}
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxBody))
	a.body = body
	if err != nil {
		return a, fmt.Errorf("read body: %w", err)
	}
	return a, nil
}

// answer is what a request gets.
type answer struct {
	status  int
	outcome outcome
}

// choose decides what a request gets.
func (r *Receiver) choose(a arrival) answer {
	if a.verdict != verified && a.verdict != unchecked {
		return answer{http.StatusUnauthorized, refused}
	}
	status := r.options.Status
	switch {
	case rand.Float64() < r.options.FailRate: //nolint:gosec // chance, not secrecy
		status = failStatus
	case r.options.Answer != nil:
		status = r.options.Answer(a.request, a.body)
	}
	if status/100 != 2 {
		return answer{status, failed}
	}
	return answer{status, succeeded}
}

// wait lets the delay pass. It tells whether somebody still waits for the
// answer: the sender may hang up, and the receiver may be stopped.
func wait(ctx context.Context, delay time.Duration) bool {
	if delay == 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
