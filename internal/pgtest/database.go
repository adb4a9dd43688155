package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// pristine is the database without any object of its own that every server
// has; unlike template1 nobody can be connected to it.
const pristine = "template0"

// database is one test's own.
type database struct {
	admin, name, url string
}

// clone makes a database of a random name from a template.
func clone(ctx context.Context, admin, template string) (database, error) {
	d := database{admin: admin, name: "rowlock_test_" + strings.ToLower(rand.Text())}
	var err error
	if d.url, err = addressOf(admin, d.name); err != nil {
		return database{}, err
	}
	if err := execute(ctx, admin, createFrom(d.name, template)); err != nil {
		return database{}, fmt.Errorf("clone a database: %w", err)
	}
	return d, nil
}

// drop removes the database and ends the sessions that are still on it.
func (d database) drop(ctx context.Context) error {
	if err := execute(ctx, d.admin, `DROP DATABASE `+quote(d.name)+` WITH (FORCE)`); err != nil {
		return fmt.Errorf("drop a database: %w", err)
	}
	return nil
}

func createFrom(name, template string) string {
	return `CREATE DATABASE ` + quote(name) + ` TEMPLATE ` + quote(template) + ` STRATEGY ` + strategy
}

// execute runs one statement on a connection of its own: nothing stays open
// between tests.
func execute(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // the statement has been answered
	_, err = conn.Exec(ctx, sql)
	return err
}

// addressOf returns a server's address with another database.
func addressOf(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" && u.Query().Get("host") == "" {
		// The parse error repeats the address, which holds a password.
		return "", fmt.Errorf("%s is not an address like postgres://user:password@host:5432/postgres", Variable)
	}
	u.Path = "/" + name
	return u.String(), nil
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
