// Command lists measures how long the database takes for each list that people
// and the API ask for, on a database that holds a history of many events.
//
//	go run ./internal/bench/lists -events 1000000
//
// It starts a throw-away PostgreSQL server, or fills a fresh database at the
// address that -url gives. It prints a table and judges nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/migrate"
	"github.com/rowlock/rowlock/internal/pgtest/throwaway"
	"github.com/rowlock/rowlock/internal/store"
)

// poolSize is small: one list is asked for at a time.
const poolSize = 2

// options are the command's flags.
type options struct {
	url     string
	runs    int
	history fill.Options
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "lists:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("lists", flag.ContinueOnError)
	flags.StringVar(&o.url, "url", "", "address of an empty database to fill (default: a throw-away server)")
	flags.IntVar(&o.runs, "runs", 20, "how often each list is asked for")
	flags.IntVar(&o.history.Events, "events", 1_000_000, "how many events")
	flags.IntVar(&o.history.Days, "days", 7, "how many days they came in on")
	flags.IntVar(&o.history.Accounts, "accounts", 20, "how many accounts")
	flags.IntVar(&o.history.Sources, "sources", 4, "how many sources an account has")
	flags.IntVar(&o.history.Endpoints, "endpoints", 8, "how many endpoints an account has")
	flags.IntVar(&o.history.BodySize, "body", 512, "size of a body in bytes")
	o.history.Until = time.Now().UTC()
	return o, flags.Parse(args)
}

// run fills, measures and prints.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.url == "" {
		server, err := throwaway.Start(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
		o.url = server.URL()
	}
	if err := migrate.Up(ctx, o.url); err != nil {
		return err
	}
	pool, err := store.Connect(ctx, o.url, poolSize)
	if err != nil {
		return err
	}
	defer pool.Close()
	return measure(ctx, pool, o, out)
}

func measure(ctx context.Context, pool *pgxpool.Pool, o options, out io.Writer) error {
	s, err := store.New(pool, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	began := time.Now()
	// Days ahead are there in production, too: each is one more to plan for.
	if _, err := s.MakePartitions(ctx, o.history.Until.AddDate(0, 0, -daysBack), o.history.Until.AddDate(0, 0, daysAhead)); err != nil {
		return err
	}
	accounts, err := fill.Fill(ctx, pool, o.history)
	if err != nil {
		return err
	}
	if err := fill.Settle(ctx, pool); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d events of %d accounts in %d days, filled in %s\n\n",
		o.history.Events, len(accounts), o.history.Days, time.Since(began).Round(time.Second))
	lists, err := plan(ctx, s, accounts[0], o.history)
	if err != nil {
		return err
	}
	return report(ctx, lists, o.runs, out)
}

const (
	// daysBack and daysAhead are the partitions of a month's retention.
	daysBack  = 30
	daysAhead = 30
)
