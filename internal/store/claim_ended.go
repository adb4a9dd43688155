package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// EndedClaims are claims that somebody holds and whose lease has ended.
type EndedClaims struct {
	ClaimFilter

	// Until is when somebody looked: what has ended since is not meant.
	Until time.Time
}

// ReclaimEnded frees claims whose lease had ended when somebody looked and has
// not been renewed since, at most limit a call, the longest ended first. It says
// who did it and why, and returns what it freed. What somebody else is at at this
// moment is left to them.
//
// The promise: as ReclaimClaim; and a claim whose lease lasts is not freed,
// whatever was seen of it before.
func (t Tx) ReclaimEnded(ctx context.Context, account gateway.AccountID, e EndedClaims, limit int, actor gateway.Actor, reason string) ([]gateway.Claim, error) {
	q := &query{}
	q.put(`
		WITH picked AS (
			SELECT id
			FROM claims
			WHERE`)
	e.narrow(q, account)
	q.add(`
			ORDER BY lease_expires_at, id
			LIMIT `, limit)
	q.put(`
			FOR UPDATE SKIP LOCKED
		), ended AS (
			UPDATE claims
			SET state = 'released', ended_at = clock_timestamp()
			WHERE id = ANY (ARRAY(SELECT id FROM picked))
			  AND state = 'in_progress'
			  AND lease_expires_at <= now()
			RETURNING *
		), held AS (
			UPDATE claim_holds h
			SET ended_at = e.ended_at, ended = 'reclaimed'`)
	q.add(`, actor = `, string(actor))
	q.add(`, reason = `, reason)
	q.put(`
			FROM ended e
			WHERE h.claim_id = e.id
			  AND h.fence = e.fence
		)
		SELECT ` + claimFields + `
		FROM ended`)
	rows, err := t.tx.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("reclaim what has ended", err)
	}
	claims, err := pgx.CollectRows(rows, scanClaim)
	return claims, wrap("reclaim what has ended", err)
}

func (e EndedClaims) narrow(q *query, account gateway.AccountID) {
	e.Stuck = true
	q.add(` account_id = `, account)
	e.ClaimFilter.narrow(q)
	q.add(` AND lease_expires_at <= `, e.Until)
}

// CountEnded counts what ReclaimEnded would free, up to most.
func (s *Store) CountEnded(ctx context.Context, account gateway.AccountID, e EndedClaims, most int) (n int, err error) {
	q := &query{}
	q.put(`
		SELECT count(*)
		FROM (
			SELECT
			FROM claims
			WHERE`)
	e.narrow(q, account)
	q.add(`
			LIMIT `, most)
	q.put(`
		) e`)
	err = s.pool.QueryRow(ctx, q.sql(), q.args...).Scan(&n)
	return n, wrap("count ended claims", err)
}
