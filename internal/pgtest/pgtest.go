// Package pgtest gives each test a PostgreSQL database of its own.
//
// The server is the one that ROWLOCK_TEST_DATABASE_URL names, or a throw-away
// server that the first test of the process starts. A database is cloned from
// a template that was migrated once, which takes milliseconds, so tests need
// not share any and can run in parallel.
//
// Packages whose tests use it should stop the server they have started:
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
package pgtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// adminTimeout bounds one statement that makes or drops a database. It is
// long: with many tests at once they wait for one another.
const adminTimeout = time.Minute

// Server returns the superuser's address of the server's database "postgres".
// It fails the test, saying how to get PostgreSQL, when there is none.
func Server(t testing.TB) string {
	t.Helper()
	admin, err := shared.address()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return admin
}

// URL returns the address of a fresh database with every migration applied.
// It is dropped, with whoever is still connected, when the test ends.
func URL(t testing.TB) string {
	t.Helper()
	admin := Server(t)
	template, err := shared.templateName()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return create(t, admin, template)
}

// Empty returns the address of a fresh database without any table. It is
// dropped, with whoever is still connected, when the test ends.
func Empty(t testing.TB) string {
	t.Helper()
	return create(t, Server(t), pristine)
}

// Pool returns connections to a fresh, migrated database. They are closed
// before the database is dropped, when the test ends.
func Pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), URL(t))
	if err != nil {
		t.Fatalf("pgtest: open a pool: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func create(t testing.TB, admin, template string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), adminTimeout)
	defer cancel()
	d, err := clone(ctx, admin, template)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
		defer cancel()
		if err := d.drop(ctx); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return d.url
}
