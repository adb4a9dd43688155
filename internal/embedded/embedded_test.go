package embedded

import (
	"errors"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestRestartKeepsEveryRow(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := run(t, dir)
	exec(t, s.URL(), `CREATE TABLE kept AS SELECT n FROM generate_series(1, 1000) n`)
	stop(t, s)
	if err := probe(t.Context(), s.URL()); err == nil {
		t.Fatal("the server answers after Stop")
	}
	ended(t, s)
	stop(t, s) // twice is no error
	if n := query[int](t, run(t, dir).URL(), `SELECT count(*) FROM kept`); n != 1000 {
		t.Errorf("%d rows after a restart, want 1000", n)
	}
}

// The owner and its server are killed in the middle of writing. Every row that
// was acknowledged is there afterwards.
func TestKilledOwnerLosesNothing(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	cmd := osexec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), ownerVariable+"="+dir)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("pipe: %v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the owner: %v", err)
	}
	acknowledged := 0
	for acknowledged < 50 {
		if _, err := fmt.Fscan(out, &acknowledged); err != nil {
			t.Fatalf("read from the owner: %v", err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatalf("kill: %v", err)
	}
	s := run(t, dir) // at once: the old server may still be on its way out
	for n := 0; ; acknowledged = max(acknowledged, n) {
		if _, err := fmt.Fscan(out, &n); err != nil {
			break
		}
	}
	_ = cmd.Wait() // says that it was killed
	if n := query[int](t, s.URL(), `SELECT count(*) FROM written`); n < acknowledged {
		t.Errorf("%d rows after kill -9, %d were acknowledged", n, acknowledged)
	}
	if s.process == nil {
		t.Error("the new server is not this process's own")
	}
}

// PostgreSQL alone is killed, as when memory runs out.
func TestDoneWhenTheServerDies(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := run(t, dir)
	exec(t, s.URL(), `CREATE TABLE kept AS SELECT 1 AS n`)
	if err := s.process.Signal(syscall.SIGKILL); err != nil {
		t.Fatalf("kill: %v", err)
	}
	ended(t, s)
	stop(t, s)
	if n := query[int](t, run(t, dir).URL(), `SELECT n FROM kept`); n != 1 {
		t.Errorf("the row is %d after the server was killed, want 1", n)
	}
}

func TestServerRunsUnprivileged(t *testing.T) {
	t.Parallel()
	s := run(t, dataDir(t))
	process := owner(t, filepath.Join("/proc", strconv.Itoa(s.process.PID())))
	if process == 0 || os.Geteuid() != 0 && process != os.Geteuid() {
		t.Errorf("PostgreSQL runs as user id %d, this process as %d", process, os.Geteuid())
	}
	if files := owner(t, s.layout.cluster); files != process {
		t.Errorf("the cluster belongs to user id %d, PostgreSQL runs as %d", files, process)
	}
	if query[bool](t, s.URL(), `SELECT rolsuper FROM pg_roles WHERE rolname = current_user`) {
		t.Error("the product connects as a superuser")
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	s := run(t, dataDir(t))
	for name, want := range map[string]string{
		"listen_addresses": "", "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
		"max_connections": "100", "data_checksums": "on", "server_encoding": "UTF8", "TimeZone": "UTC",
	} {
		if got := query[string](t, s.URL(), `SHOW `+name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if _, err := new(net.Dialer).DialContext(t.Context(), "unix", s.layout.socket()); err != nil {
		t.Errorf("the socket is not where it belongs: %v", err)
	}
	if !exists(s.layout.log) {
		t.Errorf("there is no log at %s", s.layout.log)
	}
}

func TestRelativeDir(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatalf("Getwd() = %v", err)
	}
	dir := dataDir(t)
	relative, err := filepath.Rel(here, dir)
	if err != nil {
		t.Fatalf("Rel() = %v", err)
	}
	s := run(t, relative)
	if query[string](t, s.URL(), `SELECT current_database()::text`) != database || s.layout.dir != dir {
		t.Errorf("the server of %s works in %s", relative, s.layout.dir)
	}
}

func TestDirThatPostgresCannotReach(t *testing.T) {
	t.Parallel()
	private := filepath.Dir(dataDir(t))
	mode := os.FileMode(0o700)
	if os.Geteuid() != 0 {
		mode = 0 // only root can enter what it forbids itself
	}
	if err := os.Chmod(private, mode); err != nil {
		t.Fatalf("chmod: %v", err)
	}
	s, err := Start(t.Context(), Options{Dir: filepath.Join(private, "below", "data")})
	if err == nil {
		stop(t, s)
		t.Fatal("Start() worked")
	}
	want := []string{private}
	if os.Geteuid() == 0 {
		want = append(want, "ROWLOCK_DATA_DIR", "chmod o+x "+private)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("Start() = %v, want a word on %q", err, w)
		}
	}
	if info, err := os.Stat(private); err != nil || info.Mode().Perm() != mode {
		t.Errorf("the directory's mode is %v, %v, want it left at %v", info.Mode(), err, mode)
	}
	if os.Geteuid() == 0 && exists(filepath.Join(private, "below")) {
		t.Error("something was made in the unreachable directory")
	}
}

func TestPathTooLongForASocket(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Options{Dir: filepath.Join(os.TempDir(), strings.Repeat("d", socketPathMax))})
	if err == nil || !strings.Contains(err.Error(), "shorter ROWLOCK_DATA_DIR") {
		t.Errorf("Start() = %v, want what to do", err)
	}
}

func TestOtherVersionIsRefused(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := run(t, dir)
	stop(t, s)
	file := filepath.Join(s.layout.cluster, "PG_VERSION")
	original, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	before := listing(t, s.layout.cluster)
	for _, major := range []string{"14", "99"} {
		if err := os.WriteFile(file, []byte(major+"\n"), 0o600); err != nil {
			t.Fatalf("write: %v", err)
		}
		_, err := Start(t.Context(), Options{Dir: dir})
		var version *VersionError
		if !errors.As(err, &version) || !strings.Contains(err.Error(), "pg_upgrade") ||
			!strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("Start() on version %s = %v, want a VersionError with what to do", major, err)
		}
	}
	if after := listing(t, s.layout.cluster); after != before {
		t.Errorf("the cluster changed:\nbefore %s\nafter  %s", before, after)
	}
	if err := os.WriteFile(file, original, 0o600); err != nil {
		t.Fatalf("write: %v", err)
	}
	run(t, dir)
}

// listing names every file below a directory.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatalf("list %s: %v", dir, err)
	}
	return strings.Join(names, "\n")
}

// What stands where a cluster is to be stays, whatever goes wrong.
func TestNothingIsRemoved(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, l layout) string{
		"files without a version": func(t *testing.T, l layout) string {
			return plant(t, l.cluster)
		},
		"a version that is no number": func(t *testing.T, l layout) string {
			sentinel := plant(t, l.cluster)
			if err := os.WriteFile(filepath.Join(l.cluster, "PG_VERSION"), []byte("fifteen"), 0o600); err != nil {
				t.Fatalf("write: %v", err)
			}
			return sentinel
		},
		"a version and nothing else": func(t *testing.T, l layout) string {
			sentinel := plant(t, l.cluster)
			if err := os.WriteFile(filepath.Join(l.cluster, "PG_VERSION"), []byte("15"), 0o600); err != nil {
				t.Fatalf("write: %v", err)
			}
			return sentinel
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := dataDir(t)
			l, err := newLayout(dir)
			if err != nil {
				t.Fatalf("newLayout() = %v", err)
			}
			sentinel := prepare(t, l)
			if s, err := Start(t.Context(), Options{Dir: dir}); err == nil {
				stop(t, s)
				t.Fatal("Start() worked")
			} else if !strings.Contains(err.Error(), l.cluster) {
				t.Errorf("Start() = %v, want it to name %s", err, l.cluster)
			}
			if !exists(sentinel) {
				t.Errorf("%s is gone", sentinel)
			}
		})
	}
}

// plant makes a directory with a file in it and returns the file's path.
func plant(t *testing.T, dir string) string {
	t.Helper()
	sentinel := filepath.Join(dir, "sentinel")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatalf("mkdir: %v", err)
	}
	if err := os.WriteFile(sentinel, []byte("keep me"), 0o600); err != nil {
		t.Fatalf("write: %v", err)
	}
	return sentinel
}

// A first start that was killed half-way leaves a directory beside the
// cluster. It stays and does no harm.
func TestInterruptedFirstStart(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	left := plant(t, filepath.Join(dir, "postgres.new-123"))
	s := run(t, dir)
	sentinel := filepath.Join(s.layout.cluster, "sentinel")
	if err := os.WriteFile(sentinel, nil, 0o600); err != nil {
		t.Fatalf("write: %v", err)
	}
	stop(t, s)
	run(t, dir)
	for _, path := range []string{left, sentinel} {
		if !exists(path) {
			t.Errorf("%s is gone", path)
		}
	}
}
