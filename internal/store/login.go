package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Try is something that may be tried so often in a time, from one address or,
// when Address is empty, from all of them together.
type Try struct {
	// Subject is a hash of what is tried and for whom.
	Subject [32]byte
	Address string
	// Most is how often it may be tried in a Window, which begins with the
	// first try.
	Most   int
	Window time.Duration
}

// TryLimitError says that something was tried too often.
type TryLimitError struct {
	// Until is when it may be tried again.
	Until time.Time
}

// Error tells that, without the time.
func (*TryLimitError) Error() string { return "tried too often" }

// ReserveTry counts a try before it is made. One too many is a *TryLimitError,
// and is not counted.
//
// The promise: in a window no more than Most are made, however many come at
// once. The row is the counter, and the upsert writes it only while there is
// room, or once the window is over.
func (t Tx) ReserveTry(ctx context.Context, y Try) error {
	tag, err := t.tx.Exec(ctx, `
		INSERT INTO tries (subject, address, tries, ends_at)
		VALUES (@subject, @address, 1, clock_timestamp() + @window::interval)
		ON CONFLICT (subject, address) DO UPDATE
		SET tries = CASE WHEN tries.ends_at <= clock_timestamp() THEN 1 ELSE tries.tries + 1 END,
		    ends_at = CASE WHEN tries.ends_at <= clock_timestamp() THEN EXCLUDED.ends_at ELSE tries.ends_at END
		WHERE tries.tries < @most
		   OR tries.ends_at <= clock_timestamp()`,
		pgx.NamedArgs{"subject": y.Subject[:], "address": y.Address, "most": y.Most, "window": y.Window})
	if err != nil || tag.RowsAffected() == 1 {
		return wrap("reserve a try", err)
	}
	full := &TryLimitError{}
	err = t.tx.QueryRow(ctx, `
		SELECT ends_at
		FROM tries
		WHERE subject = $1
		  AND address = $2`, y.Subject[:], y.Address).Scan(&full.Until)
	if err == nil {
		err = full
	}
	return wrap("reserve a try", err)
}

// ForgiveTries forgets all tries of a subject from one address.
func (t Tx) ForgiveTries(ctx context.Context, subject [32]byte, address string) error {
	_, err := t.tx.Exec(ctx, `
		DELETE FROM tries
		WHERE subject = $1
		  AND address = $2`, subject[:], address)
	return wrap("forgive tries", err)
}

// ForgiveAllTries forgets all tries of a subject, from wherever.
func (t Tx) ForgiveAllTries(ctx context.Context, subject [32]byte) error {
	// The row of all addresses goes first, as in every transaction.
	if err := t.ForgiveTries(ctx, subject, ""); err != nil {
		return err
	}
	_, err := t.tx.Exec(ctx, `DELETE FROM tries WHERE subject = $1`, subject[:])
	return wrap("forgive tries", err)
}

// ReturnTry takes one try back that turned out to be none.
func (t Tx) ReturnTry(ctx context.Context, subject [32]byte, address string) error {
	_, err := t.tx.Exec(ctx, `
		UPDATE tries
		SET tries = tries - 1
		WHERE subject = $1
		  AND address = $2
		  AND tries > 0`, subject[:], address)
	return wrap("return a try", err)
}

// KeepTry writes a try as it is: where something is written of one person, it
// stands in for that of another.
func (t Tx) KeepTry(ctx context.Context, subject [32]byte, address string) error {
	_, err := t.tx.Exec(ctx, `
		UPDATE tries
		SET tries = tries
		WHERE subject = $1
		  AND address = $2`, subject[:], address)
	return wrap("keep a try", err)
}

// PruneTries deletes the counters whose window is over.
func (s *Store) PruneTries(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM tries WHERE ends_at <= now()`)
	return wrap("prune tries", err)
}

// Login is what a log-in is checked against.
type Login struct {
	User gateway.UserID
	// Email is the address as it is stored: mails go to it and to no other way
	// of writing it.
	Email string
	// PasswordHash is empty when no password opens it.
	PasswordHash string
}

// LoginByEmail finds the person with this address, in whatever case it is
// written. When there is none it returns the zero Login.
func (s *Store) LoginByEmail(ctx context.Context, email string) (Login, error) {
	var found Login
	err := s.pool.QueryRow(ctx, `
		SELECT id, email, password_hash
		FROM users
		WHERE lower(email) = lower($1)`, email).Scan(&found.User, &found.Email, &found.PasswordHash)
	if errors.Is(err, pgx.ErrNoRows) {
		return Login{}, nil
	}
	return found, wrap("find user", err)
}
