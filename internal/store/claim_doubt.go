package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// NoteDoubt returns single-fire claims whose lease has ended and whose holder
// has not said how it went, of all accounts, and notes that it is told.
//
// The promise: each holder's doubt is told once, whoever looks, however often.
func (t Tx) NoteDoubt(ctx context.Context, limit int) ([]gateway.Claim, error) {
	rows, err := t.tx.Query(ctx, `
		UPDATE claims
		SET doubt_told = fence
		WHERE id = ANY (ARRAY(
			SELECT id
			FROM claims
			WHERE state = 'in_progress'
			  AND event_type IS NOT NULL
			  AND doubt_told < fence
			  AND lease_expires_at < now()
			ORDER BY lease_expires_at
			LIMIT $1
			FOR UPDATE SKIP LOCKED))
		  AND state = 'in_progress'
		  AND doubt_told < fence
		RETURNING `+claimFields, limit)
	if err != nil {
		return nil, wrap("look for claims in doubt", err)
	}
	claims, err := pgx.CollectRows(rows, scanClaim)
	return claims, wrap("look for claims in doubt", err)
}

// NoteDoubtBefore returns of claims that this transaction has claimed those
// whose holder before has not said how it went, as it held them, and notes that
// it is told.
//
// The promise: as NoteDoubt.
func (t Tx) NoteDoubtBefore(ctx context.Context, account gateway.AccountID, claims []gateway.ClaimID) ([]gateway.Claim, error) {
	if len(claims) == 0 {
		return nil, nil
	}
	rows, err := t.tx.Query(ctx, `
		UPDATE claims c
		SET doubt_told = h.fence
		FROM claim_holds h
		WHERE c.id = ANY ($2)
		  AND c.account_id = $1
		  AND h.claim_id = c.id
		  AND h.fence = c.fence - 1
		  AND h.ended IS NULL
		  AND c.doubt_told < h.fence
		RETURNING c.id, c.account_id, c.scope, c.key, coalesce(c.event_type, ''), coalesce(c.subject, ''), c.state, h.holder, h.delivery_id, h.fence,
		          c.on_doubt, h.claimed_at, h.lease_expires_at, c.ended_at, c.result`, account, claims)
	if err != nil {
		return nil, wrap("look who held the claims before", err)
	}
	held, err := pgx.CollectRows(rows, scanClaim)
	return held, wrap("look who held the claims before", err)
}
