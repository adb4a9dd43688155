package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const reconciliationFields = `id, account_id, endpoint_id, name, since, until, match_by, with_type, state, fault,
	rows, faulty, matched, "unknown", repeated, ours, missing, sendable, unnamed, actor, created_at, uploaded_at, finished_at, emptied_at`

func reconciliationTargets(r *gateway.Reconciliation) []any {
	return []any{
		&r.ID, &r.AccountID, &r.EndpointID, &r.Name, &r.Since, &r.Until, &r.MatchBy, &r.WithType, &r.State, &r.Fault,
		&r.Rows, &r.Faulty, &r.Matched, &r.Unknown, &r.Repeated, &r.Ours, &r.Missing, &r.Sendable, &r.Unnamed,
		&r.Actor, &r.CreatedAt, &r.UploadedAt, &r.FinishedAt, &r.EmptiedAt,
	}
}

func scanReconciliation(row pgx.CollectableRow) (r gateway.Reconciliation, err error) {
	return r, row.Scan(reconciliationTargets(&r)...)
}

// theReconciliation is the account's reconciliation of an id, as a value: the
// first two parameters of a statement are both. What belongs to one is found by
// it alone.
const theReconciliation = `(SELECT id FROM reconciliations WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL)`

// CreateReconciliation stores a reconciliation whose list is being uploaded, and
// returns it as it is stored. Who uploads has it for the lease.
//
// The promise: no account has more than gateway.MaxOpenReconciliations that have
// not ended, and more than gateway.MaxKeptReconciliations whose rows are kept,
// and begins none once gateway.MaxKeptReconciledRows are stored, also of those
// that were deleted just now, however many are made at once: one is made after
// the other, under the account's lock. One too many is gateway.ErrLimitReached.
func (t Tx) CreateReconciliation(ctx context.Context, account gateway.AccountID, r gateway.Reconciliation, lease time.Duration) (gateway.Reconciliation, error) {
	if err := t.lockAccount(ctx, account); err != nil {
		return r, err
	}
	rows, err := t.tx.Query(ctx, `
		INSERT INTO reconciliations (id, account_id, endpoint_id, name, since, until, match_by, with_type, actor, cursor, next_run_at, leased_until)
		SELECT @id::uuid, @account::uuid, @endpoint::uuid, @name, @since::timestamptz, @until::timestamptz, @by, @typed::boolean, @actor, @low::uuid,
		       clock_timestamp() + @lease::interval, clock_timestamp() + @lease::interval
		WHERE (
			SELECT count(*) FILTER (WHERE state IN ('uploading', 'comparing')) < @most_open
			   AND count(*) FILTER (WHERE deleted_at IS NULL) < @most_kept
			   AND coalesce(sum(rows + missing), 0) < @most_rows
			FROM reconciliations
			WHERE account_id = @account
			  AND emptied_at IS NULL
		)
		RETURNING `+reconciliationFields,
		pgx.NamedArgs{
			"id": r.ID, "account": account, "endpoint": r.EndpointID, "name": r.Name, "since": r.Since, "until": r.Until,
			"by": string(r.MatchBy), "typed": r.WithType, "actor": string(r.Actor), "low": gateway.FirstIDAt[gateway.EventID](r.Since),
			"lease": lease, "most_open": gateway.MaxOpenReconciliations, "most_kept": gateway.MaxKeptReconciliations,
			"most_rows": gateway.MaxKeptReconciledRows,
		})
	if err != nil {
		return r, wrap("create reconciliation", err)
	}
	made, err := pgx.CollectRows(rows, scanReconciliation)
	switch {
	case err != nil:
		return r, wrap("create reconciliation", err)
	case len(made) == 0:
		return r, wrap("create reconciliation", gateway.ErrLimitReached)
	}
	return made[0], nil
}

// Reconciliation reads one reconciliation.
func (s *Store) Reconciliation(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID) (gateway.Reconciliation, error) {
	return readReconciliation(ctx, s.pool, account, id)
}

// Reconciliation reads one reconciliation within the transaction.
func (t Tx) Reconciliation(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID) (gateway.Reconciliation, error) {
	return readReconciliation(ctx, t.tx, account, id)
}

func readReconciliation(ctx context.Context, q querier, account gateway.AccountID, id gateway.ReconciliationID) (gateway.Reconciliation, error) {
	rows, err := q.Query(ctx, `
		SELECT `+reconciliationFields+`
		FROM reconciliations
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL`, id, account)
	if err != nil {
		return gateway.Reconciliation{}, wrap("read reconciliation", err)
	}
	r, err := pgx.CollectExactlyOneRow(rows, scanReconciliation)
	return r, wrap("read reconciliation", err)
}

// Reconciliations lists an account's reconciliations, newest first.
func (s *Store) Reconciliations(ctx context.Context, account gateway.AccountID, page Page[gateway.ReconciliationID]) ([]gateway.Reconciliation, error) {
	low, high := page.bounds()
	rows, err := s.pool.Query(ctx, `
		SELECT `+reconciliationFields+`
		FROM reconciliations
		WHERE account_id = $1
		  AND deleted_at IS NULL
		  AND id >= $2
		  AND id < $3
		ORDER BY id DESC
		LIMIT $4`, account, low, high, page.Limit)
	if err != nil {
		return nil, wrap("list reconciliations", err)
	}
	all, err := pgx.CollectRows(rows, scanReconciliation)
	return all, wrap("list reconciliations", err)
}

// CancelReconciliation stops a reconciliation, and tells whether there was
// anything to stop.
//
// The promise: of two presses of Stop one has an effect, and no part is read or
// compared after it. One that is under way holds the row and is waited for.
func (t Tx) CancelReconciliation(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE reconciliations
		SET state = 'cancelled', finished_at = now(), next_run_at = NULL, leased_until = NULL
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		  AND state IN ('uploading', 'comparing')`, id, account)
	return tag.RowsAffected() == 1, wrap("cancel reconciliation", err)
}

// DeleteReconciliation takes a reconciliation away; its rows follow by
// themselves. gateway.ErrNotFound tells that there is none.
//
// The promise: it is deleted once, and nothing is read or compared afterwards.
func (t Tx) DeleteReconciliation(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID) error {
	tag, err := t.tx.Exec(ctx, `
		UPDATE reconciliations
		SET deleted_at = now(),
		    state = CASE WHEN state IN ('uploading', 'comparing') THEN 'cancelled' ELSE state END,
		    next_run_at = NULL,
		    leased_until = NULL
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL`, id, account)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	return wrap("delete reconciliation", err)
}

// ReconciliationRef names a reconciliation.
type ReconciliationRef struct {
	AccountID        gateway.AccountID
	ReconciliationID gateway.ReconciliationID
}

// RingReconciliations returns the reconciliations whose alarm has come, and puts
// their alarms off by a moment. Nodes do not get in each other's way.
func (t Tx) RingReconciliations(ctx context.Context, limit int) ([]ReconciliationRef, error) {
	rows, err := t.tx.Query(ctx, `
		WITH due AS (
			SELECT id
			FROM reconciliations
			WHERE next_run_at <= now()
			ORDER BY next_run_at
			LIMIT $1
			FOR UPDATE SKIP LOCKED
		)
		UPDATE reconciliations r
		SET next_run_at = now() + $2::interval
		FROM due
		WHERE r.id = due.id
		RETURNING r.account_id, r.id`, limit, operationPush)
	if err != nil {
		return nil, wrap("ring reconciliations", err)
	}
	refs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ReconciliationRef])
	return refs, wrap("ring reconciliations", err)
}
