package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// WantedClaim is what a taken delivery of a single-fire type needs before it is
// sent.
type WantedClaim struct {
	Delivery gateway.DeliveryID
	Event    gateway.EventID
	// ID is the claim's if the key is new.
	ID gateway.ClaimID
	// Scope is the endpoint at the head of the failover chain.
	Scope              gateway.EndpointID
	EventType, Subject string
	OnDoubt            gateway.OnDoubt
}

// WonClaim is the right to send a delivery of a single-fire type.
type WonClaim struct {
	ID             gateway.ClaimID
	Fence          int64
	LeaseExpiresAt time.Time
	// Delivery is the one that holds it.
	Delivery gateway.DeliveryID
	// Overridden tells that the fact is done and is sent all the same: nobody
	// holds the claim, and nobody ends it.
	Overridden bool
}

// OverriddenClaim is what a fact that is done goes out under again: the same key
// as before. A fact that is not done has to be claimed: nil.
func (t Tx) OverriddenClaim(ctx context.Context, account gateway.AccountID, id gateway.ClaimID) (*WonClaim, error) {
	c, err := t.ClaimNow(ctx, account, id)
	if err != nil || c.State != gateway.ClaimDone {
		return nil, err
	}
	return &WonClaim{ID: c.ID, Fence: c.Fence, Overridden: true}, nil
}

// ClaimTaken claims the keys of deliveries that the lane has just taken, for a
// lease, and returns those that may be sent. The others are given back with
// their attempt uncounted: suppressed where the thing is done, else parked
// behind the claim, with the end of its lease as their alarm.
//
// The promise: a fact goes out under one holder at a time, and not at all once
// it is confirmed. A key is claimed when it is new, was released, or is in doubt
// and to be sent again. Keys come in order, and each once: lanes of one chain
// share keys. Whoever parks holds the claim's row until the transaction ends, so
// that whoever ends the claim sees it.
func (t Tx) ClaimTaken(ctx context.Context, lane Lane, wanted []WantedClaim, lease time.Duration) ([]WonClaim, error) {
	var c wantedColumns
	for _, w := range wanted {
		c.add(w)
	}
	rows, err := t.tx.Query(ctx, `
		WITH claimed AS (
			INSERT INTO claims AS c (id, account_id, scope, key_hash, key, event_type, subject, state, holder, delivery_id,
			                         fence, on_doubt, claimed_at, lease_expires_at)
			SELECT w.id, $1, w.scope, w.hash, w.key, w.event_type, w.subject, 'in_progress', w.holder, w.delivery_id,
			       1, w.on_doubt, clock_timestamp(), clock_timestamp() + $2::interval
			FROM (
				SELECT DISTINCT ON (scope, hash) *
				FROM unnest($3::uuid[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::text[], $9::text[], $10::uuid[], $11::text[])
				  WITH ORDINALITY AS w (id, scope, hash, key, event_type, subject, holder, delivery_id, on_doubt, n)
				ORDER BY scope, hash, n
			) w
			ON CONFLICT (account_id, scope, key_hash) DO UPDATE
			SET state = 'in_progress',
			    holder = EXCLUDED.holder,
			    delivery_id = EXCLUDED.delivery_id,
			    fence = c.fence + 1,
			    on_doubt = EXCLUDED.on_doubt,
			    claimed_at = clock_timestamp(),
			    lease_expires_at = clock_timestamp() + $2::interval,
			    ended_at = NULL
			WHERE c.state = 'released'
			   OR (c.state = 'in_progress' AND c.lease_expires_at < clock_timestamp() AND c.on_doubt = 'resend')
			RETURNING *
		), held AS (
			INSERT INTO claim_holds (claim_id, fence, account_id, scope, holder, delivery_id, claimed_at, lease_expires_at)
			SELECT id, fence, account_id, scope, holder, delivery_id, claimed_at, lease_expires_at
			FROM claimed
		)
		SELECT id, fence, lease_expires_at, delivery_id
		FROM claimed`,
		lane.AccountID, lease, c.ids, c.scopes, c.hashes, c.keys, c.types, c.subjects, c.holders, c.deliveries, c.doubts)
	if err != nil {
		return nil, wrap("claim what was taken", err)
	}
	won, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (w WonClaim, err error) {
		return w, row.Scan(&w.ID, &w.Fence, &w.LeaseExpiresAt, &w.Delivery)
	})
	if err != nil {
		return nil, wrap("claim what was taken", err)
	}
	return won, t.giveBackLost(ctx, lane, c, won)
}

// giveBackLost writes on taken deliveries which claim is theirs, and gives those
// back that did not win it.
func (t Tx) giveBackLost(ctx context.Context, lane Lane, c wantedColumns, won []WonClaim) error {
	winners := make([]gateway.DeliveryID, len(won))
	for i, w := range won {
		winners[i] = w.Delivery
	}
	low, high := idRange(c.deliveries)
	batch := &pgx.Batch{}
	batch.Queue(`
		UPDATE deliveries d
		SET claim_id = u.claim_id,
		    waiting_on = CASE WHEN u.verdict = 'pending' THEN u.claim_id END,
		    status = u.verdict,
		    attempts = d.attempts - CASE WHEN u.verdict = 'sending' THEN 0 ELSE 1 END,
		    step = d.step - CASE WHEN u.verdict = 'sending' THEN 0 ELSE 1 END,
		    next_attempt_at = CASE u.verdict WHEN 'sending' THEN d.next_attempt_at WHEN 'pending' THEN u.alarm END,
		    closed_at = CASE WHEN u.verdict = 'suppressed' THEN now() END
		FROM (
			SELECT w.delivery_id,
			       c.id AS claim_id,
			       CASE WHEN w.delivery_id = ANY ($6) THEN 'sending' WHEN c.state = 'done' THEN 'suppressed' ELSE 'pending' END AS verdict,
			       CASE WHEN c.on_doubt = 'resend' THEN c.lease_expires_at END AS alarm
			FROM unnest($3::text[], $4::bytea[], $5::uuid[]) AS w (scope, hash, delivery_id)
			JOIN claims c
			  ON c.account_id = $1
			 AND c.scope = w.scope
			 AND c.key_hash = w.hash
		) u
		WHERE d.id = u.delivery_id
		  AND d.id = ANY ($5)
		  AND d.id BETWEEN $7 AND $8
		  AND d.status = 'sending'
		  AND d.fence = $2`, lane.AccountID, lane.Fence, c.scopes, c.hashes, c.deliveries, winners, low, high)
	batch.Queue(`
		UPDATE claims
		SET waited = true
		WHERE id = ANY (ARRAY(
			SELECT waiting_on
			FROM deliveries
			WHERE id = ANY ($1)
			  AND id BETWEEN $2 AND $3
			  AND waiting_on IS NOT NULL))
		  AND NOT waited`, c.deliveries, low, high)
	return wrap("give back what lost its claim", t.tx.SendBatch(ctx, batch).Close())
}

// wantedColumns turns what is wanted into the arrays that one statement takes.
type wantedColumns struct {
	ids                                            []gateway.ClaimID
	scopes, keys, types, subjects, holders, doubts []string
	hashes                                         [][]byte
	deliveries                                     []gateway.DeliveryID
}

func (c *wantedColumns) add(w WantedClaim) {
	key := gateway.SingleFireKey(w.EventType, w.Subject)
	c.ids = append(c.ids, w.ID)
	c.scopes = append(c.scopes, w.Scope.String())
	c.hashes = append(c.hashes, gateway.HashClaimKey(key))
	c.keys = append(c.keys, key)
	c.types = append(c.types, w.EventType)
	c.subjects = append(c.subjects, w.Subject)
	c.holders = append(c.holders, w.Delivery.String())
	c.deliveries = append(c.deliveries, w.Delivery)
	c.doubts = append(c.doubts, string(w.OnDoubt))
}

// HeadsOf are, of events whose deliveries came to an endpoint by failing over,
// the endpoints at the heads of their chains: those that the events were for.
//
// A chain is followed along the deliveries, which say for whom they were made: it
// may have been another then, and longer. One that came round again, which none
// does, would be followed once.
func (t Tx) HeadsOf(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, events []gateway.EventID) (map[gateway.EventID]gateway.EndpointID, error) {
	if len(events) == 0 {
		return nil, nil
	}
	lows, highs, low, high := sameMilliseconds(events)
	// OFFSET has each delivery looked up by itself: else all of the account's since
	// the oldest may be read.
	rows, err := t.tx.Query(ctx, `
		WITH RECURSIVE chain AS (
			SELECT u.event_id, u.low, u.high, $2::uuid AS endpoint_id, 1 AS n
			FROM unnest($3::uuid[], $4::uuid[], $5::uuid[]) AS u (event_id, low, high)
			UNION ALL
			SELECT c.event_id, c.low, c.high, d.failover_of, c.n + 1
			FROM chain c
			CROSS JOIN LATERAL (
				SELECT failover_of
				FROM deliveries
				WHERE endpoint_id = c.endpoint_id
				  AND id >= c.low
				  AND id < c.high
				  AND id >= $6
				  AND id < $7
				  AND event_id = c.event_id
				  AND account_id = $1
				  AND failover_of IS NOT NULL
				OFFSET 0
			) d
		) CYCLE event_id, endpoint_id SET again USING path
		SELECT DISTINCT ON (event_id) event_id, endpoint_id
		FROM chain
		WHERE NOT again
		ORDER BY event_id, n DESC`, account, endpoint, events, lows, highs, low, high)
	if err != nil {
		return nil, wrap("find the heads of chains", err)
	}
	heads := make(map[gateway.EventID]gateway.EndpointID, len(events))
	var event gateway.EventID
	var head gateway.EndpointID
	_, err = pgx.ForEachRow(rows, []any{&event, &head}, func() error {
		heads[event] = head
		return nil
	})
	return heads, wrap("find the heads of chains", err)
}
