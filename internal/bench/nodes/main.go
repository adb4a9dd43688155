// Command nodes measures many nodes on one database: what is lost, what comes twice
// and what is refused while one is killed, and while all are started anew.
//
//	go run ./internal/bench/nodes
//
// It starts a throw-away PostgreSQL server that loses nothing at a crash (or uses the
// empty database at the address that -url gives), builds rowlock, and runs three nodes
// behind a balancer of its own, which asks each for /readyz. Events are published with
// keys all the while; a request that fails is repeated until it is acknowledged. It
// prints what happened, and fails if an event was lost or if the restart of one node
// after the other was noticed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/bench/served"
	"github.com/rowlock/rowlock/internal/pgtest/throwaway"
)

// options are the command's flags.
type options struct {
	url string
	// perSecond events are published; steady is for how long before, between and
	// after what happens.
	perSecond int
	steady    time.Duration
	// pause is the nodes' ROWLOCK_DRAIN_PAUSE.
	pause time.Duration
}

func main() { bench.Main("nodes", run) }

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	var o options
	flags := flag.NewFlagSet("nodes", flag.ContinueOnError)
	flags.StringVar(&o.url, "url", "", "address of an empty database (default: a throw-away server)")
	flags.IntVar(&o.perSecond, "rate", 200, "events a second")
	flags.DurationVar(&o.steady, "steady", 5*time.Second, "how long nothing happens before, between and after")
	flags.DurationVar(&o.pause, "pause", time.Second, "the nodes' ROWLOCK_DRAIN_PAUSE; the balancer looks every 200 ms")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.url == "" {
		server, err := throwaway.StartDurable(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
		o.url = server.URL()
	}
	seen, err := measure(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprint(out, seen)
	return seen.fault()
}

// measure runs the nodes through everything.
func measure(ctx context.Context, o options) (seen result, err error) {
	program, err := served.Build(ctx)
	if err != nil {
		return seen, err
	}
	defer func() { err = errors.Join(err, program.Remove()) }()
	c, err := startCluster(ctx, program, o)
	if err != nil {
		return seen, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	far := listen()
	defer far.Close()
	l, err := c.load(ctx, far, o.perSecond)
	if err != nil {
		return seen, err
	}
	stop := l.start(ctx)
	defer stop()
	if err := c.happen(ctx, l, far, o.steady, &seen); err != nil {
		return seen, err
	}
	stop()
	err = until(ctx, "everything is delivered", func() bool { return far.lacks(l.acknowledged(time.Time{})) == 0 })
	seen.count(l, far)
	if errors.Is(err, errPatience) {
		err = nil // what is lost is told
	}
	return seen, err
}

// happen kills a node, and then starts each anew.
func (c *cluster) happen(ctx context.Context, l *load, far *farSide, steady time.Duration, seen *result) error {
	if err := rest(ctx, steady); err != nil {
		return err
	}
	if err := c.kill(ctx, l, far, seen); err != nil {
		return err
	}
	if err := rest(ctx, steady); err != nil {
		return err
	}
	if err := c.roll(ctx, l, seen); err != nil {
		return err
	}
	return rest(ctx, steady)
}

// kill ends a node as kill -9 does. It stays away until the others have delivered what
// was acknowledged before, and is started again.
func (c *cluster) kill(ctx context.Context, l *load, far *farSide, seen *result) error {
	failed := l.failures()
	at := time.Now()
	if err := c.nodes[0].Kill(); err != nil {
		return err
	}
	before := l.acknowledged(at)
	seen.open = far.lacks(before)
	err := until(ctx, "what was acknowledged before a node was killed is delivered", func() bool { return far.lacks(before) == 0 })
	if err != nil && !errors.Is(err, errPatience) {
		return err
	}
	seen.recovered = time.Since(at)
	if err := c.nodes[0].Boot(ctx); err != nil {
		return err
	}
	if err := until(ctx, "the balancer sees the node again", c.balancer.allReady); err != nil {
		return err
	}
	seen.killFailed = l.failures() - failed
	seen.killed = at
	return nil
}

// roll starts each node anew, one after the other.
func (c *cluster) roll(ctx context.Context, l *load, seen *result) error {
	failed, began := l.failures(), time.Now()
	for _, node := range c.nodes {
		if err := node.Terminate(); err != nil {
			return err
		}
		if err := node.Boot(ctx); err != nil {
			return err
		}
		if err := until(ctx, "the balancer sees the node again", c.balancer.allReady); err != nil {
			return err
		}
	}
	seen.rolled = time.Since(began)
	seen.rollFailed = l.failures() - failed
	return nil
}

// rest lets some time pass in which nothing happens.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	// lookEvery is how often it is asked whether something has happened.
	lookEvery = 10 * time.Millisecond
	// patience is how long it may take to happen.
	patience = 2 * time.Minute
)

var errPatience = errors.New("it takes too long")

// until waits for something to happen.
func until(ctx context.Context, what string, happened func() bool) error {
	deadline := time.After(patience)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for !happened() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("%s: %w", what, errPatience)
		case <-tick.C:
		}
	}
	return nil
}
