package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
	"github.com/rowlock/rowlock/internal/pgtest/throwaway"
)

// ownerVariable tells a run of this test binary to own the server of the data
// directory that it names, until it is killed.
const ownerVariable = "EMBEDDED_OWNER"

// patience bounds a wait for another process. It is long for slow machines; no
// test waits for it to pass.
const patience = time.Minute

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerVariable); dir != "" {
		fmt.Fprintln(os.Stderr, write(context.Background(), dir))
		os.Exit(1)
	}
	goleak.VerifyTestMain(tidy{m})
}

// tidy runs the tests with a directory for temporary files that goes with
// them: the library that fetches programs leaves a log in it.
type tidy struct{ m *testing.M }

// Run makes the directory, runs the tests and removes it.
func (t tidy) Run() int {
	scratch, err := os.MkdirTemp(throwaway.Place(), "embedded-")
	if err := errors.Join(err, os.Chmod(scratch, 0o755), os.Setenv("TMPDIR", scratch)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := t.m.Run()
	if err := os.RemoveAll(scratch); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// write starts the server and adds rows for ever, printing each when its
// commit has been acknowledged.
func write(ctx context.Context, dir string) error {
	s, err := Start(ctx, Options{Dir: dir})
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `CREATE TABLE written (n int PRIMARY KEY)`); err != nil {
		return err
	}
	for n := 1; ; n++ {
		if _, err := conn.Exec(ctx, `INSERT INTO written VALUES ($1)`, n); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// dataDir returns a data directory that does not exist yet, below one that
// every user may enter, as /var/lib is. t.TempDir's is private.
func dataDir(t *testing.T) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "test-")
	if err != nil {
		t.Fatalf("make a directory: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatalf("open a directory: %v", err)
	}
	return filepath.Join(parent, "data")
}

// run starts the server of dir and stops it at the end of the test.
func run(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Start(t.Context(), Options{Dir: dir, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatalf("Start() = %v", err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(context.Background()); err != nil {
		t.Errorf("Stop() = %v", err)
	}
}

// exec runs a statement on the product's database.
func exec(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the statement has been answered
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// query runs a query that answers with one value.
func query[V any](t *testing.T, url, sql string) V {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // only read from
	var v V
	if err := conn.QueryRow(t.Context(), sql).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// ended waits for a server's end.
func ended(t *testing.T, s *Server) {
	t.Helper()
	select {
	case <-s.Done():
	case <-time.After(patience):
		t.Fatal("Done is still open")
	}
}

// startPlain starts a stopped cluster's server as others than Rowlock would.
func startPlain(t *testing.T, l layout, args ...string) *pgchild.Process {
	t.Helper()
	user, err := pgchild.Choose(l.cluster)
	if err != nil {
		t.Fatalf("Choose() = %v", err)
	}
	install, err := pgchild.Find(t.Context(), user)
	if err != nil {
		t.Fatalf("Find() = %v", err)
	}
	p, err := pgchild.Start(pgchild.Command{
		Program: install.Program("postgres"), Args: append([]string{"-D", l.cluster}, args...), User: user,
	})
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() {
		if err := p.Stop(context.Background(), patience); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	err = until(t.Context(), func() (bool, error) { return probe(t.Context(), l.url(role, database)) == nil, nil })
	if err != nil {
		t.Fatalf("wait for the server: %v", err)
	}
	return p
}

// owner returns who a file belongs to.
func owner(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatalf("stat: %v", err)
	}
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
