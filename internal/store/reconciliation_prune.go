package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// EmptyReconciliation deletes some rows of one reconciliation that was deleted,
// made before a time, or ended before its list had been read, at most limit of
// each kind a call. When none are left, one that was deleted goes with them; of
// the others the numbers are kept. It tells whether there was one. One that
// another node empties is left alone.
func (t Tx) EmptyReconciliation(ctx context.Context, before time.Time, limit int) (bool, error) {
	var id gateway.ReconciliationID
	err := t.tx.QueryRow(ctx, `
		WITH deleted AS (
			SELECT id
			FROM reconciliations
			WHERE deleted_at IS NOT NULL
			ORDER BY deleted_at
			LIMIT 1
			FOR UPDATE SKIP LOCKED
		), old AS (
			SELECT id
			FROM reconciliations
			WHERE emptied_at IS NULL
			  AND created_at < $1
			ORDER BY created_at
			LIMIT 1
			FOR UPDATE SKIP LOCKED
		), unread AS (
			SELECT id
			FROM reconciliations
			WHERE finished_at IS NOT NULL
			  AND uploaded_at IS NULL
			  AND emptied_at IS NULL
			ORDER BY finished_at
			LIMIT 1
			FOR UPDATE SKIP LOCKED
		)
		SELECT id FROM deleted
		UNION ALL
		SELECT id FROM old
		UNION ALL
		SELECT id FROM unread
		LIMIT 1`, before).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, wrap("find a reconciliation to empty", err)
	}
	deleted := int64(0)
	for _, table := range []struct{ name, key string }{
		{"reconciliation_rows", "n"}, {"reconciliation_missing", "event_id"}, {"reconciliation_faults", "n"},
	} {
		tag, err := t.tx.Exec(ctx, `
			DELETE FROM `+table.name+`
			WHERE ctid = ANY (ARRAY(
				SELECT ctid
				FROM `+table.name+`
				WHERE reconciliation_id = $1
				ORDER BY `+table.key+`
				LIMIT $2
			))
			  AND reconciliation_id = $1`, id, limit)
		if err != nil {
			return false, wrap("empty a reconciliation", err)
		}
		deleted += tag.RowsAffected()
	}
	if deleted > 0 {
		return true, nil
	}
	return true, t.closeEmptied(ctx, id)
}

// closeEmptied ends the emptying of a reconciliation that has no rows left.
func (t Tx) closeEmptied(ctx context.Context, id gateway.ReconciliationID) error {
	tag, err := t.tx.Exec(ctx, `
		DELETE FROM reconciliations
		WHERE id = $1
		  AND deleted_at IS NOT NULL`, id)
	if err != nil || tag.RowsAffected() == 1 {
		return wrap("forget a reconciliation", err)
	}
	_, err = t.tx.Exec(ctx, `
		UPDATE reconciliations
		SET emptied_at = now()
		WHERE id = $1
		  AND emptied_at IS NULL`, id)
	return wrap("note that a reconciliation is empty", err)
}
