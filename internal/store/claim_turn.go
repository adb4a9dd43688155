package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
)

// ClaimEnd is how the holder of a single-fire claim ended.
type ClaimEnd struct {
	ID    gateway.ClaimID
	Fence int64
	// Done: the receiver confirmed it. Otherwise it said no, or nothing.
	Done bool
}

// EndClaims ends single-fire claims with the attempts that held them. What waited
// for one that is done is suppressed. What waits for one that was released goes
// on waiting for the holder's next attempt; if the holder is closed, the oldest
// that waits has the turn.
//
// The promise: a fact is confirmed once. A claim is ended by the holder whose
// fence it has; and what the receiver confirmed counts even when a person has
// freed it meanwhile, as long as nobody else has claimed it. Nothing that waits
// is left without somebody whose end wakes it.
func (t Tx) EndClaims(ctx context.Context, account gateway.AccountID, ends []ClaimEnd) error {
	if len(ends) == 0 {
		return nil
	}
	ids, fences, done := make([]gateway.ClaimID, len(ends)), make([]int64, len(ends)), make([]bool, len(ends))
	for i, e := range ends {
		ids[i], fences[i], done[i] = e.ID, e.Fence, e.Done
	}
	rows, err := t.tx.Query(ctx, `
		WITH ends AS (
			SELECT *
			FROM unnest($2::uuid[], $3::bigint[], $4::boolean[]) AS e (id, fence, done)
		), locked AS (
			SELECT id
			FROM claims
			WHERE id = ANY ($2)
			  AND account_id = $1
			ORDER BY scope, key_hash
			FOR UPDATE
		), ended AS (
			UPDATE claims c
			SET state = CASE WHEN e.done THEN 'done' ELSE 'released' END,
			    ended_at = clock_timestamp()
			FROM ends e
			WHERE c.id = ANY (ARRAY(SELECT id FROM locked))
			  AND c.id = e.id
			  AND c.fence = e.fence
			  AND (c.state = 'in_progress' OR (c.state = 'released' AND e.done))
			RETURNING c.id, c.fence, c.state, c.waited
		), held AS (
			UPDATE claim_holds h
			SET ended_at = clock_timestamp(),
			    ended = CASE WHEN e.state = 'done' THEN 'completed' ELSE 'released' END,
			    actor = '',
			    reason = ''
			FROM ended e
			WHERE h.claim_id = e.id
			  AND h.fence = e.fence
		)
		SELECT id, state = 'done'
		FROM ended
		WHERE waited`, account, ids, fences, done)
	if err != nil {
		return wrap("end claims", err)
	}
	var confirmed, released []gateway.ClaimID
	var id gateway.ClaimID
	var isDone bool
	_, err = pgx.ForEachRow(rows, []any{&id, &isDone}, func() error {
		if isDone {
			confirmed = append(confirmed, id)
		} else {
			released = append(released, id)
		}
		return nil
	})
	if err != nil {
		return wrap("end claims", err)
	}
	if err := t.suppressWaiting(ctx, confirmed); err != nil {
		return err
	}
	return t.goOnWaiting(ctx, released)
}

// suppressWaiting closes what waits for claims that are done, but for those whose
// type is single-fire no more: that is freed. What somebody else has locked finds
// out by itself, or, if that transaction is rolled back, by RepairTurns. The caller
// has locked the claims.
func (t Tx) suppressWaiting(ctx context.Context, claims []gateway.ClaimID) error {
	if len(claims) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	batch.Queue(`
		WITH waiting AS (
			SELECT id
			FROM deliveries
			WHERE waiting_on = ANY (ARRAY(SELECT id FROM claims c WHERE id = ANY ($1) AND NOT `+repeats+`))
			  AND status = 'pending'
			  AND `+notAhead+`
			FOR UPDATE SKIP LOCKED
		)
		UPDATE deliveries d
		SET status = 'suppressed', closed_at = now(), next_attempt_at = NULL, waiting_on = NULL
		WHERE d.id = ANY (ARRAY(SELECT id FROM waiting))
		  AND d.id >= (SELECT id FROM waiting ORDER BY id LIMIT 1)
		  AND d.id <= (SELECT id FROM waiting ORDER BY id DESC LIMIT 1)
		  AND d.status = 'pending'
		  AND d.waiting_on = ANY ($1)`, claims)
	batch.Queue(noneWaits, claims)
	return wrap("suppress what waits", t.tx.SendBatch(ctx, batch).Close())
}

// noneWaits takes claims off the list of those that are waited for when nobody
// waits any more. The caller has locked them, so that nobody begins to.
const noneWaits = `
		UPDATE claims c
		SET waited = false
		WHERE c.id = ANY ($1)
		  AND NOT EXISTS (
			SELECT
			FROM deliveries w
			WHERE w.waiting_on = c.id
			  AND w.status = 'pending'
			  AND w.` + notAhead + `)`

// goOnWaiting has what waits for released claims wait for the holder's next
// attempt, which stands for all of them. Where the holder is closed there is
// none: the turn passes. The caller has locked the claims.
func (t Tx) goOnWaiting(ctx context.Context, claims []gateway.ClaimID) error {
	if len(claims) == 0 {
		return nil
	}
	_, err := t.tx.Exec(ctx, `
		WITH waiting AS (
			SELECT d.id
			FROM deliveries d
			WHERE d.waiting_on = ANY ($1)
			  AND d.status = 'pending'
			  AND d.next_attempt_at IS NOT NULL
			  AND d.`+notAhead+`
			FOR UPDATE SKIP LOCKED
		)
		UPDATE deliveries d
		SET next_attempt_at = NULL
		WHERE d.id = ANY (ARRAY(SELECT id FROM waiting))
		  AND d.id >= (SELECT id FROM waiting ORDER BY id LIMIT 1)
		  AND d.id <= (SELECT id FROM waiting ORDER BY id DESC LIMIT 1)
		  AND d.status = 'pending'
		  AND d.waiting_on = ANY ($1)`, claims)
	if err != nil {
		return wrap("put off what waits", err)
	}
	return t.passTurns(ctx, claims, orphaned)
}

// passTurnsOf gives the turn on where deliveries were closed whose next attempt
// others waited for: of the claims that these had. Whatever closes deliveries
// ends with it.
//
// The promise: nothing that waits is left without somebody whose end wakes it.
// Of several who close at once, the claim's lock lets one after the other look
// whether the holder is still there.
func (t Tx) passTurnsOf(ctx context.Context, claims []gateway.ClaimID) error {
	if len(claims) == 0 {
		return nil
	}
	rows, err := t.tx.Query(ctx, `
		SELECT id
		FROM claims
		WHERE id = ANY ($1)
		  AND state = 'released'
		  AND waited
		ORDER BY scope, key_hash
		FOR UPDATE`, claims)
	if err != nil {
		return wrap("look who waits", err)
	}
	locked, err := pgx.CollectRows(rows, pgx.RowTo[gateway.ClaimID])
	if err != nil {
		return wrap("look who waits", err)
	}
	return t.passTurns(ctx, locked, orphaned)
}

// passTurnsOfClosed reads the claims, often none, of deliveries that a statement
// has closed, gives the turn on, and returns how many deliveries these were.
func (t Tx) passTurnsOfClosed(ctx context.Context, rows pgx.Rows, err error) (closed int, _ error) {
	if err != nil {
		return 0, err
	}
	var claim *gateway.ClaimID
	var claims []gateway.ClaimID
	_, err = pgx.ForEachRow(rows, []any{&claim}, func() error {
		closed++
		if claim != nil {
			claims = append(claims, *claim)
		}
		return nil
	})
	if err != nil {
		return closed, err
	}
	return closed, t.passTurnsOf(ctx, claims)
}

// Conditions on which the turn of a claim c passes.
const (
	// orphaned: whose next attempt was waited for has none.
	orphaned = `c.state = 'released' AND ` + holderClosed
	// freed: by a person.
	freed = `c.state = 'released'`
	// abandoned: nobody will say how it went, and it may go again.
	abandoned = `(c.state = 'released' OR c.state = 'in_progress' AND c.on_doubt = 'resend') AND c.lease_expires_at < now() AND ` + holderClosed

	// One that waits for the very claim will not try again by itself either.
	holderClosed = `NOT EXISTS (
		SELECT
		FROM deliveries h
		WHERE h.id = c.delivery_id
		  AND (h.status = 'sending' OR h.status = 'pending' AND h.waiting_on IS NULL))`
)

// passTurns makes of each claim that meets a condition the oldest delivery that waits due now,
// and wakes its lane. It is who is waited for from now on. The caller has locked
// the claims. A lane that somebody else has locked looks for due work when it is
// done, or by the job.
func (t Tx) passTurns(ctx context.Context, claims []gateway.ClaimID, condition string) error {
	if len(claims) == 0 {
		return nil
	}
	rows, err := t.tx.Query(ctx, `
		WITH turn AS (
			SELECT c.id AS claim_id, d.id, d.account_id, d.endpoint_id
			FROM claims c
			CROSS JOIN LATERAL (
				SELECT id, account_id, endpoint_id
				FROM deliveries
				WHERE waiting_on = c.id
				  AND status = 'pending'
				  AND `+notAhead+`
				ORDER BY id
				LIMIT 1
				FOR UPDATE SKIP LOCKED
			) d
			WHERE c.id = ANY ($1)
			  AND `+condition+`
		), given AS (`+giveTurn+`
		), owner AS (
			UPDATE claims c
			SET delivery_id = t.id
			FROM turn t
			WHERE c.id = t.claim_id
		), woken AS (`+wakeTurn+`
		)
		SELECT DISTINCT account_id, endpoint_id
		FROM turn`, claims)
	if err != nil {
		return wrap("pass the turn", err)
	}
	lanes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[LaneRef])
	if err != nil {
		return wrap("pass the turn", err)
	}
	return t.Enqueue(ctx, job.Delivers(lanes)...)
}

// Parts of a statement that has the turn passed to the deliveries in turn: they
// are due now, and their lanes are woken.
const (
	giveTurn = `
			UPDATE deliveries d
			SET next_attempt_at = now(), waiting_on = NULL
			WHERE d.id = ANY (ARRAY(SELECT id FROM turn))
			  AND d.id >= (SELECT id FROM turn ORDER BY id LIMIT 1)
			  AND d.id <= (SELECT id FROM turn ORDER BY id DESC LIMIT 1)
			  AND d.status = 'pending'`
	wakeTurn = `
			UPDATE lanes
			SET wake_at = LEAST(wake_at, now())
			WHERE endpoint_id = ANY (ARRAY(
				SELECT endpoint_id
				FROM lanes
				WHERE endpoint_id = ANY (ARRAY(SELECT endpoint_id FROM turn))
				FOR UPDATE SKIP LOCKED))`
)

// SettleWaiting does for a claim that a person has freed or ended what EndClaims
// does for others: the oldest that waits has the turn, or all that waits is
// suppressed. The caller has changed the claim in this transaction.
func (t Tx) SettleWaiting(ctx context.Context, c gateway.Claim) error {
	if c.State == gateway.ClaimDone {
		return t.suppressWaiting(ctx, []gateway.ClaimID{c.ID})
	}
	return t.passTurns(ctx, []gateway.ClaimID{c.ID}, freed)
}

// SettleFreed is SettleWaiting for several claims that a person has freed.
func (t Tx) SettleFreed(ctx context.Context, claims []gateway.ClaimID) error {
	return t.passTurns(ctx, claims, freed)
}

// TurnCursor is how far RepairTurns has looked.
type TurnCursor struct {
	lease time.Time
	claim gateway.ClaimID
}

// RepairTurns looks at claims that are waited for and whose lease has ended,
// limit of them behind a cursor, and returns where the next look goes on: at the
// start again after the last. It gives on the turns of those whose holder is
// closed, as when a person closes it while it is in doubt; and suppresses what
// still waits for those that are done, where who had it locked was rolled back.
// What waits for those whose type is single-fire no more it frees: see FreeWaiting.
func (t Tx) RepairTurns(ctx context.Context, after TurnCursor, limit int) (next TurnCursor, err error) {
	rows, err := t.tx.Query(ctx, `
		SELECT id, lease_expires_at, CASE WHEN `+repeats+` THEN 'repeats' WHEN state = 'done' THEN 'done' ELSE 'open' END
		FROM claims c
		WHERE waited
		  AND lease_expires_at < now()
		  AND (lease_expires_at, id) > ($1, $2)
		ORDER BY lease_expires_at, id
		LIMIT $3
		FOR UPDATE SKIP LOCKED`, after.lease, after.claim, limit)
	if err != nil {
		return after, wrap("look for lost turns", err)
	}
	found := map[string][]gateway.ClaimID{}
	n, what := 0, ""
	_, err = pgx.ForEachRow(rows, []any{&next.claim, &next.lease, &what}, func() error {
		n++
		found[what] = append(found[what], next.claim)
		return nil
	})
	if err != nil {
		return after, wrap("look for lost turns", err)
	}
	if n < limit {
		next = TurnCursor{}
	}
	if err := t.suppressWaiting(ctx, found["done"]); err != nil {
		return after, err
	}
	if _, _, err := t.freeWaiting(ctx, found["repeats"], limit); err != nil {
		return after, err
	}
	open := found["open"]
	if err := t.passTurns(ctx, open, abandoned); err != nil {
		return after, err
	}
	if len(open) == 0 {
		return next, nil
	}
	_, err = t.tx.Exec(ctx, noneWaits, open)
	return next, wrap("note that nobody waits", err)
}
