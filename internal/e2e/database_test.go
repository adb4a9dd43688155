package e2e

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// deadlockDetected is PostgreSQL's code for the victim of a deadlock.
const deadlockDetected = "40P01"

// database is one test's own.
type database struct {
	cluster *cluster
	name    string
}

// newDatabase makes a database until the test ends, with the schema that the
// program laid in the cluster's template, or an empty one.
func newDatabase(t testing.TB, c *cluster) database {
	t.Helper()
	d := database{cluster: c, name: "e2e_" + strings.ToLower(rand.Text())}
	create := "CREATE DATABASE " + pgx.Identifier{d.name}.Sanitize()
	if c.template != "" {
		create += " TEMPLATE " + c.template
	}
	database{cluster: c, name: superuser}.execute(t, create)
	t.Cleanup(func() { c.drop(d.name) })
	return d
}

// layTemplate has the program lay its schema in a database that those of tests are
// copied from: it is the same for all of them, and takes seconds.
func (c *cluster) layTemplate(ctx context.Context) error {
	const name = "e2e_template"
	conn, err := pgx.Connect(ctx, c.url(superuser, c.port))
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // the statement was answered
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return fmt.Errorf("make the template: %w", err)
	}
	migrate := exec.CommandContext(ctx, binary, "migrate", "up")
	migrate.Env = append(os.Environ(), "ROWLOCK_DATABASE_URL="+c.url(name, c.port), "ROWLOCK_MASTER_KEY="+masterKey())
	if out, err := migrate.CombinedOutput(); err != nil {
		return fmt.Errorf("lay the schema: %w: %s", err, out)
	}
	c.template = name
	return nil
}

// drop removes a database nobody needs any more, as long as the server runs: it
// would be vacuumed beside all other tests.
func (c *cluster) drop(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url(superuser, c.port))
	if err != nil {
		return
	}
	defer conn.Close(ctx)                                                                   //nolint:errcheck // the statement was answered
	_, _ = conn.Exec(ctx, "DROP DATABASE "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)") // at worst it stays
}

func (d database) url() string { return d.cluster.url(d.name, d.cluster.port) }

// execute runs one statement and tells how many rows it touched.
func (d database) execute(t testing.TB, sql string) int64 {
	t.Helper()
	conn := connect(t, d.url())
	defer conn.Close(context.Background()) //nolint:errcheck // the statement was answered
	for {
		tag, err := conn.Exec(t.Context(), sql)
		if err == nil {
			return tag.RowsAffected()
		}
		// A statement that locks rows in its own order may be the victim of a
		// deadlock with the product's. It was rolled back: once more.
		if refused, ok := errors.AsType[*pgconn.PgError](err); !ok || refused.Code != deadlockDetected {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// query reads the rows of a statement by position.
func query[T any](t testing.TB, url, sql string, args ...any) []T {
	t.Helper()
	conn := connect(t, url)
	defer conn.Close(context.Background()) //nolint:errcheck // the rows were read
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return all
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connect to the database: %v", err)
	}
	return conn
}
