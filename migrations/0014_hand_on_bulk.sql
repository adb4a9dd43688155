-- What is decided again stands behind what is live, among what bulk operations
-- opened. An endpoint that is disabled gives the first to its failover, and
-- keeps the second, of which there may be a million.

-- +goose Up

CREATE INDEX deliveries_bulk_auto_idx ON deliveries (endpoint_id, next_attempt_at)
    WHERE status = 'pending' AND priority = 2 AND trigger = 'auto';
