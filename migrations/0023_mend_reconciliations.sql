-- What failed at an endpoint and was given to the next of its chain is missing for
-- a reason of its own, and is not sent again. What is kept of comparisons is
-- bounded by its rows, and lists that nothing was compared with are not kept.

-- +goose Up

ALTER TABLE reconciliation_missing
    DROP CONSTRAINT reconciliation_missing_reason_known,
    ADD CONSTRAINT reconciliation_missing_reason_known CHECK (reason IN
        ('never_created', 'failed', 'failed_over', 'suppressed', 'open', 'held', 'cancelled', 'expired', 'delivered'));

-- What an account has in rows, also of what was deleted and is not gone yet.
CREATE INDEX reconciliations_stored_idx ON reconciliations (account_id) WHERE emptied_at IS NULL;
-- Lists that could not be read, or were stopped before: nobody sees their rows.
CREATE INDEX reconciliations_unread_idx ON reconciliations (finished_at)
    WHERE finished_at IS NOT NULL AND uploaded_at IS NULL AND emptied_at IS NULL;
