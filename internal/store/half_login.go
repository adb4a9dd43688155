package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// HalfLogin is a log-in whose password was right, and whose code is awaited.
type HalfLogin struct {
	User  gateway.UserID
	Email string
	// Keep tells that the person asked to stay logged in.
	Keep   bool
	EndsAt time.Time
}

// NewHalfLogin is a half log-in to be made.
type NewHalfLogin struct {
	// Hash is the token's.
	Hash [32]byte
	User gateway.UserID
	// PasswordHash is that of the password by which the person has shown who
	// they are.
	PasswordHash string
	Keep         bool
	Lives        time.Duration
}

// CreateHalfLogin makes a half log-in of a person from whom a code is asked, and
// tells whether it did: not when the password was changed in the meantime.
//
// The promise: as that of CreateSession. Whoever changes a password locks the
// person's row before the half log-ins are ended that it has made.
func (t Tx) CreateHalfLogin(ctx context.Context, n NewHalfLogin) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		INSERT INTO half_logins (hash, user_id, keep, ends_at)
		SELECT @hash::bytea, u.id, @keep::boolean, now() + @lives::interval
		FROM users u
		WHERE u.id = @user
		  AND u.password_hash = @password
		  AND u.two_step_at IS NOT NULL
		FOR SHARE OF u`,
		pgx.NamedArgs{"hash": n.Hash[:], "user": n.User, "password": n.PasswordHash, "keep": n.Keep, "lives": n.Lives})
	return tag.RowsAffected() == 1, wrap("create half log-in", err)
}

// HalfLogin finds a half log-in by the hash of its token. Only UseHalfLogin
// decides. One that was used, or is over, is gateway.ErrNotFound.
func (s *Store) HalfLogin(ctx context.Context, hash [32]byte) (HalfLogin, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT u.id AS user, u.email, h.keep, h.ends_at
		FROM half_logins h
		JOIN users u ON u.id = h.user_id
		WHERE h.hash = $1
		  AND h.ends_at > now()`, hash[:])
	if err != nil {
		return HalfLogin{}, wrap("find half log-in", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[HalfLogin])
	return found, wrap("find half log-in", err)
}

// UseHalfLogin uses a half log-in up. The person's row is locked by then: by who
// has used the code. One that was used, or is over, is gateway.ErrNotFound.
//
// The promise: a half log-in becomes one session. Of two that delete it, one
// finds it.
func (t Tx) UseHalfLogin(ctx context.Context, hash [32]byte, user gateway.UserID) error {
	tag, err := t.tx.Exec(ctx, `
		DELETE FROM half_logins
		WHERE hash = $1
		  AND user_id = $2
		  AND ends_at > clock_timestamp()`, hash[:], user)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	return wrap("use half log-in", err)
}

// EndHalfLogins ends all half log-ins of a person.
func (t Tx) EndHalfLogins(ctx context.Context, user gateway.UserID) error {
	_, err := t.tx.Exec(ctx, `DELETE FROM half_logins WHERE user_id = $1`, user)
	return wrap("end half log-ins", err)
}

// PruneHalfLogins deletes the half log-ins whose time is over.
func (s *Store) PruneHalfLogins(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM half_logins WHERE ends_at <= now()`)
	return wrap("prune half log-ins", err)
}
