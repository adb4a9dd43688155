// Command pages measures how long the dashboard's pages take, on a database
// that holds a history of many events.
//
//	go run ./internal/bench/pages -events 1000000
//
// It starts a throw-away PostgreSQL server, or fills a fresh database at the
// address that -url gives, builds rowlock, serves on it, signs up, and asks for
// each page as a browser does. It prints a table and judges nothing.
package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/bench/served"
)

// usualRuns is how often each page is asked for.
const usualRuns = 40

func main() { bench.Main("pages", run) }

// run fills, serves, measures and prints.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := bench.Parse("pages", usualRuns, args)
	if err != nil {
		return err
	}
	return bench.OnDatabase(ctx, o, func(ctx context.Context, pool *pgxpool.Pool, o bench.Options) error {
		return measure(ctx, pool, o, out)
	})
}

func measure(ctx context.Context, pool *pgxpool.Pool, o bench.Options, out io.Writer) (err error) {
	accounts, err := o.Fill(ctx, pool, out)
	if err != nil {
		return err
	}
	server, err := served.Start(ctx, o.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	b, err := signUp(ctx, server.URL)
	if err != nil {
		return err
	}
	paths, err := pathsOf(ctx, pool, accounts[0], b.email)
	if err != nil {
		return err
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return !strings.Contains(path, o.Only) })
	return report(ctx, b, paths, o.Runs, out)
}
