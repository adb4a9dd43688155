package pgchild

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is longer than any signal takes; no test waits for it to pass.
const patience = time.Minute

// shell runs a script that prints a line when it is ready, and waits for it.
func shell(t *testing.T, script string) *Process {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatalf("pipe: %v", err)
	}
	defer r.Close() //nolint:errcheck // one line is read
	p, err := Start(Command{Program: "/bin/sh", Args: []string{"-c", script}, Output: w})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatalf("Start() = %v", err)
	}
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		t.Fatalf("read: %v", err)
	}
	return p
}

// waiting prints a line and waits for ever: nobody writes to the pipe.
const waiting = `echo ready; exec tail -f /dev/null >/dev/null 2>&1`

// obeyed is longer than a busy machine takes to end a child by a signal.
const obeyed = 3 * time.Second

func TestStopIsKindFirst(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string
		grace  time.Duration
		want   syscall.Signal
	}{
		"obeys the first":    {waiting, patience, syscall.SIGINT},
		"ignores the first":  {`trap "" INT; ` + waiting, obeyed, syscall.SIGQUIT},
		"ignores all but -9": {`trap "" INT QUIT; ` + waiting, time.Millisecond, syscall.SIGKILL},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := shell(t, test.script)
			if err := p.Stop(t.Context(), test.grace); err != nil {
				t.Fatalf("Stop() = %v", err)
			}
			var exit *exec.ExitError
			if !errors.As(p.Err(), &exit) || exit.Sys().(syscall.WaitStatus).Signal() != test.want {
				t.Errorf("ended with %v, want %v", p.Err(), test.want)
			}
			if err := p.Stop(t.Context(), test.grace); err != nil {
				t.Errorf("Stop() again = %v", err)
			}
		})
	}
}

func TestStopHurriesWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	p := shell(t, `trap "" INT; `+waiting)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Stop(ctx, patience); err != nil {
		t.Errorf("Stop() = %v", err)
	}
}

// Ctrl-C goes to the group of the terminal, which a server must not be in.
func TestProcessHasItsOwnGroup(t *testing.T) {
	t.Parallel()
	p := shell(t, waiting)
	group, err := syscall.Getpgid(p.PID())
	if err != nil || group != p.PID() {
		t.Errorf("the group is %d, %v, want %d", group, err, p.PID())
	}
	if err := p.Stop(t.Context(), patience); err != nil {
		t.Errorf("Stop() = %v", err)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	sh := func(script string) Command { return Command{Program: "/bin/sh", Args: []string{"-c", script}} }
	if err := Run(t.Context(), sh("exit 0")); err != nil {
		t.Errorf("Run() = %v", err)
	}
	err := Run(t.Context(), sh("echo what went wrong >&2; exit 3"))
	if err == nil || !strings.Contains(err.Error(), "what went wrong") {
		t.Errorf("Run() = %v, want the program's words", err)
	}
	if err := Run(t.Context(), Command{Program: "/no/such/program"}); err == nil {
		t.Error("Run() of nothing worked")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := Run(ctx, sh("tail -f /dev/null & wait")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Run() = %v, want the context's end", err)
	}
}

// This process's secrets, and variables that PostgreSQL would obey, stay here.
func TestEnvironmentIsNotInherited(t *testing.T) {
	t.Setenv("ROWLOCK_MASTER_KEY", "secret")
	t.Setenv("PGDATA", "/elsewhere")
	err := Run(t.Context(), Command{Program: "/bin/sh", Args: []string{"-c", "env; exit 1"}})
	if err == nil || !strings.Contains(err.Error(), "LC_ALL=C") {
		t.Fatalf("Run() = %v, want the environment", err)
	}
	for _, name := range []string{"ROWLOCK_MASTER_KEY", "PGDATA"} {
		if strings.Contains(err.Error(), name) {
			t.Errorf("%s is passed on", name)
		}
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	if got := tail(" short\n"); got != "short" {
		t.Errorf("tail() = %q", got)
	}
	long := strings.Repeat("ü", tailBytes) + "the end"
	if got := tail(long); len(got) > tailBytes+8 || !strings.HasSuffix(got, "the end") || !strings.HasPrefix(got, "… ü") {
		t.Errorf("tail() = %d bytes, %.20q", len(got), got)
	}
}
