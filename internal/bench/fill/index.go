package fill

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// index is one of a partitioned table's, with what makes it anew.
type index struct {
	name, definition string
}

// withoutIndexes fills the partitioned tables while they have no indexes but
// their primary keys, and references that nobody checks: what is copied is made of
// one piece. The indexes are built behind it.
func withoutIndexes(ctx context.Context, conn *pgx.Conn, fill func() error) error {
	indexes, err := secondary(ctx, conn)
	if err != nil {
		return err
	}
	for _, i := range indexes {
		if _, err := conn.Exec(ctx, `DROP INDEX `+pgx.Identifier{i.name}.Sanitize()); err != nil {
			return fmt.Errorf("drop index %s: %w", i.name, err)
		}
	}
	// It takes a superuser. Who is none has the references checked.
	_, unchecked := conn.Exec(ctx, `SET session_replication_role = replica`)
	err = fill()
	if unchecked == nil {
		_, _ = conn.Exec(ctx, `RESET session_replication_role`)
	}
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `SET maintenance_work_mem = '512MB'`); err != nil {
		return fmt.Errorf("take memory for the indexes: %w", err)
	}
	for _, i := range indexes {
		if _, err := conn.Exec(ctx, i.definition); err != nil {
			return fmt.Errorf("build index %s: %w", i.name, err)
		}
	}
	return nil
}

// secondary lists the indexes of partitioned tables that keep nothing unique.
func secondary(ctx context.Context, conn *pgx.Conn) ([]index, error) {
	rows, err := conn.Query(ctx, `
		SELECT c.relname, pg_get_indexdef(i.indexrelid)
		FROM pg_index i
		JOIN pg_class t
		  ON t.oid = i.indrelid
		JOIN pg_class c
		  ON c.oid = i.indexrelid
		WHERE t.relkind = 'p'
		  AND t.relnamespace = current_schema()::regnamespace
		  AND NOT i.indisunique
		ORDER BY c.relname`)
	if err != nil {
		return nil, fmt.Errorf("list indexes: %w", err)
	}
	indexes, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (i index, err error) {
		err = row.Scan(&i.name, &i.definition)
		i.definition = strings.Replace(i.definition, " ON ONLY ", " ON ", 1) // with those of all partitions
		return i, err
	})
	if err != nil {
		return nil, fmt.Errorf("list indexes: %w", err)
	}
	return indexes, nil
}
