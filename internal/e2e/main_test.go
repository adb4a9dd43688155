package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

var (
	// binary is the program under test.
	binary string
	// shared is the PostgreSQL of the tests that let it live.
	shared *cluster
	// machine is how fast this machine is at the moment.
	machine *pace
)

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// runMore has one test more run at once than there are processors, unless told
// otherwise: most of the time these wait for leases to end and for processes.
func runMore() error {
	flag.Parse()
	n := runtime.GOMAXPROCS(0)
	if f := flag.Lookup("test.parallel"); f.Value.String() != strconv.Itoa(n) {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(n+1))
}

// runAll builds the program, starts PostgreSQL, runs the tests and clears up.
func runAll(m *testing.M) (code int, err error) {
	dir, err := openDir()
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if binary, err = build(dir); err != nil {
		return 1, err
	}
	if shared, err = newCluster(context.Background(), dir); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.stop(context.Background())) }()
	if err := shared.layTemplate(context.Background()); err != nil {
		return 1, err
	}
	machine = startPace()
	if err := runMore(); err != nil {
		return 1, err
	}
	code = m.Run()
	machine.stop()
	stopChromium()
	caller.CloseIdleConnections()
	return code, goleak.Find(
		goleak.IgnoreAnyFunction("github.com/rowlock/rowlock/internal/embedded/pgchild.(*Process).run"),
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"), // stops by itself
	)
}

// openDir makes a temporary directory that PostgreSQL's account can enter.
// Its path is short: there will be sockets in it.
func openDir() (string, error) {
	dir, err := os.MkdirTemp("", "rowlock-e2e-")
	if err != nil {
		return "", fmt.Errorf("make a directory: %w", err)
	}
	return dir, os.Chmod(dir, 0o755)
}

// raced is a variable: when it is set, and the tests have the race detector, the
// program under test has it too. It takes several times as long, and what it finds
// there is found by the packages' own tests before.
const raced = "ROWLOCK_TEST_RACE_PROGRAM"

// instrumented tells whether the program has the race detector.
func instrumented() bool { return raceEnabled && os.Getenv(raced) != "" }

// build builds the program as it is released, without C, so that it runs in a root
// file system that has nothing else.
func build(dir string) (string, error) {
	path := filepath.Join(dir, "rowlock")
	args, environ := []string{"build", "-ldflags=-s -w", "-o", path}, append(os.Environ(), "CGO_ENABLED=0")
	if instrumented() {
		args, environ = append(args, "-race"), os.Environ()
	}
	cmd := exec.Command("go", append(args, "github.com/rowlock/rowlock/cmd/rowlock")...)
	cmd.Env = environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
}
