// Package listener is the other end of an endpoint of the kind listen: it asks a
// server for the endpoint's deliveries and forwards each to a local program.
//
// What the local program has confirmed is never forwarded again. A confirmation
// whose report did not arrive is remembered, and told when the delivery comes
// again.
package listener

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/client"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// stopGrace is how long what is under way may go on after a stop.
	stopGrace = 10 * time.Second
	// leaveTime bounds saying that we go.
	leaveTime = 3 * time.Second
)

// Options say who listens for what, and where it goes to.
type Options struct {
	Client *client.Client
	// Endpoint is its id or uid.
	Endpoint string
	// ForwardTo is the local program's URL.
	ForwardTo string
	// Host is what this machine is called.
	Host string
	// Out gets a line for each delivery, Notes one when the connection is lost, or
	// there again.
	Out, Notes io.Writer
}

// Listener forwards the deliveries of one endpoint.
type Listener struct {
	Options

	// id is drawn at each start: what we know is known for one life only.
	id  string
	out *egress.Client
	// told wakes who reports.
	told chan struct{}

	mu sync.Mutex
	// held are the orders that the server has not heard the end of.
	held map[string]bool
	// running are the deliveries that are being forwarded now, each with the
	// orders that wait for how that goes.
	running map[string][]client.Order
	// confirmed is what the local program confirmed and no report has told yet.
	confirmed map[string]client.Report
	// reports are to be told.
	reports []report
	counts  Counts
	print   sync.Mutex
}

// report is how an order went, with the delivery that it was for.
type report struct {
	client.Report

	delivery string
}

// Counts are the deliveries so far, by what became of them.
type Counts struct{ Confirmed, Failed int }

// New makes a Listener. An error is a URL that cannot be forwarded to.
func New(o Options) (*Listener, error) {
	everywhere := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	// It is the one who runs it that says where to: their own network is theirs.
	out := egress.New(egress.Options{Allow: everywhere})
	if err := out.CheckURL(o.ForwardTo); err != nil {
		return nil, fmt.Errorf("cannot forward to %q: %w", o.ForwardTo, err)
	}
	o.Host = shortened(o.Host)
	return &Listener{
		Options: o, id: rand.Text(), out: out, told: make(chan struct{}, 1),
		held: map[string]bool{}, running: map[string][]client.Order{}, confirmed: map[string]client.Report{},
	}, nil
}

// shortened is as much of a machine's name as the server takes.
func shortened(host string) string {
	runes := []rune(clean(host))
	return string(runes[:min(len(runes), gateway.MaxListenerHost)])
}

// Run forwards until ctx ends; then it lets what is under way finish, for a
// while, and tells the server that it goes. Stopping is no error. An error is one
// that trying again would not mend.
func (l *Listener) Run(ctx context.Context) error {
	defer l.out.CloseIdle()
	working, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	var forwards, reporting sync.WaitGroup
	reportsEnd := make(chan struct{})
	reporting.Go(func() { l.report(working, reportsEnd) })
	err := l.listen(ctx, func(o client.Order) { forwards.Go(func() { l.take(working, o) }) })
	timer := time.AfterFunc(stopGrace, abort)
	defer timer.Stop()
	forwards.Wait()
	close(reportsEnd)
	reporting.Wait()
	l.leave(ctx)
	return err
}

// leave tells the server that we go; that it does not arrive is found out soon.
func (l *Listener) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	_ = l.Client.Leave(ctx, l.Endpoint, l.id)
}

// listen asks again and again, and hands on what there is, until ctx ends.
func (l *Listener) listen(ctx context.Context, take func(client.Order)) error {
	var line connection
	for ctx.Err() == nil {
		orders, err := l.Client.Poll(ctx, l.Endpoint, l.asking())
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (line.isNew() || isFinal(err)):
			return err
		case err != nil:
			l.note(line.lost(err))
			line.wait(ctx)
			continue
		}
		l.note(line.isThere())
		for _, o := range orders {
			if l.hold(o) {
				take(o)
			}
		}
	}
	return nil
}

func (l *Listener) asking() client.Asking {
	l.mu.Lock()
	defer l.mu.Unlock()
	holding := make([]string, 0, len(l.held))
	for id := range l.held {
		holding = append(holding, id)
	}
	return client.Asking{Listener: l.id, Host: l.Host, Holding: holding}
}

// hold notes that we have an order; false: we had it already.
func (l *Listener) hold(o client.Order) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[o.ID] {
		return false
	}
	l.held[o.ID] = true
	return true
}

// Counts returns the deliveries so far.
func (l *Listener) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// isFinal tells whether a call would be refused again.
func isFinal(err error) bool {
	p, ok := errors.AsType[*client.Problem](err)
	return ok && p.Code != "" && p.Status/100 == 4 && !slices.Contains(passing, p.Code)
}

// passing are the refusals of the API's that time mends: too many calls, and one
// that came over a bad line.
var passing = []string{"rate_limited", "request_timeout", "bad_request"}

// outcomeOf tells what a report says.
func outcomeOf(r client.Report) gateway.Outcome {
	switch {
	case r.StatusCode/100 == 2:
		return gateway.OutcomeSucceeded
	case r.StatusCode != 0:
		return gateway.OutcomeRejected
	}
	return gateway.OutcomeUnreachable
}
