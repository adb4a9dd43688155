package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// CountStuck counts the claims whose lease has ended while somebody held them,
// up to most.
func (s *Store) CountStuck(ctx context.Context, account gateway.AccountID, most int) (n int, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT count(*)
		FROM (
			SELECT
			FROM claims
			WHERE account_id = $1
			  AND state = 'in_progress'
			  AND lease_expires_at <= now()
			LIMIT $2
		) c`, account, most).Scan(&n)
	return n, wrap("count stuck claims", err)
}

// LongestStuck are the claims whose lease ended first of those that are stuck.
func (s *Store) LongestStuck(ctx context.Context, account gateway.AccountID, limit int) ([]gateway.Claim, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+claimFields+`
		FROM claims
		WHERE account_id = $1
		  AND state = 'in_progress'
		  AND lease_expires_at <= now()
		ORDER BY lease_expires_at, id
		LIMIT $2`, account, limit)
	if err != nil {
		return nil, wrap("list stuck claims", err)
	}
	claims, err := pgx.CollectRows(rows, scanClaim)
	return claims, wrap("list stuck claims", err)
}

// CountWaiting counts the deliveries that wait for each of some claims, up to
// most each. Claims for which none waits are left out.
func (s *Store) CountWaiting(ctx context.Context, account gateway.AccountID, claims []gateway.ClaimID, most int) (map[gateway.ClaimID]int, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT c.id, w.n
		FROM claims c
		CROSS JOIN LATERAL (
			SELECT count(*) AS n
			FROM (
				SELECT
				FROM deliveries
				WHERE waiting_on = c.id
				  AND status = 'pending'
				  AND `+notAhead+`
				LIMIT $3
			) d
		) w
		WHERE c.id = ANY ($2)
		  AND c.account_id = $1
		  AND c.state <> 'done'
		  AND c.waited
		  AND w.n > 0`, account, claims, most)
	if err != nil {
		return nil, wrap("count who waits", err)
	}
	waiting := make(map[gateway.ClaimID]int, len(claims))
	var id gateway.ClaimID
	var n int
	_, err = pgx.ForEachRow(rows, []any{&id, &n}, func() error {
		waiting[id] = n
		return nil
	})
	return waiting, wrap("count who waits", err)
}

// LastHolds reads how the last holder of each of some claims fares or fared.
func (s *Store) LastHolds(ctx context.Context, account gateway.AccountID, claims []gateway.ClaimID) (map[gateway.ClaimID]gateway.Hold, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT c.id, h.fence, h.holder, h.delivery_id, h.claimed_at, h.lease_expires_at, h.ended_at, coalesce(h.ended, ''), h.actor, h.reason
		FROM claims c
		JOIN claim_holds h
		  ON h.claim_id = c.id
		 AND h.fence = c.fence
		WHERE c.id = ANY ($2)
		  AND c.account_id = $1`, account, claims)
	if err != nil {
		return nil, wrap("read last holders", err)
	}
	holds := make(map[gateway.ClaimID]gateway.Hold, len(claims))
	var id gateway.ClaimID
	var h gateway.Hold
	_, err = pgx.ForEachRow(rows, []any{&id, &h.Fence, &h.Holder, &h.DeliveryID, &h.ClaimedAt, &h.LeaseExpiresAt, &h.EndedAt, &h.Ended, &h.Actor, &h.Reason}, func() error {
		holds[id] = h
		return nil
	})
	return holds, wrap("read last holders", err)
}

// ClaimScope is a scope under which an account has claims.
type ClaimScope struct {
	Scope string
	// Lease is for how long its newest key was claimed last.
	Lease time.Duration
}

// ClaimScopes lists scopes by name, the first of those at or after one. It walks
// the index from scope to scope, however many claims each has.
func (s *Store) ClaimScopes(ctx context.Context, account gateway.AccountID, from string, limit int) ([]ClaimScope, error) {
	rows, err := s.pool.Query(ctx, `
		WITH RECURSIVE walk (scope) AS (
			(SELECT scope
			FROM claims
			WHERE account_id = $1
			  AND scope >= $2
			ORDER BY scope
			LIMIT 1)
			UNION ALL
			SELECT (
				SELECT c.scope
				FROM claims c
				WHERE c.account_id = $1
				  AND c.scope > w.scope
				ORDER BY c.scope
				LIMIT 1)
			FROM walk w
			WHERE w.scope IS NOT NULL
		), listed AS (
			SELECT scope
			FROM walk
			WHERE scope IS NOT NULL
			LIMIT $3
		)
		SELECT listed.scope, newest.lease
		FROM listed
		CROSS JOIN LATERAL (
			SELECT lease_expires_at - claimed_at AS lease
			FROM claims
			WHERE account_id = $1
			  AND scope = listed.scope
			ORDER BY id DESC
			LIMIT 1
		) newest
		ORDER BY listed.scope`, account, from, limit)
	if err != nil {
		return nil, wrap("list scopes", err)
	}
	scopes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ClaimScope])
	return scopes, wrap("list scopes", err)
}

// ClaimPulse tells whether something happened in the ledger since a page was
// read: a hint, which nothing depends on.
type ClaimPulse struct {
	// New is how many keys were claimed for the first time, up to MaxNewEvents.
	New int
	// Open is how the claims that are not done stand: when it has changed, so have
	// they.
	Open OpenClaims
}

// OpenClaims are counts up to MaxNewEvents, and the last end of a lease.
type OpenClaims struct {
	ClaimCounts

	LastLease time.Time
}

// ClaimPulse looks at the ledger after a claim. It is asked every second, by
// every page of claims that is open, and reads few rows of two indexes.
func (s *Store) ClaimPulse(ctx context.Context, account gateway.AccountID, after gateway.ClaimID) (p ClaimPulse, err error) {
	if p.Open.ClaimCounts, err = s.CountClaims(ctx, account, MaxNewEvents); err != nil {
		return p, err
	}
	var last *time.Time
	err = s.pool.QueryRow(ctx, `
		SELECT (
			SELECT count(*)
			FROM (
				SELECT
				FROM claims
				WHERE account_id = $1
				  AND id > $2
				LIMIT $3
			) c
		), (
			SELECT max(lease_expires_at)
			FROM claims
			WHERE account_id = $1
			  AND state = 'in_progress'
		)`, account, after, MaxNewEvents).Scan(&p.New, &last)
	if last != nil {
		p.Open.LastLease = *last
	}
	return p, wrap("feel the pulse of the ledger", err)
}
