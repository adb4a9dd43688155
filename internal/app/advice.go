package app

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// advised is an error that knows what to do about itself.
type advised struct {
	cause error
	hint  string
}

func (e *advised) Error() string { return e.cause.Error() }

func (e *advised) Unwrap() error { return e.cause }

// Hint says what to do.
func (e *advised) Hint() string { return e.hint }

// Advise adds to an error of this package, where one can be given, a hint of
// what to do, under the method Hint. A database that does not answer is told in
// one line, with its address and without its password.
func Advise(err error) error {
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &connect):
		return &advised{unreachable(connect), "Is PostgreSQL running there, and does ROWLOCK_DATABASE_URL have its address, user and password? `rowlock doctor` looks at everything."}
	case errors.Is(err, syscall.EADDRINUSE):
		return &advised{err, "Another program, or another rowlock, listens there: stop it, or choose another address with ROWLOCK_LISTEN, ROWLOCK_METRICS_LISTEN or --listen."}
	default:
		return err
	}
}

// unreachable says which database does not answer, and why. The driver's own
// text repeats both for every address of the host.
func unreachable(err *pgconn.ConnectError) error {
	c := err.Config
	address := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	return fmt.Errorf("connect to the database %s at %s as %s: %s", c.Database, address, c.User, innermost(err))
}

// innermost is the cause of all causes; of several, the first.
func innermost(err error) string {
	for {
		switch e := err.(type) { //nolint:errorlint // it walks the tree itself
		case *pgconn.PgError:
			return e.Message
		case interface{ Unwrap() []error }:
			if len(e.Unwrap()) == 0 {
				return err.Error()
			}
			err = e.Unwrap()[0]
		case interface{ Unwrap() error }:
			if e.Unwrap() == nil {
				return err.Error()
			}
			err = e.Unwrap()
		default:
			return err.Error()
		}
	}
}
