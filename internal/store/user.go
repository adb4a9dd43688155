package store

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
)

// User is a person who can be a member of accounts. The hash of the password
// is no part of it, so that it cannot be shown by accident.
type User struct {
	ID    gateway.UserID
	Email string
	Name  string
}

// CreateUser makes a person. An empty hash is a password that nothing matches.
//
// The promise: an address, in whatever case it is written, belongs to one
// person. The unique index decides: gateway.ErrEmailTaken.
func (t Tx) CreateUser(ctx context.Context, u User, passwordHash string) error {
	_, err := t.tx.Exec(ctx, `
		INSERT INTO users (id, email, name, password_hash)
		VALUES ($1, $2, $3, $4)`, u.ID, u.Email, u.Name, passwordHash)
	return wrap("create user", err)
}

// AddMember makes a person a member of an account.
func (t Tx) AddMember(ctx context.Context, account gateway.AccountID, user gateway.UserID, role gateway.Role) error {
	_, err := t.tx.Exec(ctx, `
		INSERT INTO members (account_id, user_id, role)
		VALUES ($1, $2, $3)`, account, user, role)
	return wrap("add member", err)
}

// ClaimInstance makes a person the owner of the whole instance, if it has
// none, and tells whether it did.
//
// The promise: an instance has one owner, the first who came. Its table takes
// one row.
func (t Tx) ClaimInstance(ctx context.Context, user gateway.UserID) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		INSERT INTO instance_owner (user_id)
		VALUES ($1)
		ON CONFLICT DO NOTHING`, user)
	return tag.RowsAffected() == 1, wrap("claim instance", err)
}

// SetPassword replaces the hash of a person's password and tells whether it
// did.
//
// The promise: a password is changed by who knows the present one. The hash
// that was checked must still be there.
func (t Tx) SetPassword(ctx context.Context, user gateway.UserID, from, to string) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE users
		SET password_hash = $3
		WHERE id = $1
		  AND password_hash = $2`, user, from, to)
	return tag.RowsAffected() == 1, wrap("set password", err)
}

// ResetPassword replaces the hash of a person's password, whatever it was, and
// returns the person's address.
func (t Tx) ResetPassword(ctx context.Context, user gateway.UserID, hash string) (email string, err error) {
	err = t.tx.QueryRow(ctx, `
		UPDATE users
		SET password_hash = $2
		WHERE id = $1
		RETURNING email`, user, hash).Scan(&email)
	return email, wrap("reset password", err)
}

// RenameUser sets a person's name, and tells whether it was another; one who is
// not there is gateway.ErrNotFound.
//
// The promise: of many at once with one name, one changes it. The former name is
// compared where it is written.
func (t Tx) RenameUser(ctx context.Context, user gateway.UserID, name string) (changed bool, err error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE users
		SET name = $2
		WHERE id = $1
		  AND name <> $2`, user, name)
	if err != nil || tag.RowsAffected() == 1 {
		return err == nil, wrap("rename user", err)
	}
	var known bool
	err = t.tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM users WHERE id = $1)`, user).Scan(&known)
	if err == nil && !known {
		err = gateway.ErrNotFound
	}
	return false, wrap("rename user", err)
}

// VisitAccount remembers the account that a person looks at, if it is another
// than before and they are a member of it.
func (s *Store) VisitAccount(ctx context.Context, user gateway.UserID, account gateway.AccountID) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE users
		SET last_account_id = $2
		WHERE id = $1
		  AND last_account_id IS DISTINCT FROM $2
		  AND EXISTS (
			SELECT
			FROM members
			WHERE account_id = $2
			  AND user_id = $1
		)`, user, account)
	return wrap("remember the account", err)
}
