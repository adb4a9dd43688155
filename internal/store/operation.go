package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const operationFields = `id, account_id, kind, filter, state, dry_run, per_second, total, done, failed, restored, actor,
	created_at, started_at, finished_at, settled_at`

func operationTargets(o *gateway.Operation) []any {
	return []any{
		&o.ID, &o.AccountID, &o.Kind, &o.Filter, &o.State, &o.DryRun, &o.PerSecond, &o.Total, &o.Done, &o.Failed, &o.Restored, &o.Actor,
		&o.CreatedAt, &o.StartedAt, &o.FinishedAt, &o.SettledAt,
	}
}

func scanOperation(row pgx.CollectableRow) (o gateway.Operation, err error) {
	return o, row.Scan(operationTargets(&o)...)
}

// CreateOperation stores an operation that begins to count, and returns it as
// it is stored. until bounds the time of what it is about: what came in later
// is not. The caller enqueues the job that runs it.
//
// The promise: no account has more than gateway.MaxOpenOperations that have not
// ended, however many are made at once: one is made after the other, under the
// account's lock. One too many is gateway.ErrLimitReached.
func (t Tx) CreateOperation(ctx context.Context, account gateway.AccountID, o gateway.Operation, until time.Time) (gateway.Operation, error) {
	if err := t.lockAccount(ctx, account); err != nil {
		return o, err
	}
	rows, err := t.tx.Query(ctx, `
		INSERT INTO operations (id, account_id, kind, filter, dry_run, per_second, actor, bound, count_cursor, cursor)
		SELECT @id::uuid, @account::uuid, @kind, @filter::jsonb, @dry_run::boolean, @per_second::integer, @actor, @bound::uuid, @low::uuid, @low::uuid
		WHERE (
			SELECT count(*)
			FROM operations
			WHERE account_id = @account
			  AND next_run_at IS NOT NULL
			  AND state IN ('counting', 'running')
		) < @most
		RETURNING `+operationFields,
		pgx.NamedArgs{
			"id": o.ID, "account": account, "kind": string(o.Kind), "filter": o.Filter, "dry_run": o.DryRun,
			"per_second": o.PerSecond, "actor": string(o.Actor), "most": gateway.MaxOpenOperations,
			"bound": gateway.FirstIDAt[[16]byte](until), "low": lowestOf(o.Filter),
		})
	if err != nil {
		return o, wrap("create operation", err)
	}
	made, err := pgx.CollectRows(rows, scanOperation)
	switch {
	case err != nil:
		return o, wrap("create operation", err)
	case len(made) == 0:
		return o, wrap("create operation", gateway.ErrLimitReached)
	}
	return made[0], nil
}

// lowestOf is the id from which on things belong to what a filter is about.
func lowestOf(f gateway.OperationFilter) [16]byte {
	if f.Since.IsZero() {
		return [16]byte{}
	}
	return gateway.FirstIDAt[[16]byte](f.Since)
}

// Operation reads one operation.
func (s *Store) Operation(ctx context.Context, account gateway.AccountID, id gateway.OperationID) (gateway.Operation, error) {
	return readOperation(ctx, s.pool, account, id)
}

// Operation reads one operation within the transaction.
func (t Tx) Operation(ctx context.Context, account gateway.AccountID, id gateway.OperationID) (gateway.Operation, error) {
	return readOperation(ctx, t.tx, account, id)
}

func readOperation(ctx context.Context, q querier, account gateway.AccountID, id gateway.OperationID) (gateway.Operation, error) {
	rows, err := q.Query(ctx, `
		SELECT `+operationFields+`
		FROM operations
		WHERE id = $1
		  AND account_id = $2`, id, account)
	if err != nil {
		return gateway.Operation{}, wrap("read operation", err)
	}
	o, err := pgx.CollectExactlyOneRow(rows, scanOperation)
	return o, wrap("read operation", err)
}

// Operations lists an account's operations, newest first.
func (s *Store) Operations(ctx context.Context, account gateway.AccountID, page Page[gateway.OperationID]) ([]gateway.Operation, error) {
	low, high := page.bounds()
	rows, err := s.pool.Query(ctx, `
		SELECT `+operationFields+`
		FROM operations
		WHERE account_id = $1
		  AND id >= $2
		  AND id < $3
		ORDER BY id DESC
		LIMIT $4`, account, low, high, page.Limit)
	if err != nil {
		return nil, wrap("list operations", err)
	}
	operations, err := pgx.CollectRows(rows, scanOperation)
	return operations, wrap("list operations", err)
}

// CancelOperation stops an operation and wakes it, so that what nobody has
// tried yet is put back. It tells whether there was anything to stop.
//
// The promise: of two presses of Stop one has an effect, and no batch begins
// after it. A batch that is under way holds the row and is waited for.
func (t Tx) CancelOperation(ctx context.Context, account gateway.AccountID, id gateway.OperationID) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE operations
		SET state = 'cancelled', finished_at = now(), next_run_at = now(), leased_until = NULL
		WHERE id = $1
		  AND account_id = $2
		  AND state IN ('counting', 'running')`, id, account)
	return tag.RowsAffected() == 1, wrap("cancel operation", err)
}

// OperationRef names an operation.
type OperationRef struct {
	AccountID   gateway.AccountID
	OperationID gateway.OperationID
}

// operationPush is how long the alarm of an operation that went off is put off,
// so that one whose job is lost goes off again.
const operationPush = 5 * time.Second

// RingOperations returns the operations whose alarm has come, and puts their
// alarms off by a moment. Nodes do not get in each other's way.
func (t Tx) RingOperations(ctx context.Context, limit int) ([]OperationRef, error) {
	rows, err := t.tx.Query(ctx, `
		WITH due AS (
			SELECT id
			FROM operations
			WHERE next_run_at <= now()
			ORDER BY next_run_at
			LIMIT $1
			FOR UPDATE SKIP LOCKED
		)
		UPDATE operations o
		SET next_run_at = now() + $2::interval
		FROM due
		WHERE o.id = due.id
		RETURNING o.account_id, o.id`, limit, operationPush)
	if err != nil {
		return nil, wrap("ring operations", err)
	}
	refs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[OperationRef])
	return refs, wrap("ring operations", err)
}
