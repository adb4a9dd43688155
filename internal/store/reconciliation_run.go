package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// ReconciliationRun is a reconciliation that somebody works on, with where it is.
type ReconciliationRun struct {
	gateway.Reconciliation
	// Cursor is the last of our events that was compared; OursDone: there are no
	// more.
	Cursor   gateway.EventID
	OursDone bool
	// RowCursor is the last of the partner's rows that was, of LastRow.
	RowCursor, LastRow int
}

const reconciliationRunFields = reconciliationFields + `, cursor, ours_done, row_cursor, last_row`

func scanReconciliationRun(row pgx.Row) (run ReconciliationRun, err error) {
	targets := reconciliationTargets(&run.Reconciliation)
	return run, row.Scan(append(targets, &run.Cursor, &run.OursDone, &run.RowCursor, &run.LastRow)...)
}

// ClaimReconciliation takes a reconciliation to work on it for a while. false
// means that somebody else is at it, or that there is nothing to do. It keeps two
// from getting in each other's way; that nothing is compared twice is
// HoldReconciliation's to promise.
func (s *Store) ClaimReconciliation(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, lease time.Duration) (ReconciliationRun, bool, error) {
	run, err := scanReconciliationRun(s.pool.QueryRow(ctx, `
		UPDATE reconciliations
		SET leased_until = clock_timestamp() + $3::interval,
		    next_run_at = clock_timestamp() + $3::interval
		WHERE id = $1
		  AND account_id = $2
		  AND next_run_at IS NOT NULL
		  AND (leased_until IS NULL OR leased_until < clock_timestamp())
		RETURNING `+reconciliationRunFields, id, account, lease))
	if errors.Is(err, pgx.ErrNoRows) {
		return run, false, nil
	}
	return run, err == nil, wrap("claim reconciliation", err)
}

// HoldReconciliation begins a step: it locks the row and goes on with its lease.
// false means that it was stopped, or that somebody else has made this step: roll
// back.
//
// The promise: no step is made twice, whoever runs, and none after a stop. Only
// who finds the cursors that it has seen goes on, under the row's lock, until
// MoveReconciliation moves them in the same transaction.
func (t Tx) HoldReconciliation(ctx context.Context, run ReconciliationRun, lease time.Duration) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE reconciliations
		SET leased_until = clock_timestamp() + @lease::interval,
		    next_run_at = clock_timestamp() + @lease::interval
		WHERE id = @id
		  AND account_id = @account
		  AND deleted_at IS NULL
		  AND state = 'comparing'
		  AND cursor = @cursor
		  AND ours_done = @ours_done
		  AND row_cursor = @row_cursor`, run.guard(pgx.NamedArgs{"lease": lease}))
	return tag.RowsAffected() == 1, wrap("hold reconciliation", err)
}

// guard adds to a statement's parameters what the runner has seen.
func (r ReconciliationRun) guard(args pgx.NamedArgs) pgx.NamedArgs {
	args["id"], args["account"] = r.ID, r.AccountID
	args["cursor"], args["ours_done"], args["row_cursor"] = r.Cursor, r.OursDone, r.RowCursor
	return args
}

// ReconciliationStep is what a step did.
type ReconciliationStep struct {
	Cursor    gateway.EventID
	OursDone  bool
	RowCursor int
	// What was found in it.
	Ours, Unnamed, Missing, Sendable, Matched, Unknown, Repeated int
	// Done tells that nothing is left.
	Done bool
}

// MoveReconciliation writes what a step did, in the transaction that
// HoldReconciliation began, and returns the reconciliation as it is now. One that
// is done has no alarm any more.
func (t Tx) MoveReconciliation(ctx context.Context, run ReconciliationRun, step ReconciliationStep) (ReconciliationRun, error) {
	now, err := scanReconciliationRun(t.tx.QueryRow(ctx, `
		UPDATE reconciliations
		SET cursor = @next_cursor,
		    ours_done = @next_ours_done,
		    row_cursor = @next_row_cursor,
		    ours = ours + @ours,
		    unnamed = unnamed + @unnamed,
		    missing = missing + @missing,
		    sendable = sendable + @sendable,
		    matched = matched + @matched,
		    "unknown" = "unknown" + @unknown,
		    repeated = repeated + @repeated,
		    state = CASE WHEN @done::boolean THEN 'done' ELSE state END,
		    finished_at = CASE WHEN @done::boolean THEN now() END,
		    next_run_at = CASE WHEN NOT @done::boolean THEN next_run_at END,
		    leased_until = CASE WHEN NOT @done::boolean THEN leased_until END
		WHERE id = @id
		  AND account_id = @account
		  AND deleted_at IS NULL
		  AND state = 'comparing'
		  AND cursor = @cursor
		  AND ours_done = @ours_done
		  AND row_cursor = @row_cursor
		RETURNING `+reconciliationRunFields,
		run.guard(pgx.NamedArgs{
			"next_cursor": step.Cursor, "next_ours_done": step.OursDone, "next_row_cursor": step.RowCursor,
			"ours": step.Ours, "unnamed": step.Unnamed, "missing": step.Missing, "sendable": step.Sendable,
			"matched": step.Matched, "unknown": step.Unknown, "repeated": step.Repeated, "done": step.Done,
		})))
	return now, wrap("move reconciliation", err)
}

// LeaveReconciliation gives a reconciliation back that is to be gone on with
// after a while, and tells whether it is: one that has ended stays so.
func (t Tx) LeaveReconciliation(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, after time.Duration) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE reconciliations
		SET leased_until = NULL,
		    next_run_at = clock_timestamp() + $3::interval
		WHERE id = $1
		  AND account_id = $2
		  AND next_run_at IS NOT NULL`, id, account, after)
	return tag.RowsAffected() == 1, wrap("leave reconciliation", err)
}
