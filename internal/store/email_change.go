package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// AskEmailChange stores the address that a person wants to log in with, by the
// hash of the token that its mailbox is sent, for a time. What was asked for
// before is worth nothing any more. It tells whether somebody has the address
// already: then the link is of no use, and is not to be sent.
func (t Tx) AskEmailChange(ctx context.Context, user gateway.UserID, email string, hash [32]byte, lives time.Duration) (taken bool, err error) {
	err = t.tx.QueryRow(ctx, `
		INSERT INTO email_changes (user_id, hash, email, ends_at)
		VALUES (@user, @hash, @email, now() + @lives::interval)
		ON CONFLICT (user_id) DO UPDATE
		SET hash = EXCLUDED.hash, email = EXCLUDED.email, created_at = now(), ends_at = EXCLUDED.ends_at
		RETURNING EXISTS (SELECT FROM users WHERE lower(users.email) = lower(@email))`,
		pgx.NamedArgs{"user": user, "hash": hash[:], "email": email, "lives": lives}).Scan(&taken)
	return taken, wrap("ask for another address", err)
}

// EmailChange finds the address that a person's link leads to. Only ChangeEmail
// decides. A link that was used, is over, or another person's is
// gateway.ErrNotFound.
func (s *Store) EmailChange(ctx context.Context, user gateway.UserID, hash [32]byte) (email string, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT email
		FROM email_changes
		WHERE user_id = $1
		  AND hash = $2
		  AND ends_at > now()`, user, hash[:]).Scan(&email)
	return email, wrap("look for the address", err)
}

// ChangedEmail is what a change of an address came to.
type ChangedEmail struct {
	From, To string
	// PasswordHash is that of the person's password, as it is while the
	// transaction holds their row.
	PasswordHash string
}

// ChangeEmail uses a link of a person's up and gives them the address that it
// was sent to. A link that was used, is over, or another person's is
// gateway.ErrNotFound; an address that somebody has by now is
// gateway.ErrEmailTaken.
//
// The promise: a link changes an address once. Of two that delete it, one finds
// it. The person's row is locked first, as by whoever changes a password and
// ends the link.
func (t Tx) ChangeEmail(ctx context.Context, user gateway.UserID, hash [32]byte) (c ChangedEmail, err error) {
	err = t.tx.QueryRow(ctx, `
		WITH person AS (
			SELECT id, email
			FROM users
			WHERE id = $1
			FOR NO KEY UPDATE
		), used AS (
			DELETE FROM email_changes
			WHERE user_id = (SELECT id FROM person)
			  AND hash = $2
			  AND ends_at > clock_timestamp()
			RETURNING user_id, email
		)
		UPDATE users u
		SET email = used.email
		FROM used, person
		WHERE u.id = used.user_id
		RETURNING person.email, u.email, u.password_hash`, user, hash[:]).Scan(&c.From, &c.To, &c.PasswordHash)
	return c, wrap("change address", err)
}

// EndEmailChange ends the link of a person's, if there is one.
func (t Tx) EndEmailChange(ctx context.Context, user gateway.UserID) error {
	_, err := t.tx.Exec(ctx, `DELETE FROM email_changes WHERE user_id = $1`, user)
	return wrap("end the change of the address", err)
}

// PruneEmailChanges deletes the links whose time is over.
func (s *Store) PruneEmailChanges(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM email_changes WHERE ends_at <= now()`)
	return wrap("prune changes of addresses", err)
}
