package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const claimFields = `id, account_id, scope, key, coalesce(event_type, ''), coalesce(subject, ''), state, holder, delivery_id, fence, on_doubt,
	claimed_at, lease_expires_at, ended_at, result`

func claimTargets(c *gateway.Claim) []any {
	return []any{
		&c.ID, &c.AccountID, &c.Scope, &c.Key, &c.EventType, &c.Subject, &c.State, &c.Holder, &c.DeliveryID, &c.Fence, &c.OnDoubt,
		&c.ClaimedAt, &c.LeaseExpiresAt, &c.EndedAt, &c.Result,
	}
}

func scanClaim(row pgx.CollectableRow) (c gateway.Claim, err error) {
	return c, row.Scan(claimTargets(&c)...)
}

// NewClaim is what a caller of the ledger asks for.
type NewClaim struct {
	// ID is the claim's if the key is new.
	ID         gateway.ClaimID
	Scope, Key string
	Lease      time.Duration
	Holder     string
	// CallHash tells calls apart that a caller may repeat; nil for none.
	CallHash []byte
}

// Claim claims a key, or tells how it stands: won means that the caller holds
// it, with the fence that is returned. The row is locked either way, so that
// what is returned is true until the transaction ends.
//
// The promise: of all who claim a key one holds it. A claim is taken when it is
// new, was released, or its lease has ended, by the database's clock at the
// moment when the row is ours; each holder's fence is larger than the one
// before. A caller that asks again, since its answer was lost, holds what it
// held.
func (t Tx) Claim(ctx context.Context, account gateway.AccountID, n NewClaim) (c gateway.Claim, won bool, err error) {
	hash := gateway.HashClaimKey(n.Key)
	rows, err := t.tx.Query(ctx, `
		WITH claimed AS (
			INSERT INTO claims AS c (id, account_id, scope, key_hash, key, state, holder, call_hash, fence, on_doubt, claimed_at, lease_expires_at)
			VALUES (@id, @account, @scope, @hash, @key, 'in_progress', @holder, @call, 1, 'resend', clock_timestamp(), clock_timestamp() + @lease::interval)
			ON CONFLICT (account_id, scope, key_hash) DO UPDATE
			SET state = 'in_progress',
			    holder = @holder,
			    call_hash = @call,
			    fence = c.fence + 1,
			    claimed_at = clock_timestamp(),
			    lease_expires_at = clock_timestamp() + @lease::interval,
			    ended_at = NULL
			WHERE c.state = 'released'
			   OR (c.state = 'in_progress' AND c.lease_expires_at < clock_timestamp() AND c.on_doubt = 'resend')
			RETURNING *
		), held AS (
			INSERT INTO claim_holds (claim_id, fence, account_id, scope, holder, claimed_at, lease_expires_at)
			SELECT id, fence, account_id, scope, holder, claimed_at, lease_expires_at
			FROM claimed
		)
		SELECT `+claimFields+`
		FROM claimed`, pgx.NamedArgs{
		"id": n.ID, "account": account, "scope": n.Scope, "hash": hash, "key": n.Key,
		"holder": n.Holder, "call": n.CallHash, "lease": n.Lease,
	})
	if err != nil {
		return c, false, wrap("claim", err)
	}
	c, err = pgx.CollectExactlyOneRow(rows, scanClaim)
	if err == nil || !errors.Is(err, pgx.ErrNoRows) {
		return c, err == nil, wrap("claim", err)
	}
	var mine bool
	err = t.tx.QueryRow(ctx, `
		SELECT `+claimFields+`, coalesce(state = 'in_progress' AND call_hash = $4, false)
		FROM claims
		WHERE account_id = $1
		  AND scope = $2
		  AND key_hash = $3`, account, n.Scope, hash, n.CallHash).Scan(append(claimTargets(&c), &mine)...)
	return c, mine, wrap("look who holds the claim", err)
}

// CompleteClaim ends a claim for good, with the result that the holder wants to
// be kept. It returns false when the claim is not that holder's any more.
//
// The promise: a claim is completed once, by the one whose fence it has. A
// holder that lost its lease to another cannot end what it no longer owns.
func (t Tx) CompleteClaim(ctx context.Context, account gateway.AccountID, id gateway.ClaimID, fence int64, result []byte) (gateway.Claim, bool, error) {
	return t.endClaim(ctx, "complete claim", `
		UPDATE claims
		SET state = 'done', ended_at = clock_timestamp(), result = @result
		WHERE id = @id
		  AND account_id = @account
		  AND fence = @fence
		  AND state = 'in_progress'
		  AND event_type IS NULL`,
		pgx.NamedArgs{"id": id, "account": account, "fence": fence, "result": result}, gateway.HoldCompleted, "", "")
}

// ReleaseClaim gives a claim back, so that the next who asks holds it. It
// returns false when the claim is not that holder's any more.
//
// The promise: as CompleteClaim.
func (t Tx) ReleaseClaim(ctx context.Context, account gateway.AccountID, id gateway.ClaimID, fence int64) (gateway.Claim, bool, error) {
	return t.endClaim(ctx, "release claim", `
		UPDATE claims
		SET state = 'released', ended_at = clock_timestamp()
		WHERE id = @id
		  AND account_id = @account
		  AND fence = @fence
		  AND state = 'in_progress'
		  AND event_type IS NULL`,
		pgx.NamedArgs{"id": id, "account": account, "fence": fence}, gateway.HoldReleased, "", "")
}

// ExtendClaim has a claim's lease end so long from now. It returns false when
// the claim is not that holder's any more.
//
// The promise: as CompleteClaim.
func (t Tx) ExtendClaim(ctx context.Context, account gateway.AccountID, id gateway.ClaimID, fence int64, lease time.Duration) (c gateway.Claim, mine bool, err error) {
	return one(t.tx.Query(ctx, `
		WITH extended AS (
			UPDATE claims
			SET lease_expires_at = clock_timestamp() + $4::interval
			WHERE id = $1
			  AND account_id = $2
			  AND fence = $3
			  AND state = 'in_progress'
			  AND event_type IS NULL
			RETURNING *
		), held AS (
			UPDATE claim_holds h
			SET lease_expires_at = e.lease_expires_at
			FROM extended e
			WHERE h.claim_id = e.id
			  AND h.fence = e.fence
		)
		SELECT `+claimFields+`
		FROM extended`, id, account, fence, lease))("extend claim")
}

// ReclaimClaim frees a claim that somebody holds, whether its lease has ended
// or not, and says who did it and why. A fence above zero is the one that the
// presser saw. It returns false when there was nothing to free.
//
// The promise: a holder is freed of its claim once, and cannot end it any more.
// Nobody is taken for the holder that was seen.
func (t Tx) ReclaimClaim(ctx context.Context, account gateway.AccountID, id gateway.ClaimID, fence int64, actor gateway.Actor, reason string) (gateway.Claim, bool, error) {
	return t.endClaim(ctx, "reclaim", `
		UPDATE claims
		SET state = 'released', ended_at = clock_timestamp()
		WHERE id = @id
		  AND account_id = @account
		  AND (@fence::bigint = 0 OR fence = @fence)
		  AND state = 'in_progress'`,
		pgx.NamedArgs{"id": id, "account": account, "fence": fence}, gateway.HoldReclaimed, actor, reason)
}

// ResolveClaim says for a holder that the thing is done. It returns false when
// the claim has another fence, or is done.
//
// The promise: as CompleteClaim.
func (t Tx) ResolveClaim(ctx context.Context, account gateway.AccountID, id gateway.ClaimID, fence int64, actor gateway.Actor, reason string) (gateway.Claim, bool, error) {
	return t.endClaim(ctx, "resolve claim", `
		UPDATE claims
		SET state = 'done', ended_at = clock_timestamp()
		WHERE id = @id
		  AND account_id = @account
		  AND fence = @fence
		  AND state <> 'done'`,
		pgx.NamedArgs{"id": id, "account": account, "fence": fence}, gateway.HoldResolved, actor, reason)
}

// endClaim runs the guarded update that ends a claim, and writes down how its
// holder's time ended, in one statement.
func (t Tx) endClaim(ctx context.Context, doing, update string, args pgx.NamedArgs, end gateway.HoldEnd, actor gateway.Actor, reason string) (gateway.Claim, bool, error) {
	args["end"], args["actor"], args["reason"] = string(end), string(actor), reason
	return one(t.tx.Query(ctx, `
		WITH ended AS (`+update+`
			RETURNING *
		), held AS (
			UPDATE claim_holds h
			SET ended_at = e.ended_at, ended = @end, actor = @actor, reason = @reason
			FROM ended e
			WHERE h.claim_id = e.id
			  AND h.fence = e.fence
		)
		SELECT `+claimFields+`
		FROM ended`, args))(doing)
}

// one reads the claim that a guarded statement changed; false is that it
// changed none.
func one(rows pgx.Rows, err error) func(doing string) (gateway.Claim, bool, error) {
	return func(doing string) (c gateway.Claim, changed bool, _ error) {
		if err != nil {
			return c, false, wrap(doing, err)
		}
		c, err := pgx.CollectExactlyOneRow(rows, scanClaim)
		if errors.Is(err, pgx.ErrNoRows) {
			return c, false, nil
		}
		return c, err == nil, wrap(doing, err)
	}
}

// HoldEnd tells how the time of the holder with a fence ended; empty when it
// has not, and when there is no such holder.
func (t Tx) HoldEnd(ctx context.Context, account gateway.AccountID, id gateway.ClaimID, fence int64) (end gateway.HoldEnd, err error) {
	err = t.tx.QueryRow(ctx, `
		SELECT coalesce(ended, '')
		FROM claim_holds
		WHERE claim_id = $1
		  AND account_id = $2
		  AND fence = $3`, id, account, fence).Scan(&end)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return end, wrap("look how a hold ended", err)
}
