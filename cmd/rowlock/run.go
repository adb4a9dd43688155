package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/app"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // it was tried and did not work
	exitUsage   = 2 // it was not tried: arguments or settings cannot be used
)

// program is one call of rowlock and all it touches, so that a test can make
// it without a process.
type program struct {
	args           []string // without the program's name
	environ        []string // NAME=value
	stdin          io.Reader
	stdout, stderr io.Writer
}

// run carries out one call until it is done or ctx is, and returns the exit
// code.
func run(ctx context.Context, p program) int {
	root := newRoot(p) //nolint:contextcheck // each command gets ctx from ExecuteContextC
	root.SetArgs(p.args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	return report(p.stderr, cmd, app.Advise(err))
}

// report tells a person what went wrong and what to do, and returns the exit
// code.
func report(w io.Writer, cmd *cobra.Command, err error) int {
	code := exitFailure
	if _, ok := errors.AsType[*usageError](err); ok {
		code = exitUsage
	}
	text := "rowlock: " + err.Error() + "\n"
	if hint := hintFor(cmd, err); hint != "" {
		text += "Hint: " + hint + "\n"
	}
	_, _ = io.WriteString(w, text)
	return code
}

// hinter is an error that knows what to do about itself.
type hinter interface {
	error
	Hint() string
}

func hintFor(cmd *cobra.Command, err error) string {
	if h, ok := errors.AsType[hinter](err); ok && h.Hint() != "" {
		return h.Hint()
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return fmt.Sprintf("See `%s --help`.", cmd.CommandPath())
	}
	return ""
}

// usageError is a call that cannot be carried out as it was made.
type usageError struct{ cause error }

func (e *usageError) Error() string { return e.cause.Error() }

func (e *usageError) Unwrap() error { return e.cause }

func badUsage(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// hinted adds to a failure what to do about it.
type hinted struct {
	cause error
	hint  string
}

func (e *hinted) Error() string { return e.cause.Error() }

func (e *hinted) Unwrap() error { return e.cause }

// Hint says what to do.
func (e *hinted) Hint() string { return e.hint }
