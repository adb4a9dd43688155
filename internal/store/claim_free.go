package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
)

// repeats tells of a single-fire claim c that its type is single-fire no more.
const repeats = `NOT EXISTS (
		SELECT
		FROM event_types t
		WHERE t.account_id = c.account_id
		  AND t.name = c.event_type
		  AND t.single_fire)`

// Freed is what FreeWaiting has done.
type Freed struct {
	// N is how many deliveries go on, Lanes where they do.
	N     int
	Lanes []LaneRef
	// After is the claim behind which the next call looks, if there is More.
	After gateway.ClaimID
	More  bool
}

// FreeWaiting makes deliveries due now that wait for claims of an event type which
// is not single-fire, at most limit of them, of claims behind one, and wakes their
// lanes.
//
// The promise: nothing waits for the turn at a fact that nobody claims any more,
// and nothing is freed of a type that is single-fire. What somebody else is at is
// left to them, or to RepairTurns.
func (t Tx) FreeWaiting(ctx context.Context, account gateway.AccountID, eventType string, after gateway.ClaimID, limit int) (Freed, error) {
	freed := Freed{After: after}
	rows, err := t.tx.Query(ctx, `
		SELECT id
		FROM claims c
		WHERE id = ANY (ARRAY(
			SELECT id
			FROM claims
			WHERE account_id = $1
			  AND event_type = $2
			  AND waited
			  AND id > $3
			ORDER BY id
			LIMIT $4))
		  AND `+repeats+`
		ORDER BY scope, key_hash
		FOR UPDATE`, account, eventType, after, limit)
	if err != nil {
		return freed, wrap("look for claims of a type", err)
	}
	claims, err := pgx.CollectRows(rows, pgx.RowTo[gateway.ClaimID])
	if err != nil || len(claims) == 0 {
		return freed, wrap("look for claims of a type", err)
	}
	if freed.Lanes, freed.N, err = t.freeWaiting(ctx, claims, limit); err != nil {
		return freed, err
	}
	freed.More = freed.N == limit
	if !freed.More {
		_, freed.After = idRange(claims)
		freed.More = len(claims) == limit
	}
	return freed, nil
}

// freeWaiting makes what waits for claims due now, at most limit of them, and
// wakes the lanes. The caller has locked the claims.
func (t Tx) freeWaiting(ctx context.Context, claims []gateway.ClaimID, limit int) (lanes []LaneRef, n int, err error) {
	if len(claims) == 0 {
		return nil, 0, nil
	}
	rows, err := t.tx.Query(ctx, `
		WITH turn AS (
			SELECT id, account_id, endpoint_id
			FROM deliveries
			WHERE waiting_on = ANY ($1)
			  AND status = 'pending'
			  AND `+notAhead+`
			LIMIT $2
			FOR UPDATE SKIP LOCKED
		), given AS (`+giveTurn+`
		), woken AS (`+wakeTurn+`
		)
		SELECT account_id, endpoint_id, count(*)
		FROM turn
		GROUP BY 1, 2`, claims, limit)
	if err != nil {
		return nil, 0, wrap("free what waits", err)
	}
	var lane LaneRef
	var there int
	_, err = pgx.ForEachRow(rows, []any{&lane.AccountID, &lane.EndpointID, &there}, func() error {
		lanes, n = append(lanes, lane), n+there
		return nil
	})
	if err != nil {
		return nil, 0, wrap("free what waits", err)
	}
	if _, err := t.tx.Exec(ctx, noneWaits, claims); err != nil {
		return nil, 0, wrap("note that nobody waits", err)
	}
	return lanes, n, t.Enqueue(ctx, job.Delivers(lanes)...)
}
