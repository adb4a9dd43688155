package store

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// TakeCapture ends a source's wait for a secret that its provider sends, and
// tells whether it was waiting.
//
// The promise: of all secrets that are sent to a source that waits for one, one
// is taken, and none by a source that does not wait: nobody who knows an address
// can give it a key.
func (t Tx) TakeCapture(ctx context.Context, account gateway.AccountID, id gateway.SourceID) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE sources
		SET capture_until = NULL, updated_at = now()
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		  AND capture_until > clock_timestamp()`, id, account)
	return tag.RowsAffected() == 1, wrap("take the captured secret", err)
}

// AwaitCapture lets a source take the next secret that its provider sends,
// until a time.
func (t Tx) AwaitCapture(ctx context.Context, account gateway.AccountID, id gateway.SourceID, wait time.Duration) error {
	tag, err := t.tx.Exec(ctx, `
		UPDATE sources
		SET capture_until = clock_timestamp() + $3::interval, updated_at = now()
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL`, id, account, wait)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	return wrap("wait for a secret", err)
}
