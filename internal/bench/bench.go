// Package bench is what measurements begin with: their flags, and a database
// that holds a history of many events.
package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/migrate"
	"github.com/rowlock/rowlock/internal/pgtest/throwaway"
	"github.com/rowlock/rowlock/internal/store"
)

// poolSize is small: one thing is measured at a time.
const poolSize = 2

// Main runs a measurement as a command, until it is done or interrupted.
func Main(name string, run func(ctx context.Context, args []string, out io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Options are a measurement's flags.
type Options struct {
	// URL is the address of an empty database; empty is a throw-away server's.
	URL string
	// Runs is how often each thing is measured.
	Runs int
	// History is what the database is filled with.
	History fill.Options
	// Only is a part of what is measured; empty is all of it.
	Only string
	// Filled says that an earlier run with the same history has filled it.
	Filled bool
}

// Parse reads flags; runs is how often things are measured without one.
func Parse(name string, runs int, args []string) (o Options, err error) {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.StringVar(&o.URL, "url", "", "address of an empty database to fill (default: a throw-away server)")
	flags.IntVar(&o.Runs, "runs", runs, "how often each is asked for")
	flags.IntVar(&o.History.Events, "events", 1_000_000, "how many events")
	flags.IntVar(&o.History.Days, "days", 7, "how many days they came in on")
	flags.IntVar(&o.History.Accounts, "accounts", 20, "how many accounts")
	flags.IntVar(&o.History.Sources, "sources", 4, "how many sources an account has")
	flags.IntVar(&o.History.Endpoints, "endpoints", 8, "how many endpoints an account has")
	flags.IntVar(&o.History.BodySize, "body", 512, "size of a body in bytes")
	flags.BoolVar(&o.History.Busy, "busy", false, "have two attempts beside each event, instead of little more than one")
	flags.StringVar(&o.Only, "only", "", "measure only what has this in its name")
	filled := flags.String("filled", "", "the database holds what an earlier run with the same flags filled up to this `time`, which it printed")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.History.Until = time.Now().UTC().Truncate(time.Millisecond)
	if *filled == "" {
		return o, nil
	}
	if o.URL == "" {
		return o, errors.New("-filled needs -url: a throw-away server is always empty")
	}
	o.Filled = true
	o.History.Until, err = time.Parse(time.RFC3339Nano, *filled)
	return o, err
}

// OnDatabase measures on a database of this version's tables, whose address the
// options then have.
func OnDatabase(ctx context.Context, o Options, measure func(context.Context, *pgxpool.Pool, Options) error) (err error) {
	if o.URL == "" {
		server, err := throwaway.Start(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
		o.URL = server.URL()
	}
	if err := migrate.Up(ctx, o.URL); err != nil {
		return err
	}
	pool, err := store.Connect(ctx, o.URL, poolSize)
	if err != nil {
		return err
	}
	defer pool.Close()
	return measure(ctx, pool, o)
}

// Fill fills the database, unless that is done, and lets it come to rest. It
// prints up to when the history goes.
func (o Options) Fill(ctx context.Context, pool *pgxpool.Pool, out io.Writer) ([]fill.Account, error) {
	if o.Filled {
		return fill.Accounts(o.History), nil
	}
	began := time.Now()
	accounts, err := fill.Fill(ctx, pool, o.History)
	if err != nil {
		return nil, err
	}
	if err := fill.Settle(ctx, pool); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%d events of %d accounts in %d days up to %s, filled in %s\n\n", o.History.Events, len(accounts), o.History.Days,
		o.History.Until.Format(time.RFC3339Nano), time.Since(began).Round(time.Second))
	return accounts, nil
}

// Millis is a length of time in milliseconds, as tables have it.
func Millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
