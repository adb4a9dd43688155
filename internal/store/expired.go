package store

import (
	"context"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// missing turns "not found" for something of a time into gateway.ErrExpired
// when it may have been there: the account existed then, and the day has gone
// with its retention.
func (s *Store) missing(ctx context.Context, account gateway.AccountID, made time.Time, err error) error {
	if !errors.Is(err, gateway.ErrNotFound) {
		return err
	}
	var expired bool
	asked := s.pool.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT 1
			FROM accounts
			WHERE id = $1
			  AND created_at <= $2)
		  AND $2 < now()
		  AND to_regclass('events_' || to_char($2::timestamptz AT TIME ZONE 'UTC', 'YYYYMMDD')) IS NULL`,
		account, made).Scan(&expired)
	switch {
	case asked != nil:
		return wrap("look for the day", asked)
	case expired:
		return wrap("read something old", gateway.ErrExpired)
	}
	return err
}
