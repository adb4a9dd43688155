package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rowlock/rowlock/internal/gateway"
)

// byConstraint names the domain error of each constraint that a caller can
// break. Constraint names are part of the code.
var byConstraint = map[string]error{
	"sources_uid_key":   gateway.ErrUIDTaken,
	"endpoints_uid_key": gateway.ErrUIDTaken,
	"users_email_key":   gateway.ErrEmailTaken,
	"event_types_pkey":  gateway.ErrNameTaken,

	"invitations_asked_key": gateway.ErrInvited,
}

// wrap says what was being done, and turns what the database said into what
// it means: no row, a broken constraint, or a database that is not there.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, meaning(err))
}

func meaning(err error) error {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return gateway.ErrNotFound
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &connect):
		return errors.Join(gateway.ErrUnavailable, err)
	case errors.As(err, &pg):
		if domain, ok := byConstraint[pg.ConstraintName]; ok {
			return domain
		}
		if isRefusal(pg.Code) {
			return errors.Join(gateway.ErrUnavailable, err)
		}
		return err
	case isConnectionError(err):
		return errors.Join(gateway.ErrUnavailable, err)
	}
	return err
}

// isRefusal tells the codes by which a server says that it cannot serve now,
// rather than that the statement is wrong: connection, resources, an operator
// stepping in (shutdown, crash, cancel), a lock not had in time, a deadlock, or
// a server that takes no writes now (a demoted primary, a full disk).
func isRefusal(code string) bool {
	for _, class := range []string{"08", "53", "57", "58", "55P03", "40", "25P03", "25006"} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return false
}

func isConnectionError(err error) bool {
	var network net.Error
	return errors.As(err, &network) ||
		errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "closed pool")
}

// IsDataFault tells whether the database refuses a row for what is in it: the
// same row will be refused again.
func IsDataFault(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "23"))
}

// IsSlow tells whether a transaction was given up for its time: it took too
// long, or waited too long for a lock. A smaller one may get through.
func IsSlow(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "55P03" || pg.Code == "57014" || pg.Code == "40P01")
}
