package load

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// poolSize is small: what is asked of the database is little.
const poolSize = committers + 1

func connect(ctx context.Context, address string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("read the database's address: %w", err)
	}
	config.MaxConns = poolSize
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	return pool, nil
}

// tables is what the database counted up to a moment.
type tables struct {
	// statements are those that ended, by their number; none without the extension
	// pg_stat_statements.
	statements map[int64]Statement
	// wal are the bytes of its log of changes.
	wal int64
	// Rows that were changed, of these those without a new place in an index, and
	// rows that were deleted: each of them leaves a dead row.
	updated, hot, deleted int64
}

func lookAtTables(ctx context.Context, pool *pgxpool.Pool) (t tables, err error) {
	const ask = `
		SELECT pg_current_wal_lsn() - '0/0'::pg_lsn,
		       coalesce(sum(n_tup_upd), 0), coalesce(sum(n_tup_hot_upd), 0), coalesce(sum(n_tup_del), 0),
		       to_regclass('pg_stat_statements') IS NOT NULL
		FROM pg_stat_user_tables`
	var counted bool
	if err := pool.QueryRow(ctx, ask).Scan(&t.wal, &t.updated, &t.hot, &t.deleted, &counted); err != nil {
		return tables{}, fmt.Errorf("read what the database counts: %w", err)
	}
	if !counted {
		return t, nil
	}
	t.statements, err = lookAtStatements(ctx, pool)
	return t, err
}

func lookAtStatements(ctx context.Context, pool *pgxpool.Pool) (map[int64]Statement, error) {
	const ask = `
		SELECT queryid, query, calls, total_exec_time
		FROM pg_stat_statements
		WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`
	rows, err := pool.Query(ctx, ask)
	if err != nil {
		return nil, fmt.Errorf("count statements: %w", err)
	}
	all := map[int64]Statement{}
	var id int64
	var s Statement
	_, err = pgx.ForEachRow(rows, []any{&id, &s.Text, &s.Calls, &s.Millis}, func() error {
		s.Calls += all[id].Calls
		s.Millis += all[id].Millis
		all[id] = s
		return nil
	})
	return all, wrap("count statements", err)
}

// between are the statements of the time between two looks, those that took most
// first, and how many there were in all.
func between(before, after map[int64]Statement, events int) (top []Statement, calls float64) {
	for id, s := range after {
		s.Calls -= before[id].Calls
		s.Millis -= before[id].Millis
		if s.Calls > 0 {
			calls += s.Calls
			s.Text = strings.Join(strings.Fields(s.Text), " ")
			s.Calls, s.Millis = round(s.Calls/float64(events)), round(s.Millis*1000/float64(events))
			top = append(top, s)
		}
	}
	slices.SortFunc(top, func(a, b Statement) int { return cmp.Compare(b.Millis, a.Millis) })
	return top[:min(len(top), mostStatements)], calls
}

// mostStatements is how many are told of.
const mostStatements = 15

// postmaster is the process that all of the database's are children of; 0 when
// it is not on this machine.
func postmaster(ctx context.Context, pool *pgxpool.Pool) (pid int, err error) {
	err = pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		pid = parentOf(int(c.Conn().PgConn().PID()))
		return nil
	})
	return pid, wrap("connect to the database", err)
}

// settings are those of the database that figures depend on.
func settings(ctx context.Context, pool *pgxpool.Pool) (map[string]string, error) {
	const ask = `
		SELECT name, current_setting(name)
		FROM unnest(ARRAY['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size', 'wal_compression', 'autovacuum']) AS name`
	rows, err := pool.Query(ctx, ask)
	if err != nil {
		return nil, fmt.Errorf("read the database's settings: %w", err)
	}
	all := map[string]string{}
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		all[name] = value
		return nil
	})
	return all, wrap("read the database's settings", err)
}
