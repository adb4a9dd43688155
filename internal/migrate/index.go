package migrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A big table gets a new index while it is written to. The migration makes it ON
// ONLY the table that is partitioned, which takes a moment and leaves it invalid;
// partitions that are made from then on have it. Build makes it on each partition
// that was there before, concurrently, and attaches it. The last one makes the
// index of the whole valid. All of this stands in the catalog: who builds may die
// at any time, and another one goes on.

const (
	// buildKey is the advisory lock of who builds indexes. Its value is arbitrary
	// and must never change.
	buildKey = 0x726f77696e646578 // "rowindex"
	// closeTimeout bounds the end of the session.
	closeTimeout = 5 * time.Second
)

// attaching is how an index waits to be attached: for readers of its partition who
// were there before, and never for long in front of others.
var attaching = patience{pause: time.Second, limit: time.Minute}

// Index is one of a partitioned table that some partitions have not got yet.
type Index struct {
	Name, Table string
	// Built of Partitions have it.
	Built, Partitions int
}

// Unbuilt lists the indexes that are still to be built.
func Unbuilt(ctx context.Context, databaseURL string) ([]Index, error) {
	conn, err := open(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	defer leave(ctx, conn)
	rows, err := conn.Query(ctx, lacking+`
		SELECT index, "table", count(*) FILTER (WHERE attached), count(*)
		FROM wanted
		GROUP BY index, "table"
		HAVING NOT bool_and(attached)
		ORDER BY index`)
	if err != nil {
		return nil, fmt.Errorf("list indexes to be built: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Index])
	if err != nil {
		return nil, fmt.Errorf("list indexes to be built: %w", err)
	}
	return found, nil
}

// lacking has a row for each partition below an index that is not valid. A
// partition that is being taken away gets none.
const lacking = `
	WITH wanted AS (
		SELECT x.relname AS index, t.relname AS "table", n.nspname AS schema, c.relname AS partition, i.indisunique AS is_unique,
		       pg_get_indexdef(x.oid) AS definition, c.oid AS partition_id,
		       EXISTS (
			SELECT 1
			FROM pg_inherits a
			JOIN pg_index o ON o.indexrelid = a.inhrelid
			WHERE a.inhparent = x.oid
			  AND o.indrelid = c.oid
			  AND o.indisvalid) AS attached
		FROM pg_index i
		JOIN pg_class x ON x.oid = i.indexrelid AND x.relkind = 'I'
		JOIN pg_class t ON t.oid = i.indrelid
		JOIN pg_inherits p ON p.inhparent = t.oid AND NOT p.inhdetachpending
		JOIN pg_class c ON c.oid = p.inhrelid
		JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE NOT i.indisvalid
		  AND pg_table_is_visible(t.oid))`

// Build builds the indexes that migrations have left to be built, and returns when
// none is left. done is false when another process is at it. It can take hours; what
// was built stays when it is interrupted.
func Build(ctx context.Context, databaseURL string, log *slog.Logger) (done bool, err error) {
	conn, err := open(ctx, databaseURL)
	if err != nil {
		return false, err
	}
	// The session that builds has the lock. When a process dies, its server goes on
	// with the statement, and nobody else begins before that is over.
	defer leave(ctx, conn)
	var mine bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, int64(buildKey)).Scan(&mine); err != nil || !mine {
		return false, wrapBuild("take the lock of who builds indexes", err)
	}
	parts, err := missing(ctx, conn)
	if err != nil {
		return false, err
	}
	var failed []error
	for _, p := range parts {
		began := time.Now()
		switch err := p.build(ctx, conn); {
		case ctx.Err() != nil:
			return false, fmt.Errorf("build the index %s: %w", p.name(), ctx.Err())
		case gone(err):
		case err != nil: // it keeps no other from its index
			failed = append(failed, err)
		default:
			log.InfoContext(ctx, "index built", "index", p.Index, "partition", p.Partition, "duration", time.Since(began))
		}
	}
	return len(failed) == 0, errors.Join(failed...)
}

// part is what one partition lacks.
type part struct {
	Index, Table, Schema, Partition, Definition string

	Unique bool
	// Left tells whether there is an index of an earlier try, and Valid whether that
	// came to its end.
	Left, Valid bool
}

// missing lists what is to be built, the newest day first: it is the one that most
// look at.
func missing(ctx context.Context, conn *pgx.Conn) ([]part, error) {
	rows, err := conn.Query(ctx, lacking+`
		SELECT w.index, w."table", w.schema, w.partition, w.definition, w.is_unique, l.oid IS NOT NULL, coalesce(o.indisvalid, false)
		FROM wanted w
		LEFT JOIN (pg_index o JOIN pg_class l ON l.oid = o.indexrelid)
		       ON o.indrelid = w.partition_id
		      AND l.relname = w.index || substr(w.partition, length(w."table") + 1)
		WHERE NOT w.attached
		ORDER BY w.index, w.partition DESC`)
	if err != nil {
		return nil, fmt.Errorf("list what lacks an index: %w", err)
	}
	parts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[part])
	return parts, wrapBuild("list what lacks an index", err)
}

// name is that of the index of the partition: of the whole one's, and what the
// partition's name has more than its table's, such as _20261130. PostgreSQL itself
// gives no such name.
func (p part) name() string { return p.Index + strings.TrimPrefix(p.Partition, p.Table) }

// build makes the index of one partition and attaches it.
func (p part) build(ctx context.Context, conn *pgx.Conn) error {
	if p.Left && !p.Valid {
		if _, err := conn.Exec(ctx, `DROP INDEX CONCURRENTLY `+p.quoted(p.name())); err != nil {
			return fmt.Errorf("drop the index %s, whose build was interrupted: %w", p.name(), err)
		}
	}
	if !p.Left || !p.Valid {
		if _, err := conn.Exec(ctx, p.statement()); err != nil {
			return fmt.Errorf("build the index %s: %w", p.name(), err)
		}
	}
	return attaching.run(ctx, func() error { return p.attach(ctx, conn) })
}

// statement is the one that made the index of the whole, for the partition.
func (p part) statement() string {
	_, how, _ := strings.Cut(p.Definition, " USING ")
	unique := ""
	if p.Unique {
		unique = "UNIQUE "
	}
	return "CREATE " + unique + "INDEX CONCURRENTLY " + pgx.Identifier{p.name()}.Sanitize() + " ON " + p.quoted(p.Partition) + " USING " + how
}

// attach takes the partition's index for a moment, which nobody may read meanwhile.
func (p part) attach(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, fmt.Sprintf(`
		BEGIN;
		SET LOCAL lock_timeout = '%s';
		ALTER INDEX %s ATTACH PARTITION %s;
		COMMIT`, LockWait, p.quoted(p.Index), p.quoted(p.name())))
	if err == nil {
		return nil
	}
	_, undone := conn.Exec(ctx, `ROLLBACK`)
	return errors.Join(fmt.Errorf("attach the index %s: %w", p.name(), err), undone)
}

func (p part) quoted(name string) string { return pgx.Identifier{p.Schema, name}.Sanitize() }

// gone tells that the partition went meanwhile, with its day.
func gone(err error) bool {
	const undefinedTable = "42P01"
	told, ok := errors.AsType[*pgconn.PgError](err)
	return ok && told.Code == undefinedTable
}

// open connects to build. What is built concurrently stands in nobody's way, and may
// wait for the transactions of others as long as these take.
func open(ctx context.Context, databaseURL string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("parse the database's address: %w", err)
	}
	config.RuntimeParams["application_name"] = "rowlock indexes"
	config.RuntimeParams["lock_timeout"] = "0"
	config.RuntimeParams["statement_timeout"] = "0"
	conn, err := pgx.ConnectConfig(ctx, config)
	return conn, wrapBuild("connect to the database", err)
}

// leave gives up the lock before the session ends: the server notices that a moment
// later.
func leave(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_, _ = conn.Exec(ctx, `SELECT pg_advisory_unlock_all()`)
	_ = conn.Close(ctx) // all was answered
}

func wrapBuild(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
