-- What failed at an endpoint and was given to the next of its chain is missing for
-- a reason of its own, and is not sent again.

-- +goose Up

ALTER TABLE reconciliation_missing
    DROP CONSTRAINT reconciliation_missing_reason_known,
    ADD CONSTRAINT reconciliation_missing_reason_known CHECK (reason IN
        ('never_created', 'failed', 'failed_over', 'suppressed', 'open', 'held', 'cancelled', 'expired', 'delivered'));
