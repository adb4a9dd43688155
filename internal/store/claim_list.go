package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Claim reads one claim.
func (s *Store) Claim(ctx context.Context, account gateway.AccountID, id gateway.ClaimID) (gateway.Claim, error) {
	return readClaim(ctx, s.pool, account, id)
}

// ClaimNow reads one claim within the transaction.
func (t Tx) ClaimNow(ctx context.Context, account gateway.AccountID, id gateway.ClaimID) (gateway.Claim, error) {
	return readClaim(ctx, t.tx, account, id)
}

func readClaim(ctx context.Context, q querier, account gateway.AccountID, id gateway.ClaimID) (c gateway.Claim, err error) {
	rows, err := q.Query(ctx, `
		SELECT `+claimFields+`
		FROM claims
		WHERE id = $1
		  AND account_id = $2`, id, account)
	if err != nil {
		return c, wrap("read claim", err)
	}
	c, err = pgx.CollectExactlyOneRow(rows, scanClaim)
	return c, wrap("read claim", err)
}

// Holds lists the holders that a claim had, the newest first.
func (s *Store) Holds(ctx context.Context, account gateway.AccountID, id gateway.ClaimID, limit int) ([]gateway.Hold, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT fence, holder, delivery_id, claimed_at, lease_expires_at, ended_at, coalesce(ended, ''), actor, reason
		FROM claim_holds
		WHERE claim_id = $1
		  AND account_id = $2
		ORDER BY fence DESC
		LIMIT $3`, id, account, limit)
	if err != nil {
		return nil, wrap("list holders", err)
	}
	holds, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h gateway.Hold, err error) {
		return h, row.Scan(&h.Fence, &h.Holder, &h.DeliveryID, &h.ClaimedAt, &h.LeaseExpiresAt, &h.EndedAt, &h.Ended, &h.Actor, &h.Reason)
	})
	return holds, wrap("list holders", err)
}

// ClaimFilter narrows a list of claims; what is zero narrows nothing.
type ClaimFilter struct {
	Scope, Key, Subject string
	// Text is a key or a subject.
	Text  string
	State gateway.ClaimState
	// Stuck are those whose lease has ended while somebody held them, Live those
	// whose lease lasts.
	Stuck, Live bool
	// IDs are single ones; nil for all.
	IDs []gateway.ClaimID
}

// Claims lists an account's claims, newest first.
func (s *Store) Claims(ctx context.Context, account gateway.AccountID, f ClaimFilter, page Page[gateway.ClaimID]) ([]gateway.Claim, error) {
	q := &query{}
	q.put(`
		SELECT ` + claimFields + `
		FROM claims
		WHERE`)
	q.add(` account_id = `, account)
	f.narrow(q)
	low, high := page.bounds()
	addRange(q, "id", low, high)
	q.add(`
		ORDER BY id DESC
		LIMIT `, page.Limit)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("list claims", err)
	}
	claims, err := pgx.CollectRows(rows, scanClaim)
	return claims, wrap("list claims", err)
}

func (f ClaimFilter) narrow(q *query) {
	if f.Scope != "" {
		q.add(` AND scope = `, f.Scope)
	}
	if f.Key != "" {
		q.add(` AND key_hash = `, gateway.HashClaimKey(f.Key))
	}
	if f.Subject != "" {
		q.add(` AND subject = `, f.Subject)
	}
	if f.Text != "" {
		q.add(` AND (key_hash = `, gateway.HashClaimKey(f.Text))
		q.add(` OR subject = `, f.Text)
		q.put(`)`)
	}
	if f.IDs != nil {
		q.add(` AND id = ANY (`, f.IDs)
		q.put(`)`)
	}
	switch {
	case f.Stuck:
		q.put(` AND state = 'in_progress' AND lease_expires_at <= now()`)
	case f.Live:
		q.put(` AND state = 'in_progress' AND lease_expires_at > now()`)
	case f.State == gateway.ClaimDone:
		q.put(` AND state = 'done'`)
	case f.State != "":
		// Said so that the index of what is not done serves it.
		q.put(` AND state <> 'done'`)
		q.add(` AND state = `, string(f.State))
	}
}

// ClaimCounts are how many claims of an account are in which state, those that
// are not done, each up to what was asked for.
type ClaimCounts struct {
	// InProgress are those whose lease lasts, Stuck those whose lease has ended.
	InProgress, Stuck, Released int
}

// CountClaims counts what is not done, each kind up to most.
func (s *Store) CountClaims(ctx context.Context, account gateway.AccountID, most int) (n ClaimCounts, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM (
		          SELECT FROM claims WHERE account_id = $1 AND state = 'in_progress' AND lease_expires_at > now() LIMIT $2) a),
		       (SELECT count(*) FROM (
		          SELECT FROM claims WHERE account_id = $1 AND state = 'in_progress' AND lease_expires_at <= now() LIMIT $2) b),
		       (SELECT count(*) FROM (
		          SELECT FROM claims WHERE account_id = $1 AND state <> 'done' AND state = 'released' LIMIT $2) c)`,
		account, most).Scan(&n.InProgress, &n.Stuck, &n.Released)
	return n, wrap("count claims", err)
}

// WorkTime is how long completed work under a scope took.
type WorkTime struct {
	// N is how many were looked at.
	N           int
	Median, P95 time.Duration
}

// WorkTimes tells how long completed work under scopes took, of those that
// ended since a time the newest, at most limit each.
func (s *Store) WorkTimes(ctx context.Context, account gateway.AccountID, scopes []string, since time.Time, limit int) (map[string]WorkTime, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT w.scope, h.n, h.median, h.p95
		FROM unnest($2::text[]) AS w (scope)
		CROSS JOIN LATERAL (
			SELECT count(*) AS n,
			       percentile_cont(0.5) WITHIN GROUP (ORDER BY took) AS median,
			       percentile_cont(0.95) WITHIN GROUP (ORDER BY took) AS p95
			FROM (
				SELECT ended_at - claimed_at AS took
				FROM claim_holds
				WHERE account_id = $1
				  AND scope = w.scope
				  AND ended = 'completed'
				  AND ended_at >= $3
				ORDER BY ended_at DESC
				LIMIT $4
			) t
		) h
		WHERE h.n > 0`, account, scopes, since, limit)
	if err != nil {
		return nil, wrap("measure work", err)
	}
	times := make(map[string]WorkTime, len(scopes))
	var scope string
	var w WorkTime
	_, err = pgx.ForEachRow(rows, []any{&scope, &w.N, &w.Median, &w.P95}, func() error {
		times[scope] = w
		return nil
	})
	return times, wrap("measure work", err)
}

// PruneClaims forgets claims of the ledger that ended before a time, at most
// limit a call, and returns how many. Those of single-fire types are kept, and
// those that somebody holds. While another node is at it, nothing is done.
func (s *Store) PruneClaims(ctx context.Context, before time.Time, limit int) (int64, error) {
	tag, err := s.pool.Exec(ctx, `
		DELETE FROM claims
		WHERE (SELECT pg_try_advisory_xact_lock($3))
		  AND id = ANY (ARRAY(
			SELECT id
			FROM claims
			WHERE ended_at < $1
			  AND state <> 'in_progress'
			  AND event_type IS NULL
			ORDER BY ended_at
			LIMIT $2
		))
		  AND ended_at < $1
		  AND state <> 'in_progress'
		  AND event_type IS NULL`, before, limit, int64(pruneClaimsLock))
	return tag.RowsAffected(), wrap("prune claims", err)
}
