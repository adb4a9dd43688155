package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/bench/load"
)

// table prints one line after the other.
type table struct {
	out     io.Writer
	pool    *pgxpool.Pool
	metrics string
	began   time.Time
	all     int
}

func newTable(out io.Writer, pool *pgxpool.Pool, metrics string) *table {
	fmt.Fprintln(out, "minute  delivered  p50 ms  p99 ms  max ms  server MiB  database MiB  bytes an event  dead rows  dead of 100")
	return &table{out: out, pool: pool, metrics: metrics, began: time.Now()}
}

// line prints how long events took, shortest first, and what is used now.
func (t *table) line(ctx context.Context, took []time.Duration) error {
	_, memory, err := load.Scrape(ctx, http.DefaultClient, t.metrics)
	if err != nil {
		return err
	}
	size, live, dead, err := t.rows(ctx)
	if err != nil {
		return err
	}
	t.all += len(took)
	var p50, p99, worst float64
	if n := len(took); n > 0 {
		p50, p99, worst = bench.Millis(took[n/2]), bench.Millis(took[n*99/100]), bench.Millis(took[n-1])
	}
	fmt.Fprintf(t.out, "%6.1f %10d %7.1f %7.1f %7.1f %11.1f %13.1f %15d %10d %12.1f\n", time.Since(t.began).Minutes(), len(took), p50, p99, worst,
		memory/(1<<20), float64(size)/(1<<20), size/int64(max(t.all, 1)), dead, 100*float64(dead)/float64(max(live+dead, 1)))
	return nil
}

// rows is the size of the database in bytes, and how many rows of it live and are
// dead.
func (t *table) rows(ctx context.Context) (size, live, dead int64, err error) {
	err = t.pool.QueryRow(ctx, `
		SELECT pg_database_size(current_database()), coalesce(sum(n_live_tup), 0)::bigint, coalesce(sum(n_dead_tup), 0)::bigint
		FROM pg_stat_user_tables`).Scan(&size, &live, &dead)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("look at the database: %w", err)
	}
	return size, live, dead, nil
}
