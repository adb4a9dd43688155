// Command ingest measures how soon signed pushes of GitHub's are answered, sent
// over 64 connections at once and each kept by a commit before its answer.
//
//	go run ./internal/bench/ingest
//
// It starts a throw-away PostgreSQL server (or uses the empty database at the
// address that -url gives), builds rowlock, and serves on it. Beside it stands
// what no server could do without: reading and verifying the pushes, and
// committing their bodies one by one. It prints a table and judges nothing.
//
// A throw-away server writes nothing through to a disk. For the figures of one
// that does, give the address of its database.
package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/bench/load/burst"
)

const (
	// connections is how many pushes are on their way at once.
	connections = 64
	// usualPushes is how many are sent: enough for hundreds beyond the 99th
	// percentile.
	usualPushes = 30_000
)

func main() { bench.Main("ingest", run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := bench.Parse("ingest", usualPushes, args)
	if err != nil {
		return err
	}
	if o.Runs < 1 {
		return fmt.Errorf("-runs %d: %w", o.Runs, burst.ErrUnexpected)
	}
	return bench.OnDatabase(ctx, o, func(ctx context.Context, pool *pgxpool.Pool, o bench.Options) error {
		return measure(ctx, pool, o, out)
	})
}

// measure takes each measurement in turn, the floors first.
func measure(ctx context.Context, pool *pgxpool.Pool, o bench.Options, out io.Writer) error {
	p, err := newPush()
	if err != nil {
		return err
	}
	if err := head(ctx, pool, p, o.Runs, out); err != nil {
		return err
	}
	r := newReport(out)
	for _, take := range []struct {
		name string
		of   func(context.Context, *pgxpool.Pool, bench.Options, push) (burst.Burst, error)
	}{
		{"read and verified alone", measureHTTP},
		{"committed alone", measureCommits},
		{"rowlock", measureServer},
	} {
		b, err := take.of(ctx, pool, o, p)
		if err != nil {
			return fmt.Errorf("%s: %w", take.name, err)
		}
		r.add(take.name, b)
	}
	return r.flush()
}

// head tells what the figures depend on.
func head(ctx context.Context, pool *pgxpool.Pool, p push, pushes int, out io.Writer) error {
	const ask = `SELECT current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit')`
	var version, fsync, commit string
	if err := pool.QueryRow(ctx, ask).Scan(&version, &fsync, &commit); err != nil {
		return fmt.Errorf("read the database's settings: %w", err)
	}
	fmt.Fprintf(out, "%d pushes of %d bytes over %d connections; %d CPUs, PostgreSQL %s, fsync %s, synchronous_commit %s\n",
		pushes, len(p.body), connections, runtime.NumCPU(), version, fsync, commit)
	return nil
}
