package embedded

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
)

func TestGuestSharesTheOwnersServer(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	host := run(t, dir)
	guest := run(t, dir)
	if guest.URL() != host.URL() || guest.process != nil {
		t.Fatalf("the guest has %s, the owner %s", guest.URL(), host.URL())
	}
	stop(t, guest)
	if err := probe(t.Context(), host.URL()); err != nil {
		t.Fatalf("the owner's server is gone after the guest's Stop: %v", err)
	}
	other := run(t, dir)
	stop(t, host)
	ended(t, other)
}

// Two first starts at once make one cluster and one server.
func TestStartsAtOnce(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	started := make(chan *Server)
	for range 2 {
		go func() {
			s, err := Start(t.Context(), Options{Dir: dir})
			if err != nil {
				t.Errorf("Start() = %v", err)
			}
			started <- s
		}()
	}
	one, other := <-started, <-started
	if one == nil || other == nil {
		t.Fatal("one did not start")
	}
	if (one.process == nil) == (other.process == nil) {
		t.Errorf("owners: %t and %t, want one", one.process != nil, other.process != nil)
	}
	stop(t, one)
	stop(t, other)
}

// A server that an operator started by hand is used, and left to the operator.
func TestServerStartedByHand(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := run(t, dir)
	stop(t, first)
	byHand := startPlain(t, first.layout)
	s := run(t, dir)
	if err := probe(t.Context(), s.URL()); err != nil {
		t.Fatalf("connect: %v", err)
	}
	stop(t, s)
	if err := probe(t.Context(), s.URL()); err != nil {
		t.Errorf("the server by hand is gone after Stop: %v", err)
	}
	select {
	case <-byHand.Done():
		t.Errorf("the server by hand ended: %v", byHand.Err())
	default:
	}
}

// A server whose owner is gone is stopped in order and replaced.
func TestOrphanIsReplaced(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := run(t, dir)
	stop(t, first)
	orphan := startPlain(t, first.layout, "-c", "cluster_name="+clusterName)
	exec(t, first.URL(), `CREATE TABLE kept AS SELECT 1 AS n`)
	s := run(t, dir)
	if s.process == nil {
		t.Error("the orphan was adopted, want it replaced")
	}
	if err := orphan.Err(); err != nil {
		t.Errorf("the orphan ended with %v, want an ordered end", err)
	}
	if n := query[int](t, s.URL(), `SELECT n FROM kept`); n != 1 {
		t.Errorf("the orphan's row is %d, want 1", n)
	}
}

// After a restart of the machine, the process id in postmaster.pid may belong
// to anybody.
func TestProcessIDOfAnother(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := run(t, dir)
	stop(t, first)
	user, err := pgchild.Choose(first.layout.cluster)
	if err != nil {
		t.Fatalf("Choose() = %v", err)
	}
	cmd := osexec.CommandContext(t.Context(), "cat")
	if _, err := cmd.StdinPipe(); err != nil { // whose end does not come
		t.Fatalf("pipe: %v", err)
	}
	if user.Drop {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user.UID, Gid: user.GID}}
		cmd.Dir = "/"
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	pid := strconv.Itoa(cmd.Process.Pid)
	text := pid + "\n" + first.layout.cluster + "\n1700000000\n5432\n.\n\n  1234567     1234\nready   \n"
	if err := os.WriteFile(first.layout.pidFile(), []byte(text), 0o600); err != nil {
		t.Fatalf("write: %v", err)
	}
	if err := user.Own(first.layout.pidFile()); err != nil {
		t.Fatalf("own: %v", err)
	}
	if s := run(t, dir); s.process == nil {
		t.Error("Start() took another's process for a server")
	}
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other process: %v", err)
	}
	if !exists(filepath.Join(first.layout.cluster, "postmaster.pid.stale")) {
		t.Error("the stale file was not kept")
	}
}

// An owner that does not get its server up keeps others waiting only as long
// as they want to wait.
func TestWaitForAnOwnerEnds(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	l, err := newLayout(dir)
	if err != nil {
		t.Fatalf("newLayout() = %v", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatalf("mkdir: %v", err)
	}
	held, err := l.claim()
	if err != nil || held == nil {
		t.Fatalf("claim() = %v, %v", held, err)
	}
	defer held.release() //nolint:errcheck // only a lock
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, Options{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("Start() = %v, want the context's end", err)
	}
}

// A start that is given up leaves no server and no lock behind.
func TestStartGivenUp(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, Options{Dir: dir}); err == nil {
		t.Fatal("Start() worked")
	}
	run(t, dir)
}
