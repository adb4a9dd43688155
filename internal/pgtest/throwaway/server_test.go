package throwaway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

// ownerVariable tells a run of this test binary to start a server and wait for
// its end.
const ownerVariable = "THROWAWAY_OWNER"

func TestMain(m *testing.M) {
	if os.Getenv(ownerVariable) != "" {
		own()
	}
	goleak.VerifyTestMain(m)
}

// own prints a server's directory and address, and waits to be killed.
func own() {
	s, err := Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(s.dir.path, s.url)
	<-s.process.Done()
	os.Exit(1)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func TestStopRemovesEverything(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context())
	if err != nil {
		t.Fatalf("Start() = %v", err)
	}
	conn, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the server is gone by then
	if err := s.Stop(t.Context()); err != nil {
		t.Fatalf("Stop() = %v", err)
	}
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("the server answers after Stop")
	}
	if exists(s.dir.path) {
		t.Errorf("%s is still there after Stop", s.dir.path)
	}
}

// The server ends with an owner that had no chance to stop it, and its
// directory is swept by the next.
func TestKilledOwner(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), ownerVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("pipe: %v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the owner: %v", err)
	}
	var dir, url string
	if _, err := fmt.Fscan(out, &dir, &url); err != nil {
		t.Fatalf("read the owner's address: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatalf("kill the owner: %v", err)
	}
	_ = cmd.Wait() // says that it was killed
	until(t, "the server is gone", func() bool {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err != nil
	})
	// It refuses connections before it lets go of its directory.
	until(t, "its directory is swept", func() bool {
		sweep(filepath.Dir(dir))
		return !exists(dir)
	})
}

// until polls a condition that this process gets no signal of.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-time.After(time.Minute):
			t.Fatalf("waited too long until %s", what)
		}
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	held, err := makeDir(parent)
	if err != nil {
		t.Fatalf("makeDir() = %v", err)
	}
	left, err := makeDir(parent)
	if err != nil {
		t.Fatalf("makeDir() = %v", err)
	}
	if err := left.lock.Close(); err != nil { // as the kernel does for the dead
		t.Fatalf("release the lock: %v", err)
	}
	fresh := filepath.Join(parent, unlocked+"1")
	other := filepath.Join(parent, prefix+"without-a-lock")
	for _, dir := range []string{fresh, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatalf("mkdir: %v", err)
		}
	}
	sweep(parent)
	for dir, want := range map[string]bool{held.path: true, left.path: false, fresh: true, other: true} {
		if exists(dir) != want {
			t.Errorf("after a sweep %s exists: %t, want %t", filepath.Base(dir), !want, want)
		}
	}
	if err := held.remove(); err != nil || exists(held.path) {
		t.Errorf("remove() = %v, the directory exists: %t", err, exists(held.path))
	}
}

func TestFailedStartShowsTheServersWords(t *testing.T) {
	t.Parallel()
	s := &Server{password: "x"}
	if err := s.prepare(t.Context()); err != nil {
		t.Fatalf("prepare() = %v", err)
	}
	defer s.dir.remove() //nolint:errcheck // a left-over is swept
	err := s.launch(t.Context())
	if err == nil || !strings.Contains(err.Error(), s.cluster()) {
		t.Errorf("launch() without a cluster = %v, want the server's message", err)
	}
}

func TestADurableServerWritesThrough(t *testing.T) {
	t.Parallel()
	s, err := StartDurable(t.Context())
	if err != nil {
		t.Fatalf("StartDurable() = %v", err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	conn, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the server goes with it
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes", "autovacuum"} {
		var value string
		if err := conn.QueryRow(t.Context(), `SELECT current_setting($1)`, name).Scan(&value); err != nil || value != "on" {
			t.Errorf("%s is %q, %v", name, value, err)
		}
	}
	if _, err := conn.Exec(t.Context(), `CREATE EXTENSION pg_stat_statements`); err != nil {
		t.Errorf("count statements: %v", err)
	}
}
