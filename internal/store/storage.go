package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Storage is what the database takes up.
type Storage struct {
	// Bytes is the whole database, with its indexes and what is not ours in it.
	Bytes int64
	// Tables are those of this schema, the largest first; those that are in parts
	// are counted as one.
	Tables []TableSize
	// Days are those that have tables of their own, oldest first.
	Days []DaySize
}

// TableSize is what one table takes up.
type TableSize struct {
	Name string
	// Parts is how many tables it is in: days, or pieces by a hash.
	Parts int
	// Bytes are of the rows, IndexBytes of its indexes.
	Bytes, IndexBytes int64
	// Rows and Dead are how many rows there are, and how many of old versions
	// that a vacuum has not removed yet: both as PostgreSQL thinks. nil for a
	// table that it has not looked at yet.
	Rows *int64
	Dead int64
	// VacuumedAt is when a vacuum was last there; nil for never.
	VacuumedAt *time.Time
}

// DaySize is what the rows of one day take up, with their indexes.
type DaySize struct {
	Day   time.Time
	Bytes int64
	// Empty tells that no row was ever there.
	Empty bool
	// Events, Deliveries and Attempts are how many there are, as PostgreSQL
	// thinks; nil where it has not looked yet.
	Events, Deliveries, Attempts *int64
}

// Storage measures the database, by its catalogue and its files alone: it reads
// no row of an account.
func (s *Store) Storage(ctx context.Context) (all Storage, err error) {
	if err := s.pool.QueryRow(ctx, `SELECT pg_database_size(current_database())`).Scan(&all.Bytes); err != nil {
		return all, wrap("measure the database", err)
	}
	if all.Tables, err = s.tableSizes(ctx); err != nil {
		return all, err
	}
	all.Days, err = s.daySizes(ctx)
	return all, err
}

// ofDay says of a table c whether it is a day of a big one.
const ofDay = `(c.relname ~ '_[0-9]{8}$' AND left(c.relname, -9) = ANY ($1))`

// tableSizes measures all tables. A table that is dropped meanwhile has no size.
func (s *Store) tableSizes(ctx context.Context) ([]TableSize, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT name,
		       count(*),
		       coalesce(sum(bytes), 0)::bigint,
		       coalesce(sum(index_bytes), 0)::bigint,
		       (sum(reltuples) FILTER (WHERE reltuples >= 0))::bigint,
		       coalesce(sum(dead), 0)::bigint,
		       max(vacuumed_at)
		FROM (
			SELECT CASE
			           WHEN `+ofDay+` THEN left(c.relname, -9)
			           WHEN c.relispartition THEN regexp_replace(c.relname, '_[0-9]+$', '')
			           ELSE c.relname
			       END AS name,
			       pg_table_size(c.oid) AS bytes,
			       pg_indexes_size(c.oid) AS index_bytes,
			       c.reltuples,
			       s.n_dead_tup AS dead,
			       GREATEST(s.last_vacuum, s.last_autovacuum) AS vacuumed_at
			FROM pg_class c
			LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
			WHERE c.relkind = 'r'
			  AND c.relnamespace = current_schema()::regnamespace
		) t
		GROUP BY name
		ORDER BY sum(bytes) + sum(index_bytes) DESC NULLS LAST, name`, bigTables)
	if err != nil {
		return nil, wrap("measure tables", err)
	}
	sizes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[TableSize])
	return sizes, wrap("measure tables", err)
}

func (s *Store) daySizes(ctx context.Context) ([]DaySize, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT to_date(right(c.relname, 8), 'YYYYMMDD') AS day,
		       coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint,
		       coalesce(sum(pg_relation_size(c.oid)), 0) = 0,
		       (sum(c.reltuples) FILTER (WHERE c.relname LIKE 'events\_%' AND c.reltuples >= 0))::bigint,
		       (sum(c.reltuples) FILTER (WHERE c.relname LIKE 'deliveries\_%' AND c.reltuples >= 0))::bigint,
		       (sum(c.reltuples) FILTER (WHERE c.relname LIKE 'attempts\_%' AND c.reltuples >= 0))::bigint
		FROM pg_class c
		WHERE c.relkind = 'r'
		  AND c.relnamespace = current_schema()::regnamespace
		  AND `+ofDay+`
		GROUP BY day`, bigTables)
	if err != nil {
		return nil, wrap("measure days", err)
	}
	days, err := pgx.CollectRows(rows, pgx.RowToStructByPos[DaySize])
	slices.SortFunc(days, func(a, b DaySize) int { return cmp.Compare(a.Day.Unix(), b.Day.Unix()) })
	return days, wrap("measure days", err)
}
