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
	"io"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/store"
)

// usualRuns is how often each list is asked for.
const usualRuns = 20

func main() { bench.Main("lists", run) }

// run fills, measures and prints.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := bench.Parse("lists", usualRuns, args)
	if err != nil {
		return err
	}
	return bench.OnDatabase(ctx, o, func(ctx context.Context, pool *pgxpool.Pool, o bench.Options) error {
		return measure(ctx, pool, o, out)
	})
}

func measure(ctx context.Context, pool *pgxpool.Pool, o bench.Options, out io.Writer) error {
	s, err := store.New(pool, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	// Days ahead are there in production, too: each is one more to plan for.
	if _, err := s.MakePartitions(ctx, o.History.Until.AddDate(0, 0, -daysBack), o.History.Until.AddDate(0, 0, daysAhead)); err != nil {
		return err
	}
	accounts, err := o.Fill(ctx, pool, out)
	if err != nil {
		return err
	}
	lists, err := plan(ctx, s, accounts[0], o.History)
	if err != nil {
		return err
	}
	return report(ctx, lists, o.Runs, out)
}

const (
	// daysBack and daysAhead are the partitions of a month's retention.
	daysBack  = 30
	daysAhead = 30
)
