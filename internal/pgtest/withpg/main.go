// Command withpg runs a command with a throw-away PostgreSQL server, so that
// all test packages share one:
//
//	go run ./internal/pgtest/withpg go test ./...
//
// The command finds the server's address in ROWLOCK_TEST_DATABASE_URL. When
// that is set already, withpg only runs the command. Its exit code is the
// command's, or 125 when the server cannot be started.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/pgtest/throwaway"
)

// Exit codes that are not the command's own, as other wrappers use them.
const (
	exitUsage    = 2
	exitServer   = 125
	exitNotRun   = 127
	exitSignaled = 128 // plus the signal's number
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: withpg command [argument ...]")
		os.Exit(exitUsage)
	}
	os.Exit(run(os.Args[1], os.Args[2:]))
}

// run starts the server unless one is given, runs the command, stops the
// server and returns the exit code.
func run(name string, args []string) int {
	// From here on a signal must not end this process before the server.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if os.Getenv(pgtest.Variable) != "" {
		return command(signals, os.Environ(), name, args)
	}
	server, err := throwaway.Start(context.Background())
	if err != nil {
		fmt.Fprintf(os.Stderr, "withpg: %v\n", err)
		return exitServer
	}
	code := command(signals, append(os.Environ(), pgtest.Variable+"="+server.URL()), name, args)
	if err := server.Stop(context.Background()); err != nil {
		fmt.Fprintf(os.Stderr, "withpg: stop the server: %v\n", err)
		return max(code, exitServer)
	}
	return code
}

// command runs the command to its end, hands signals on to it and returns its
// exit code.
func command(signals <-chan os.Signal, env []string, name string, args []string) int {
	cmd := exec.Command(name, args...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "withpg: %v\n", err)
		return exitNotRun
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s) // it may just have ended
		case err := <-ended:
			return exitCode(err)
		}
	}
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		fmt.Fprintf(os.Stderr, "withpg: %v\n", err)
		return exitNotRun
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitSignaled + int(status.Signal())
	}
	return exit.ExitCode()
}
