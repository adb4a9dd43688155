package e2e

import (
	"context"
	"crypto/rand"
	"errors"
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

// newDatabase makes an empty database; the program lays its schema.
func newDatabase(t testing.TB, c *cluster) database {
	t.Helper()
	d := database{cluster: c, name: "e2e_" + strings.ToLower(rand.Text())}
	admin := database{cluster: c, name: "postgres"}
	admin.execute(t, "CREATE DATABASE "+pgx.Identifier{d.name}.Sanitize())
	return d
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
