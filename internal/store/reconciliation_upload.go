package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// UploadedPart is a part of a partner's list.
type UploadedPart struct {
	Rows []gateway.PartnerRow
	// Faulty is how many rows could not be read, Faults the first of them.
	Faulty int
	Faults []gateway.FaultyRow
	// Last is the number of the last row.
	Last int
}

// AddRows stores a part of a partner's list, and tells whether it is still
// wanted: false, the reconciliation was stopped.
//
// The promise: no row is added to a list that has been read, or was stopped.
func (t Tx) AddRows(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, part UploadedPart, lease time.Duration) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE reconciliations
		SET rows = rows + @rows,
		    faulty = faulty + @faulty,
		    last_row = @last,
		    leased_until = clock_timestamp() + @lease::interval,
		    next_run_at = clock_timestamp() + @lease::interval
		WHERE id = @id
		  AND account_id = @account
		  AND deleted_at IS NULL
		  AND state = 'uploading'`,
		pgx.NamedArgs{"id": id, "account": account, "rows": len(part.Rows), "faulty": part.Faulty, "last": part.Last, "lease": lease})
	if err != nil || tag.RowsAffected() == 0 {
		return false, wrap("note rows of a list", err)
	}
	_, err = t.tx.CopyFrom(ctx, pgx.Identifier{"reconciliation_rows"}, []string{"reconciliation_id", "n", "hash", "key", "type"},
		pgx.CopyFromSlice(len(part.Rows), func(i int) ([]any, error) {
			row := part.Rows[i]
			hash := gateway.HashRow(row.Key, row.Type)
			return []any{id, row.N, hash[:], row.Key, row.Type}, nil
		}))
	if err != nil {
		return false, wrap("store rows of a list", err)
	}
	_, err = t.tx.CopyFrom(ctx, pgx.Identifier{"reconciliation_faults"}, []string{"reconciliation_id", "n", "why"},
		pgx.CopyFromSlice(len(part.Faults), func(i int) ([]any, error) {
			return []any{id, part.Faults[i].N, part.Faults[i].Why}, nil
		}))
	return true, wrap("store faults of a list", err)
}

// BeginComparing says that all of a list has been read, and tells whether it is
// still wanted. The caller enqueues the job that compares it.
//
// The promise: a list is compared when all of it is there, and only then.
func (t Tx) BeginComparing(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE reconciliations
		SET state = 'comparing', uploaded_at = now(), next_run_at = now(), leased_until = NULL
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		  AND state = 'uploading'`, id, account)
	return tag.RowsAffected() == 1, wrap("begin to compare", err)
}

// FailReconciliation ends a reconciliation whose list could not be read, with
// why, and tells whether it was still being read.
//
// The promise: only a list that is being read can fail, once.
func (t Tx) FailReconciliation(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, why string) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE reconciliations
		SET state = 'failed', fault = $3, finished_at = now(), next_run_at = NULL, leased_until = NULL
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		  AND state = 'uploading'`, id, account, why)
	return tag.RowsAffected() == 1, wrap("fail reconciliation", err)
}
