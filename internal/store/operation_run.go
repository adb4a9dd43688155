package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// OperationRun is an operation that somebody works on, with where it is.
type OperationRun struct {
	gateway.Operation
	// Bound is the first id that is not its any more. Counted and Cursor are the
	// last ids that it has counted and acted on.
	Bound, Counted, Cursor [16]byte
}

// NewOperationRun is one of an operation that is stored nowhere, to look at what
// it would be about.
func NewOperationRun(o gateway.Operation, until time.Time) OperationRun {
	low := lowestOf(o.Filter)
	return OperationRun{Operation: o, Bound: gateway.FirstIDAt[[16]byte](until), Counted: low, Cursor: low}
}

const runFields = operationFields + `, bound, count_cursor, cursor`

func scanRun(row pgx.Row) (run OperationRun, err error) {
	return run, row.Scan(append(operationTargets(&run.Operation), &run.Bound, &run.Counted, &run.Cursor)...)
}

// ClaimOperation takes an operation to work on it for a while. false means that
// somebody else is at it, or that there is nothing to do. It keeps two from
// getting in each other's way; that nothing is done twice is HoldOperation's to
// promise.
func (s *Store) ClaimOperation(ctx context.Context, account gateway.AccountID, id gateway.OperationID, lease time.Duration) (OperationRun, bool, error) {
	run, err := scanRun(s.pool.QueryRow(ctx, `
		UPDATE operations
		SET leased_until = clock_timestamp() + $3::interval,
		    next_run_at = clock_timestamp() + $3::interval
		WHERE id = $1
		  AND account_id = $2
		  AND next_run_at IS NOT NULL
		  AND (leased_until IS NULL OR leased_until < clock_timestamp())
		RETURNING `+runFields, id, account, lease))
	if errors.Is(err, pgx.ErrNoRows) {
		return run, false, nil
	}
	return run, err == nil, wrap("claim operation", err)
}

// HoldOperation begins a step: it locks the operation's row and goes on with
// its lease. false means that it was stopped, or that somebody else has made
// this step: roll back.
//
// The promise: no step is made twice, whoever runs, and none after a stop. Only
// who finds the state and the cursors that it has seen goes on, under the row's
// lock, until MoveOperation moves them in the same transaction.
func (t Tx) HoldOperation(ctx context.Context, run OperationRun, lease time.Duration) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE operations
		SET leased_until = clock_timestamp() + $3::interval,
		    next_run_at = clock_timestamp() + $3::interval
		WHERE id = $1
		  AND account_id = $2
		  AND state = $4
		  AND count_cursor = $5
		  AND cursor = $6
		  AND settled_at IS NULL`,
		run.ID, run.AccountID, lease, string(run.State), run.Counted, run.Cursor)
	return tag.RowsAffected() == 1, wrap("hold operation", err)
}

// OperationStep is what one step did.
type OperationStep struct {
	// Counted and Cursor are how far it got.
	Counted, Cursor [16]byte
	// Total, Done, Failed and Restored are added.
	Total, Done, Failed, Restored int
	// State is the next one. Settled: nothing is left to be put back.
	State   gateway.OperationState
	Settled bool
}

// MoveOperation writes what a step did, in the transaction that HoldOperation
// began, and returns the operation as it is now. One that is done, or put
// back after a stop, has no alarm any more. The total grows with what was being
// closed when it was counted, and was found only when its turn came.
func (t Tx) MoveOperation(ctx context.Context, run OperationRun, step OperationStep) (OperationRun, error) {
	now, err := scanRun(t.tx.QueryRow(ctx, `
		UPDATE operations
		SET count_cursor = @counted,
		    cursor = @cursor,
		    total = GREATEST(total + @total, done + @done + failed + @failed),
		    done = done + @done,
		    failed = failed + @failed,
		    restored = restored + @restored,
		    state = @next::text,
		    started_at = CASE WHEN @next::text = 'running' THEN coalesce(started_at, now()) ELSE started_at END,
		    finished_at = CASE WHEN @next::text = 'done' THEN now() ELSE finished_at END,
		    settled_at = CASE WHEN @settled::boolean THEN now() END,
		    next_run_at = CASE WHEN NOT @settled::boolean THEN next_run_at END,
		    leased_until = CASE WHEN NOT @settled::boolean THEN leased_until END
		WHERE id = @id
		  AND account_id = @account
		  AND state = @state
		  AND count_cursor = @was_counted
		  AND cursor = @was_at
		RETURNING `+runFields,
		pgx.NamedArgs{
			"id": run.ID, "account": run.AccountID, "state": string(run.State), "was_counted": run.Counted, "was_at": run.Cursor,
			"counted": step.Counted, "cursor": step.Cursor, "total": step.Total, "done": step.Done, "failed": step.Failed,
			"restored": step.Restored, "next": string(step.State), "settled": step.Settled,
		}))
	return now, wrap("move operation", err)
}

// LeaveOperation gives an operation back that is to be gone on with after a
// while, and tells whether it is: one that has nothing to do any more stays so.
func (t Tx) LeaveOperation(ctx context.Context, account gateway.AccountID, id gateway.OperationID, after time.Duration) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE operations
		SET leased_until = NULL,
		    next_run_at = clock_timestamp() + $3::interval
		WHERE id = $1
		  AND account_id = $2
		  AND next_run_at IS NOT NULL`, id, account, after)
	return tag.RowsAffected() == 1, wrap("leave operation", err)
}
