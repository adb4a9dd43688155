package app

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rowlock/rowlock/internal/store"
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
	case errors.As(err, &connect) && poolerRefuses(connect):
		return &advised{unreachable(connect), "That is PgBouncer, which refuses what Rowlock asks of its sessions. " + connectDirectly}
	case errors.As(err, &connect):
		return &advised{unreachable(connect), askConnection + " `rowlock doctor` looks at everything."}
	case errors.Is(err, syscall.EADDRINUSE):
		return &advised{err, "Another program, or another rowlock, listens there: stop it, or choose another address with ROWLOCK_LISTEN, ROWLOCK_METRICS_LISTEN or --listen."}
	default:
		return err
	}
}

// askConnection is what to ask oneself about a database that does not answer.
const askConnection = "Is PostgreSQL running there, and does ROWLOCK_DATABASE_URL (of a pooler, ROWLOCK_POOLER_URL) have its address, user and password?"

// connectDirectly is what to do about a pooler.
var connectDirectly = fmt.Sprintf("Name PostgreSQL itself in ROWLOCK_DATABASE_URL: a node has a pool of its own and keeps %d connections at the most. A pooler in transaction mode that has to be there belongs into ROWLOCK_POOLER_URL.", store.NodeConnections)

// poolerRefuses tells whether a connection ended because a pooler knows no
// session settings of the product's.
func poolerRefuses(err *pgconn.ConnectError) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == pgerrProtocol && strings.Contains(refused.Message, "startup parameter")
}

// pgerrProtocol is PostgreSQL's code for a protocol that was violated.
const pgerrProtocol = "08P01"

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
