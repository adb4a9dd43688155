-- What failed at one endpoint and was given to the next of its chain is no
-- failure to be made good: the index by which failures are counted and grouped
-- says so, too, so that they still are from it alone.

-- +goose Up

DROP INDEX deliveries_odd_idx;
CREATE INDEX deliveries_odd_idx ON deliveries (account_id, status, id, endpoint_id, last_error_kind, last_status_code) INCLUDE (closed_at, failover_to)
    WHERE status IN ('failed', 'suppressed', 'cancelled', 'expired');
