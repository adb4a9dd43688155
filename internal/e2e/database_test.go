package e2e

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

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
	tag, err := conn.Exec(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return tag.RowsAffected()
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
