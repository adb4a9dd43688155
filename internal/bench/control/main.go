// Command control measures how closely deliveries keep to what an endpoint asks
// for: its limit a second, one send at a time, and being left alone while it
// does not answer.
//
//	go run ./internal/bench/control
//
// It starts a throw-away PostgreSQL server (or uses the empty database at the
// address that -url gives), builds rowlock, serves on it, and receives its
// deliveries. It prints a table and judges nothing.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/bench/served"
)

// usualBacklog is how many deliveries wait when an endpoint is resumed.
const usualBacklog = 200

func main() { bench.Main("control", run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := bench.Parse("control", usualBacklog, args)
	if err != nil {
		return err
	}
	return bench.OnDatabase(ctx, o, func(ctx context.Context, _ *pgxpool.Pool, o bench.Options) (err error) {
		server, err := served.Start(ctx, o.URL, "ROWLOCK_ALLOW_NETWORKS=127.0.0.0/8")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Stop()) }()
		key, err := server.Account(ctx, "control")
		if err != nil {
			return err
		}
		return measure(ctx, &caller{base: server.URL + "/api/v1", key: key}, o.Runs, out)
	})
}

// measure takes each measurement in turn. Each has an event type and an
// endpoint of its own.
func measure(ctx context.Context, api *caller, backlog int, out io.Writer) error {
	for _, take := range []func(context.Context, *caller, int, io.Writer) error{measureRate, measureOverlap, measureSilence} {
		if err := take(ctx, api, backlog, out); err != nil {
			return err
		}
	}
	return nil
}

// measureRate lets a backlog go to an endpoint that takes ten a second.
func measureRate(ctx context.Context, api *caller, backlog int, out io.Writer) error {
	const perSecond = 10
	f := listen()
	defer f.Close()
	err := api.drainBacklog(ctx, f, "rate", backlog, map[string]any{"rate_limit": map[string]int{"per_second": perSecond}})
	if err != nil {
		return err
	}
	least, most := f.perSecond()
	_, err = fmt.Fprintf(out, "limit of %d a second, backlog of %d: %.2f a second on average; %d to %d in each whole second\n",
		perSecond, backlog, f.average(), least, most)
	return err
}

// measureOverlap lets a backlog go to an endpoint that takes one at a time.
func measureOverlap(ctx context.Context, api *caller, backlog int, out io.Writer) error {
	f := listen()
	defer f.Close()
	if err := api.drainBacklog(ctx, f, "overlap", backlog, map[string]any{"max_in_flight": 1}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "max_in_flight 1, backlog of %d: %d at once at the most, %.0f a second\n", backlog, f.mostAtOnce(), f.average())
	return err
}
