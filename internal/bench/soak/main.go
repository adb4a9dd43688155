// Command soak keeps a server at a steady pace for a while, and prints each minute
// how long events took, what the server has in memory, and how large the database
// and what is dead in it are.
//
//	go run ./internal/bench/soak -rate 700 -for 20m
//
// The database is a throw-away one that writes through to its disk. Generator,
// receiver, server and database share the machine. It judges nothing.
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
	"github.com/rowlock/rowlock/internal/store"
)

func main() { bench.Main("soak", run) }

// options are the flags.
type options struct {
	rate              int
	lasts, every      time.Duration
	endpoints, bodies int
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.IntVar(&o.rate, "rate", 700, "how many events come in a second")
	flags.DurationVar(&o.lasts, "for", 20*time.Minute, "how long they come")
	flags.DurationVar(&o.every, "every", time.Minute, "how often a line is printed")
	flags.IntVar(&o.endpoints, "endpoints", 4, "how many endpoints share the events: each event goes to one")
	flags.IntVar(&o.bodies, "size", 1024, "size of an event's data in bytes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.rate < 1 || o.endpoints < 1 || o.every <= 0 {
		return errors.New("-rate, -endpoints and -every need more than nothing")
	}
	return soak(ctx, o, out)
}

// soak starts what is measured, and measures.
func soak(ctx context.Context, o options, out io.Writer) (err error) {
	database, err := throwaway.StartDurable(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Stop(context.WithoutCancel(ctx))) }()
	server, err := served.Start(ctx, database.URL(), "ROWLOCK_ALLOW_NETWORKS=127.0.0.0/8")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	key, err := server.Account(ctx, "soak")
	if err != nil {
		return err
	}
	pool, err := store.Connect(ctx, database.URL(), 1)
	if err != nil {
		return err
	}
	defer pool.Close()
	f, err := newFlow(o, server.URL, key)
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.makeEndpoints(ctx); err != nil {
		return err
	}
	table := newTable(out, pool, server.Metrics)
	stop := f.start(ctx)
	err = watch(ctx, o, f, table)
	stop()
	if err != nil {
		return err
	}
	if err := f.await(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d events accepted, %d delivered, %d of them again\n", f.accepted(), f.delivered(), f.again())
	return f.fault()
}

// watch prints a line each time, until all of it is over.
func watch(ctx context.Context, o options, f *flow, t *table) error {
	tick := time.NewTicker(o.every)
	defer tick.Stop()
	for ends := time.Now().Add(o.lasts); time.Now().Before(ends); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if err := f.fault(); err != nil {
			return err
		}
		if err := t.line(ctx, f.took.Take()); err != nil {
			return err
		}
	}
	return nil
}
