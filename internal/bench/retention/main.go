// Command retention measures how long it takes to drop a day of a database that
// holds a history of many events, and what requests that are accepted meanwhile
// notice of it.
//
//	go run ./internal/bench/retention -events 1000000
//
// It starts a throw-away PostgreSQL server, or fills a fresh database at the
// address that -url gives, builds rowlock and serves on it. It drops the history's
// first whole days (-runs of them), prints a table and judges nothing.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/bench/served"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// usualRuns is how many days are dropped.
	usualRuns = 2
	// quietFor is how long events are accepted before and between the drops.
	quietFor = 5 * time.Second
)

func main() { bench.Main("retention", run) }

// run fills, serves, measures and prints.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := bench.Parse("retention", usualRuns, args)
	if err != nil {
		return err
	}
	return bench.OnDatabase(ctx, o, func(ctx context.Context, pool *pgxpool.Pool, o bench.Options) error {
		return measure(ctx, pool, o, out)
	})
}

func measure(ctx context.Context, pool *pgxpool.Pool, o bench.Options, out io.Writer) (err error) {
	if _, err := o.Fill(ctx, pool, out); err != nil {
		return err
	}
	server, err := served.Start(ctx, o.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	key, err := server.Account(ctx, fmt.Sprintf("publisher-%d", time.Now().UnixNano()))
	if err != nil {
		return err
	}
	p, err := startPublishers(ctx, server.URL, key)
	if err != nil {
		return err
	}
	err = drop(ctx, pool, o, p, out)
	return errors.Join(err, p.stop())
}

// drop drops the first whole days, one after the other, and prints what that took.
func drop(ctx context.Context, pool *pgxpool.Pool, o bench.Options, p *publishers, out io.Writer) error {
	s, err := store.New(pool, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	table := newTable(out)
	first := o.History.Until.AddDate(0, 0, 1-o.History.Days).Truncate(24 * time.Hour)
	for n := range o.Runs {
		if err := rest(ctx, quietFor); err != nil {
			return err
		}
		table.row("nothing is dropped", p.took.Take())
		if err := dropDay(ctx, s, first.AddDate(0, 0, n), p, table); err != nil {
			return err
		}
	}
	return table.flush()
}

// dropDay does with a day what the retention does, step by step.
func dropDay(ctx context.Context, s *store.Store, day time.Time, p *publishers, t table) error {
	name := day.Format(time.DateOnly)
	began := time.Now()
	open, err := expire(ctx, s, day)
	if err != nil {
		return err
	}
	t.step(fmt.Sprintf("%s: %d open deliveries closed", name, open), time.Since(began), p.took.Take())
	began = time.Now()
	if err := s.DropDay(ctx, day); err != nil {
		return err
	}
	t.step(name+": dropped", time.Since(began), p.took.Take())
	return nil
}

// expire closes what is open of a day, and tells how many deliveries that were.
func expire(ctx context.Context, s *store.Store, day time.Time) (open int, err error) {
	err = s.InTx(ctx, func(tx store.Tx) error {
		closed, _, err := tx.ExpireDay(ctx, day)
		for _, e := range closed {
			open += e.Deliveries
		}
		return err
	})
	return open, err
}

// rest waits.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
