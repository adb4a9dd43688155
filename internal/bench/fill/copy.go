package fill

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
)

// table is rows for one table.
type table struct {
	name    string
	columns []string
	rows    iter.Seq[[]any]
}

// copyAll writes tables one behind the other: a row comes after what it
// refers to.
func copyAll(ctx context.Context, conn *pgx.Conn, tables []table) error {
	for _, t := range tables {
		if err := copyTable(ctx, conn, t); err != nil {
			return fmt.Errorf("fill %s: %w", t.name, err)
		}
	}
	return nil
}

func copyTable(ctx context.Context, conn *pgx.Conn, t table) error {
	next, stop := iter.Pull(t.rows)
	defer stop()
	_, err := conn.CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, pgx.CopyFromFunc(func() ([]any, error) {
		row, ok := next()
		if !ok {
			return nil, nil
		}
		return row, nil
	}))
	return err
}
