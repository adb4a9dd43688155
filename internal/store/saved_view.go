package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// SavedViews lists a person's views of an account, the oldest first.
func (s *Store) SavedViews(ctx context.Context, account gateway.AccountID, person gateway.UserID) ([]gateway.SavedView, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT name, query, created_at
		FROM saved_views
		WHERE account_id = $1
		  AND user_id = $2
		ORDER BY created_at, name`, account, person)
	if err != nil {
		return nil, wrap("list saved views", err)
	}
	views, err := pgx.CollectRows(rows, pgx.RowToStructByPos[gateway.SavedView])
	return views, wrap("list saved views", err)
}

// SaveView keeps a view under its name; one that had the name before is replaced.
// One too many is gateway.ErrLimitReached; gateway.ErrNotFound is somebody who is
// no member.
//
// The promise: nobody has more than gateway.MaxSavedViews, however many are saved
// at once: one is saved after the other, under the member's lock.
func (t Tx) SaveView(ctx context.Context, account gateway.AccountID, person gateway.UserID, v gateway.SavedView) error {
	tag, err := t.tx.Exec(ctx, `
		SELECT
		FROM members
		WHERE account_id = $1
		  AND user_id = $2
		FOR NO KEY UPDATE`, account, person)
	if err != nil {
		return wrap("save view", err)
	}
	if tag.RowsAffected() == 0 {
		return wrap("save view", gateway.ErrNotFound)
	}
	tag, err = t.tx.Exec(ctx, `
		INSERT INTO saved_views (account_id, user_id, name, query)
		SELECT $1, $2, $3, $4
		WHERE (
			SELECT count(*)
			FROM saved_views
			WHERE account_id = $1
			  AND user_id = $2
			  AND name <> $3
		) < $5
		ON CONFLICT (account_id, user_id, name) DO UPDATE
		SET query = EXCLUDED.query`, account, person, v.Name, v.Query, gateway.MaxSavedViews)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrLimitReached
	}
	return wrap("save view", err)
}

// DeleteView deletes a view, and tells whether there was one.
func (t Tx) DeleteView(ctx context.Context, account gateway.AccountID, person gateway.UserID, name string) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		DELETE FROM saved_views
		WHERE account_id = $1
		  AND user_id = $2
		  AND name = $3`, account, person, name)
	return tag.RowsAffected() == 1, wrap("delete view", err)
}
