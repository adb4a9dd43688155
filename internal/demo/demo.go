package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/client"
	"github.com/rowlock/rowlock/internal/egress"
)

// Options are what a demo needs.
type Options struct {
	// Server is the server's address, Key a key of the account with all scopes.
	Server, Key string
	// Dashboard is the account's page, which its owner opens with Email and Password.
	Dashboard, Email, Password string
	// Own tells that the server ends with the demo.
	Own bool
	// Receiver gets what is delivered.
	Receiver *Receiver
	// Out is told what a person wants to know.
	Out io.Writer
}

// demo is one run.
type demo struct {
	Options

	api *client.Client
	// out sends as the providers do.
	out     *egress.Client
	sources map[string]source

	mu    sync.Mutex
	tally tally
	told  []told
	// troubled tells that the last try did not work, which was said.
	troubled bool
}

// tally is what was done.
type tally struct{ sent, repeated, forged int }

// errReceiverGone ends a demo whose receiver ended.
var errReceiverGone = errors.New("the demo's receiver ended by itself")

// errKeyGone ends a demo whose account has gone.
var errKeyGone = errors.New("the demo's key is not known any more: its account was deleted, or the key revoked")

// Run sets the account up, tells a person where to look, and keeps it busy until ctx
// ends; then it pauses the endpoints, since nobody is there to receive any more.
// Stopping is no error.
func Run(ctx context.Context, o Options) (err error) {
	d := &demo{Options: o, sources: map[string]source{}, out: egress.New(egress.Options{Allow: []netip.Prefix{
		// It sends to the server that it was told, wherever that is.
		netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"),
	}})}
	defer d.out.CloseIdle()
	if d.api, err = client.New(o.Server, o.Key); err != nil {
		return err
	}
	if err := d.setUp(ctx); err != nil {
		return ended(ctx, err)
	}
	d.greet()
	err = d.live(ctx)
	d.leave(context.WithoutCancel(ctx))
	return ended(ctx, err)
}

// ended takes what was cut off by the end for none.
func ended(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause // of who ended it
	}
	return nil
}

// live runs every stream until ctx ends, or one of them cannot go on.
func (d *demo) live(ctx context.Context) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var all sync.WaitGroup
	for _, s := range d.streams() {
		all.Go(func() {
			if err := d.flow(ctx, s); err != nil {
				fail(err)
			}
		})
	}
	select {
	case <-ctx.Done():
	case <-d.Receiver.Gone():
		fail(errReceiverGone)
	}
	all.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// stream is something that happens again and again.
type stream struct {
	// after is when it begins, every how often it happens from then on.
	after, every time.Duration
	do           func(context.Context) error
}

// flow lets a stream happen. What does not work is tried again in the next round,
// save what will never work.
func (d *demo) flow(ctx context.Context, s stream) error {
	timer := time.NewTimer(s.after)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		if err := s.do(ctx); err != nil && ctx.Err() == nil && d.isFatal(err) {
			return errKeyGone
		}
		timer.Reset(s.every)
	}
}

// isFatal tells whether the demo cannot go on after an error. Of another it says once
// that it is there.
func (d *demo) isFatal(err error) bool {
	p, refused := errors.AsType[*client.Problem](err)
	switch {
	case refused && p.Status == http.StatusUnauthorized:
		return true
	default:
		d.say(fmt.Sprintf("Trouble: %s. Going on.", err))
		return false
	}
}

// say tells of trouble, once until it is over.
func (d *demo) say(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.troubled {
		fmt.Fprintln(d.Out, text)
	}
	d.troubled = true
}

// count adds to the tally, after something worked.
func (d *demo) count(add tally) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tally.sent += add.sent
	d.tally.repeated += add.repeated
	d.tally.forged += add.forged
	d.troubled = false
}

func (d *demo) greet() {
	where := "on the server at " + d.Server
	if d.Own {
		where = "on a server of its own"
	}
	fmt.Fprintf(d.Out, `Rowlock's demo runs, %s.

  dashboard  %s
  log in     %s
  password   %s

Webhooks come in and go out: some twice, some late, some forged, and some to a
receiver that fails. Within a minute every page has something to show.
Ctrl-C ends the traffic; the account stays.
`, where, d.Dashboard, d.Email, d.Password)
}

// leaveWithin bounds how long the end may take.
const leaveWithin = 10 * time.Second

// leave pauses the endpoints, and says what was done.
func (d *demo) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveWithin)
	defer cancel()
	paused := 0
	for _, e := range endpoints {
		if d.api.Do(ctx, http.MethodPost, "/endpoints/"+e.UID+"/pause", nil, nil) == nil {
			paused++
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	again := ""
	if d.Own {
		again = " `rowlock serve` shows it again."
	}
	fmt.Fprintf(d.Out, "\nStopped. Sent %d events, %d of them more than once, and %d forgeries.\nThe account stays, with its endpoints paused.%s\n",
		d.tally.sent, d.tally.repeated, d.tally.forged, again)
	if paused == 0 {
		fmt.Fprintln(d.Out, "The endpoints could not be paused: their deliveries will fail, since the receiver is gone.")
	}
}
