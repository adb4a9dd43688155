package store

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
)

// AcceptRequest marks a refused request as accepted, with the first event that
// came of it, and tells whether it was not yet.
//
// The promise: a refused request is accepted once, however often its button is
// pressed. What was taken in already, or never was an event, cannot be.
func (t Tx) AcceptRequest(ctx context.Context, account gateway.AccountID, source gateway.SourceID, id gateway.RequestID, event gateway.EventID) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE requests
		SET accepted_at = clock_timestamp(), event_id = $4
		WHERE id = $1
		  AND source_id = $2
		  AND account_id = $3
		  AND accepted_at IS NULL
		  AND cause NOT IN ('duplicate', 'handshake')`, id, source, account, event)
	return tag.RowsAffected() == 1, wrap("accept request", err)
}
