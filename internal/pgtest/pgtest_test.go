package pgtest_test

import (
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/migrate"
	"github.com/rowlock/rowlock/internal/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Suite{M: m}) }

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

// count runs a query that answers with one number.
func count(t *testing.T, url, sql string, args ...any) int {
	t.Helper()
	var n int
	if err := connect(t, url).QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("count: %v", err)
	}
	return n
}

func name(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatalf("parse address: %v", err)
	}
	return strings.TrimPrefix(u.Path, "/")
}

func TestURLIsMigrated(t *testing.T) {
	t.Parallel()
	if err := migrate.Check(t.Context(), pgtest.URL(t)); err != nil {
		t.Fatalf("Check() = %v", err)
	}
}

func TestEmptyHasNoTables(t *testing.T) {
	t.Parallel()
	const tables = `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`
	if n := count(t, pgtest.Empty(t), tables); n != 0 {
		t.Fatalf("an empty database has %d tables", n)
	}
}

func TestDatabasesAreSeparate(t *testing.T) {
	t.Parallel()
	one, other := pgtest.Pool(t), pgtest.Pool(t)
	if _, err := one.Exec(t.Context(), `CREATE TABLE mine (id int)`); err != nil {
		t.Fatalf("create table: %v", err)
	}
	var exists bool
	if err := other.QueryRow(t.Context(), `SELECT to_regclass('mine') IS NOT NULL`).Scan(&exists); err != nil {
		t.Fatalf("look for the table: %v", err)
	}
	if exists {
		t.Fatal("a table of one database shows in another")
	}
}

func TestDatabaseIsDroppedAtTheEnd(t *testing.T) {
	t.Parallel()
	for kind, open := range map[string]func(t *testing.T) string{
		"URL":   func(t *testing.T) string { return pgtest.URL(t) },
		"Empty": func(t *testing.T) string { return pgtest.Empty(t) },
		"Pool":  func(t *testing.T) string { return pgtest.Pool(t).Config().ConnString() },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var database string
			t.Run("with a session left open", func(t *testing.T) {
				address := open(t)
				database = name(t, address)
				connect(t, address)
			})
			const found = `SELECT count(*) FROM pg_database WHERE datname = $1`
			if n := count(t, pgtest.Server(t), found, database); n != 0 {
				t.Fatalf("database %s is still there", database)
			}
		})
	}
}

// processVariable tells a run of this test binary that it is one of many.
const processVariable = "PGTEST_ONE_OF_MANY"

func TestOneOfManyProcesses(t *testing.T) {
	t.Parallel()
	if os.Getenv(processVariable) == "" {
		return // TestManyProcesses runs it
	}
	for range 5 {
		t.Run("test", func(t *testing.T) {
			t.Parallel()
			if err := migrate.Check(t.Context(), pgtest.URL(t)); err != nil {
				t.Fatalf("Check() = %v", err)
			}
		})
	}
}

// The processes meet on a server that has no template yet.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	admin := freshServer(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOneOfManyProcesses$", "-test.v")
			cmd.Env = append(os.Environ(), processVariable+"=1", pgtest.Variable+"="+admin)
			if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "--- PASS") != 6 {
				t.Errorf("one of many: %v\n%s", err, out)
			}
		})
	}
	group.Wait()
	const ours = `SELECT count(*) FROM pg_database WHERE datname LIKE 'rowlock\_%'`
	if n := count(t, admin, ours); n != 1 {
		t.Errorf("%d databases are left, want the template alone", n)
	}
}
