package store

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// CreatePasswordReset stores a link by which a person can set a new password,
// by the hash of its token, for a time.
func (t Tx) CreatePasswordReset(ctx context.Context, user gateway.UserID, hash [32]byte, lives time.Duration) error {
	_, err := t.tx.Exec(ctx, `
		INSERT INTO password_resets (hash, user_id, ends_at)
		VALUES ($1, $2, now() + $3::interval)`, hash[:], user, lives)
	return wrap("create password reset", err)
}

// PasswordResetOpen tells whether a link can be used. Only UsePasswordReset
// decides.
func (s *Store) PasswordResetOpen(ctx context.Context, hash [32]byte) (bool, error) {
	var open bool
	err := s.pool.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT
			FROM password_resets
			WHERE hash = $1
			  AND ends_at > now()
		)`, hash[:]).Scan(&open)
	return open, wrap("look for the password reset", err)
}

// UsePasswordReset uses a link up and returns whose password it sets. One that
// was used, or is over, is gateway.ErrNotFound.
//
// The promise: a link works once. Of two that delete it, one finds it. The
// person's row is locked first, as by whoever changes a password and ends all
// links: so none waits for another in a circle.
func (t Tx) UsePasswordReset(ctx context.Context, hash [32]byte) (gateway.UserID, error) {
	var user gateway.UserID
	err := t.tx.QueryRow(ctx, `
		WITH person AS (
			SELECT u.id
			FROM users u
			WHERE u.id = (SELECT user_id FROM password_resets WHERE hash = $1)
			FOR NO KEY UPDATE
		)
		DELETE FROM password_resets
		WHERE hash = $1
		  AND user_id = (SELECT id FROM person)
		  AND ends_at > clock_timestamp()
		RETURNING user_id`, hash[:]).Scan(&user)
	return user, wrap("use password reset", err)
}

// EndPasswordResets ends all links of a person.
func (t Tx) EndPasswordResets(ctx context.Context, user gateway.UserID) error {
	_, err := t.tx.Exec(ctx, `DELETE FROM password_resets WHERE user_id = $1`, user)
	return wrap("end password resets", err)
}

// PrunePasswordResets deletes the links whose time is over.
func (s *Store) PrunePasswordResets(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM password_resets WHERE ends_at <= now()`)
	return wrap("prune password resets", err)
}
