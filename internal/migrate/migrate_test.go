package migrate_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/migrate"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/migrations"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Suite{M: m}) }

// unreachable is an address where nobody listens.
const unreachable = "postgres://user:hunter2@127.0.0.1:1/rowlock?sslmode=disable"

func TestUpBringsAnEmptyDatabaseToTheSchema(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	if err := migrate.Check(t.Context(), url); !errors.Is(err, migrate.ErrPending) || !strings.Contains(err.Error(), "0001_create_accounts.sql") {
		t.Errorf("before: %v, want ErrPending naming the first", err)
	}
	steps := status(t, url)
	if i := slices.IndexFunc(steps, applied); i >= 0 {
		t.Errorf("before: %s is applied", steps[i].Name)
	}
	for range 2 { // the second time there is nothing to do
		if err := migrate.Up(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	}
	after := status(t, url)
	if len(after) != len(steps) {
		t.Errorf("%d steps, %d before", len(after), len(steps))
	}
	if i := slices.IndexFunc(after, func(s migrate.Step) bool { return !s.Applied }); i >= 0 {
		t.Errorf("after: %s is not applied", after[i].Name)
	}
	if err := migrate.Check(t.Context(), url); err != nil {
		t.Errorf("after: %v", err)
	}
	if left := unbuilt(t, url); len(left) > 0 {
		t.Errorf("after: %+v are not built, where there is nothing", left)
	}
}

// A node of this version goes on, and starts, on the schema of the next one.
func TestOnTheSchemaOfALaterVersion(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // the statement was answered
	if _, err := conn.Exec(t.Context(), `
		INSERT INTO goose_db_version (version_id, is_applied)
		SELECT max(version_id) + 1, true
		FROM goose_db_version`); err != nil {
		t.Fatal(err)
	}
	if err := migrate.Check(t.Context(), url); err != nil {
		t.Errorf("check: %v", err)
	}
	if err := migrate.Up(t.Context(), url); err != nil {
		t.Errorf("up: %v", err)
	}
}

func TestStatusListsOursThenTheQueues(t *testing.T) {
	t.Parallel()
	steps := status(t, pgtest.URL(t))
	theirs := slices.IndexFunc(steps, func(s migrate.Step) bool { return strings.HasPrefix(s.Name, "river ") })
	if theirs < 1 {
		t.Fatalf("the queue's steps begin at %d of %d", theirs, len(steps))
	}
	for i, s := range steps {
		if strings.HasSuffix(s.Name, ".sql") != (i < theirs) {
			t.Errorf("step %d is %q", i, s.Name)
		}
	}
}

// Nodes that start together do not race.
func TestManyGoUpTogether(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	together(t, 8, func(ctx context.Context) error { return migrate.Up(ctx, url) })
	if err := migrate.Check(t.Context(), url); err != nil {
		t.Error(err)
	}
	if n := count(t, url, `SELECT count(*) - count(DISTINCT version_id) FROM goose_db_version`); n != 0 {
		t.Errorf("%d migrations were applied twice", n)
	}
}

// Who looks, and who waits for the migrations of another, may look at a
// database that is empty.
func TestManyLookWhileOneGoesUp(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	together(t, 8, func(ctx context.Context) error {
		if err := migrate.Check(ctx, url); err != nil && !errors.Is(err, migrate.ErrPending) {
			return err
		}
		return migrate.Up(ctx, url)
	})
}

func TestUpWaitsForWhoMigrates(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	other := lock(t, url)
	done := make(chan error, 1)
	go func() { done <- migrate.Up(t.Context(), url) }()
	waitsForLock(t, url, done)
	if _, err := other.Exec(t.Context(), `SELECT pg_advisory_unlock_all()`); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	lock(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- migrate.Up(ctx, url) }()
	waitsForLock(t, url, done)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// lock takes the lock under which every version migrates.
func lock(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	const key = 0x726f776c6f636b
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, int64(key)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// waitsForLock returns when a migration waits for the lock, having made no
// table yet.
func waitsForLock(t *testing.T, url string, done <-chan error) {
	t.Helper()
	// Nothing of who waits is open in between: no transaction, and no snapshot.
	for count(t, url, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'rowlock migrate'
		AND query LIKE '%pg_try_advisory_lock%' AND state = 'idle' AND backend_xmin IS NULL`) == 0 {
		select {
		case err := <-done:
			t.Fatalf("it did not wait: %v", err)
		default:
		}
	}
	if n := count(t, url, `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`); n != 0 {
		t.Errorf("%d tables were made without the lock", n)
	}
}

// What fails in the middle is taken up where it failed.
func TestUpGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), `CREATE TABLE deliveries (in_the_way int)`); err != nil {
		t.Fatal(err)
	}
	if err := migrate.Up(t.Context(), url); err == nil || !strings.Contains(err.Error(), "version:4") {
		t.Fatalf("error %v, want one that names the migration", err)
	}
	if err := migrate.Check(t.Context(), url); !errors.Is(err, migrate.ErrPending) || !strings.Contains(err.Error(), "0004") {
		t.Errorf("error %v, want ErrPending naming the one that failed", err)
	}
	if n := count(t, url, `SELECT count(*) FROM pg_tables WHERE tablename IN ('attempts', 'rollups')`); n != 0 {
		t.Errorf("the failed migration left %d tables", n)
	}
	if _, err := conn.Exec(t.Context(), `DROP TABLE deliveries`); err != nil {
		t.Fatal(err)
	}
	if err := migrate.Up(t.Context(), url); err != nil {
		t.Error(err)
	}
}

// Who writes while a migration alters several of the tables waits for it, or it
// for them; never both, whatever the order in which they hold the tables.
func TestUpBesideWriters(t *testing.T) {
	t.Parallel()
	for first, then := range map[string]string{"requests": "sources", "sources": "requests"} {
		url := pgtest.Empty(t)
		upTo(t, url, 16)
		writer, err := connect(t, url).Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hold := func(table string) {
			t.Helper()
			if _, err := writer.Exec(t.Context(), `LOCK TABLE `+table+` IN ROW EXCLUSIVE MODE`); err != nil {
				t.Fatalf("%s: %v", table, err)
			}
		}
		hold(first)
		done := make(chan error, 1)
		go func() { done <- migrate.Up(t.Context(), url) }()
		for count(t, url, `SELECT count(*) FROM pg_locks WHERE relation = '`+first+`'::regclass AND NOT granted`) == 0 {
			select {
			case err := <-done:
				t.Fatalf("%s: it did not wait: %v", first, err)
			default:
			}
		}
		hold(then)
		if err := writer.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("%s: %v", first, err)
		}
	}
}

// upTo makes a database as an older version left it.
func upTo(t *testing.T, url string, version int64) {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	defer db.Close() //nolint:errcheck // nothing is pending
	older, err := goose.NewProvider(database.DialectPostgres, db, migrations.FS)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := older.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}

// A migration that does not get its table lets writers pass again and again, and is
// there once the table is free.
func TestUpDoesNotStandInFrontOfTraffic(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	upTo(t, url, 37)
	long, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.Exec(t.Context(), `SELECT count(*) FROM events`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- migrate.Up(t.Context(), url) }()
	// What is written on a second connection meanwhile: at first it waits behind the
	// migration, and then that has given up and come again.
	writer, tries, waited := connect(t, url), 0, time.Duration(0)
	for ; tries < 2; tries++ {
		for count(t, url, `SELECT count(*) FROM pg_locks WHERE relation = 'events'::regclass AND NOT granted`) == 0 {
			select {
			case err := <-done:
				t.Fatalf("it did not wait: %v", err)
			default:
			}
		}
		began := time.Now()
		if _, err := writer.Exec(t.Context(), `UPDATE events SET status = status WHERE false`); err != nil {
			t.Fatal(err)
		}
		waited = max(waited, time.Since(began))
	}
	if limit := migrate.LockWait + 500*time.Millisecond; waited > limit {
		t.Errorf("a writer waited %s, want %s at the most", waited, limit)
	}
	if err := long.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestNoDatabase(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"nobody listens": unreachable, "no address": "postgres://user:hunter2@:port/"} {
		_, statusErr := migrate.Status(t.Context(), url)
		_, unbuiltErr := migrate.Unbuilt(t.Context(), url)
		_, buildErr := migrate.Build(t.Context(), url, slog.New(slog.DiscardHandler))
		for call, err := range map[string]error{
			"Up": migrate.Up(t.Context(), url), "Check": migrate.Check(t.Context(), url), "Status": statusErr, "Unbuilt": unbuiltErr, "Build": buildErr,
		} {
			if err == nil || errors.Is(err, migrate.ErrPending) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s, %s: %v, want an error without the password", name, call, err)
			}
		}
	}
}

func applied(s migrate.Step) bool { return s.Applied }

func status(t *testing.T, url string) []migrate.Step {
	t.Helper()
	steps, err := migrate.Status(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

func together(t *testing.T, n int, do func(context.Context) error) {
	t.Helper()
	start := make(chan struct{})
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			<-start
			if err := do(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func count(t *testing.T, url, sql string) int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the statement has been answered
	var n int
	if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
