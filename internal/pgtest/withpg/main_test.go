package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/pgtest"
)

// selfVariable tells a run of this test binary to be withpg.
const selfVariable = "WITHPG_SELF"

func TestMain(m *testing.M) {
	if os.Getenv(selfVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// withpg returns the command, ready to run.
func withpg(t *testing.T, server string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), selfVariable+"=1", pgtest.Variable+"="+server)
	return cmd
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		want int
	}{
		"success":           {[]string{"true"}, 0},
		"the command's own": {[]string{"sh", "-c", "exit 7"}, 7},
		"killed":            {[]string{"sh", "-c", "kill -9 $$"}, 137},
		"no such command":   {[]string{"/no/such/command"}, exitNotRun},
		"nothing to run":    {nil, exitUsage},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := withpg(t, "postgres://given", test.args...)
			_ = cmd.Run() // the code is what counts
			if got := cmd.ProcessState.ExitCode(); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
		})
	}
}

func TestGivenServerIsUsed(t *testing.T) {
	t.Parallel()
	out, err := withpg(t, "postgres://given", "sh", "-c", "echo $"+pgtest.Variable).Output()
	if err != nil || strings.TrimSpace(string(out)) != "postgres://given" {
		t.Errorf("the command saw %q, %v", out, err)
	}
}

// A signal reaches the command, and the server stops after it.
func TestSignalIsForwarded(t *testing.T) {
	t.Parallel()
	cmd := withpg(t, "", "sh", "-c", "echo $"+pgtest.Variable+"; exec cat")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("pipe: %v", err)
	}
	// The command waits for the end of its input, which does not come.
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatalf("pipe: %v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start: %v", err)
	}
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatalf("read the address: %v\n%s", err, stderr.String())
	}
	ping(t, address)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("signal: %v", err)
	}
	_ = cmd.Wait() // the code is what counts
	if code := cmd.ProcessState.ExitCode(); code != exitSignaled+int(syscall.SIGTERM) {
		t.Errorf("exit code %d, want that of SIGTERM\n%s", code, stderr.String())
	}
	if conn, err := pgx.Connect(t.Context(), address); err == nil {
		_ = conn.Close(t.Context())
		t.Error("the server answers after the end")
	}
}

func ping(t *testing.T, address string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatalf("connect to the command's server: %v", err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatalf("close: %v", err)
	}
}
