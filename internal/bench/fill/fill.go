// Package fill lays a history into a database: events, bodies, keys,
// deliveries and attempts of many days, as if they had come in and gone out,
// at the speed of COPY. Measurements and tests of plans run on it.
package fill

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// chunk is how many events one COPY writes: its foreign keys are checked
	// at its end, from a list in the server's memory.
	chunk = 50_000
	// day is the span of a partition.
	day = 24 * time.Hour
	// bulkFrom is how many events are worth building the indexes behind them: one
	// by one they cost several times the rows.
	bulkFrom = 200_000
)

// Options say how much history, and of what shape. Every count must be at
// least one.
type Options struct {
	// Events is how many came in, over all accounts. Half of them are the
	// first account's.
	Events int
	// Accounts is how many tenants there are, Sources and Endpoints how many
	// each of them has. An account's first source is the built-in one; of
	// several endpoints, the last is paused.
	Accounts, Sources, Endpoints int
	// Days is the time that the events are spread over, up to Until.
	Days  int
	Until time.Time
	// BodySize is the size of a body in bytes.
	BodySize int
	// Busy has most events go to two endpoints, and more of them tried again.
	Busy bool
	// Seed makes another history of the same shape.
	Seed uint64
}

// Account is a tenant that Fill has made.
type Account struct {
	ID        gateway.AccountID
	Sources   []gateway.SourceID
	Endpoints []gateway.EndpointID
}

// Fill makes the days that are missing, the accounts, and their history, and
// returns the accounts. The pool must be one that store.Connect opened.
func Fill(ctx context.Context, pool *pgxpool.Pool, o Options) ([]Account, error) {
	h := newHistory(o)
	pooled, err := pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to fill: %w", err)
	}
	defer pooled.Release()
	conn := pooled.Conn()
	if _, err := conn.Exec(ctx, `SELECT make_partitions($1::date, $2::date)`, h.since, o.Until); err != nil {
		return nil, fmt.Errorf("make partitions: %w", err)
	}
	if err := copyAll(ctx, conn, h.owners()); err != nil {
		return nil, err
	}
	fill := func() error { return h.fill(ctx, conn) }
	if o.Events >= bulkFrom {
		fill = func() error { return withoutIndexes(ctx, conn, func() error { return h.fill(ctx, conn) }) }
	}
	if err := fill(); err != nil {
		return nil, err
	}
	return h.accounts, copyAll(ctx, conn, h.numbers())
}

// Accounts are those that Fill made of the same options, in whichever process.
func Accounts(o Options) []Account { return newHistory(o).accounts }

// fill copies the events with all that became of them, part by part.
func (h *history) fill(ctx context.Context, conn *pgx.Conn) error {
	for first := 0; first < h.Events; first += chunk {
		if err := copyAll(ctx, conn, h.tables(first, min(first+chunk, h.Events))); err != nil {
			return err
		}
	}
	return nil
}

// Settle does what autovacuum would have done by then: days without a row are
// left as they are, which is how the planner finds them in production.
func Settle(ctx context.Context, pool *pgxpool.Pool) error {
	rows, err := pool.Query(ctx, `
		SELECT relname
		FROM pg_class
		WHERE relkind = 'r'
		  AND relnamespace = current_schema()::regnamespace
		  AND pg_relation_size(oid) > 0`)
	if err != nil {
		return fmt.Errorf("list what was filled: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list what was filled: %w", err)
	}
	for _, name := range tables {
		if _, err := pool.Exec(ctx, `VACUUM (ANALYZE) `+pgx.Identifier{name}.Sanitize()); err != nil {
			return fmt.Errorf("vacuum %s: %w", name, err)
		}
	}
	return nil
}
