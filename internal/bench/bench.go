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
	o.History.Until = time.Now().UTC()
	return o, flags.Parse(args)
}

// OnDatabase measures on a database of this version's tables, which is empty
// and whose address the options then have.
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

// Fill fills the database and lets it come to rest.
func (o Options) Fill(ctx context.Context, pool *pgxpool.Pool) ([]fill.Account, error) {
	accounts, err := fill.Fill(ctx, pool, o.History)
	if err != nil {
		return nil, err
	}
	return accounts, fill.Settle(ctx, pool)
}

// Millis is a length of time in milliseconds, as tables have it.
func Millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
