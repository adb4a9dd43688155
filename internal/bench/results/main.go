// Command results measures Rowlock several times over on a throw-away database,
// and writes what it found, as pages and pictures, beside this directory.
//
//	go run ./internal/bench/results
//
// The database is one that writes through to its disk, with the settings that
// PostgreSQL comes with. Generator, receiver, server and database share the
// machine: what counts are the ratios to the floor of the same run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/bench/load"
	"github.com/rowlock/rowlock/internal/bench/served"
	"github.com/rowlock/rowlock/internal/pgtest/throwaway"
)

func main() { bench.Main("results", run) }

// options are the flags.
type options struct {
	runs, events int
	grow         bool
	to           string
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("results", flag.ContinueOnError)
	flags.IntVar(&o.runs, "runs", 3, "how often all is measured; what is told is the median")
	flags.IntVar(&o.events, "events", load.UsualEvents, "how many events a burst has")
	flags.BoolVar(&o.grow, "grow", true, "measure how the cost grows, too")
	flags.StringVar(&o.to, "to", "internal/bench", "the `directory` to write RESULTS.md and the pictures to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.runs < 1 {
		return fmt.Errorf("%d runs are none", o.runs)
	}
	reports, err := measureAll(ctx, o, out)
	if err != nil {
		return err
	}
	return write(o.to, reports)
}

// measureAll measures as often as is asked for, each time on a new database and
// with a new server; growth is measured in the first run alone.
func measureAll(ctx context.Context, o options, out io.Writer) ([]load.Report, error) {
	var reports []load.Report
	for n := range o.runs {
		fmt.Fprintf(out, "run %d of %d\n", n+1, o.runs)
		r, err := measure(ctx, load.Options{
			Events: o.events, BodySize: load.UsualBodySize, Connections: load.UsualConnections(), Steady: load.UsualSteady,
			Grow: o.grow && n == 0, Log: slog.New(slog.NewTextHandler(out, nil)),
		})
		if err != nil {
			return nil, err
		}
		if err := r.Print(out); err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

func measure(ctx context.Context, o load.Options) (r load.Report, err error) {
	database, err := throwaway.StartDurable(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, database.Stop(context.WithoutCancel(ctx))) }()
	if err := countStatements(ctx, database.URL()); err != nil {
		return r, err
	}
	server, err := served.Start(ctx, database.URL(), "ROWLOCK_ALLOW_NETWORKS=127.0.0.0/8")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	o.Server, o.Metrics, o.Database = server.URL, []string{server.Metrics}, database.URL()
	if o.Key, err = server.Account(ctx, "bench"); err != nil {
		return r, err
	}
	return load.Run(ctx, o)
}

// write writes the page and its pictures.
func write(to string, reports []load.Report) error {
	m, err := median(reports)
	if err != nil {
		return err
	}
	files := map[string]string{"RESULTS.md": page(m, reports)}
	for name, c := range charts(m) {
		files[name] = c.svg()
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(to, name), []byte(text), 0o644); err != nil { //nolint:gosec // everybody may read what was measured
			return fmt.Errorf("write the results: %w", err)
		}
	}
	return nil
}
