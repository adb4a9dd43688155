package store

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
)

// HasOwner tells whether the instance has an owner.
func (s *Store) HasOwner(ctx context.Context) (bool, error) {
	var has bool
	err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM instance_owner)`).Scan(&has)
	return has, wrap("look for the instance's owner", err)
}

// OwnsInstance tells whether the instance is this person's.
func (t Tx) OwnsInstance(ctx context.Context, user gateway.UserID) (bool, error) {
	var owns bool
	err := t.tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM instance_owner WHERE user_id = $1)`, user).Scan(&owns)
	return owns, wrap("look for the instance's owner", err)
}

// CreateSetupToken stores a token with which the first person can sign up, and
// tells whether it did: not once the instance has an owner.
func (s *Store) CreateSetupToken(ctx context.Context, hash [32]byte) (bool, error) {
	tag, err := s.pool.Exec(ctx, `
		INSERT INTO setup_tokens (hash)
		SELECT $1::bytea
		WHERE NOT EXISTS (SELECT FROM instance_owner)`, hash[:])
	return tag.RowsAffected() == 1, wrap("create set-up token", err)
}

// SetupTokenOpen tells whether the instance has an owner, and whether a token
// is there with which the first person can sign up, both at one time. Only
// ClaimInstance and UseSetupToken decide.
func (s *Store) SetupTokenOpen(ctx context.Context, hash [32]byte) (hasOwner, open bool, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM instance_owner),
		       EXISTS (SELECT FROM setup_tokens WHERE hash = $1)`, hash[:]).Scan(&hasOwner, &open)
	return hasOwner, open, wrap("look for the set-up token", err)
}

// UseSetupToken uses a token up and tells whether it was there.
//
// The promise: a token is used once. Of two that delete it, one finds it.
func (t Tx) UseSetupToken(ctx context.Context, hash [32]byte) (bool, error) {
	tag, err := t.tx.Exec(ctx, `DELETE FROM setup_tokens WHERE hash = $1`, hash[:])
	return tag.RowsAffected() == 1, wrap("use set-up token", err)
}

// EndSetupTokens ends all tokens: the instance has its owner.
func (t Tx) EndSetupTokens(ctx context.Context) error {
	_, err := t.tx.Exec(ctx, `DELETE FROM setup_tokens`)
	return wrap("end set-up tokens", err)
}

// PruneSetupTokens deletes the tokens of an instance that has an owner: a node
// may have made one while the owner signed up.
func (s *Store) PruneSetupTokens(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `
		DELETE FROM setup_tokens
		WHERE EXISTS (SELECT FROM instance_owner)`)
	return wrap("prune set-up tokens", err)
}
