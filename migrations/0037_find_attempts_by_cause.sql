-- The attempts at one endpoint that failed for one cause are a list of their own.
-- Where the cause is rare at the endpoint and common elsewhere, or the other way
-- round, no other index leads to them without reading thousands of others. The days
-- that are there get it concurrently, after the start.

-- +goose Up

CREATE INDEX attempts_endpoint_cause_idx ON ONLY attempts (endpoint_id, error_kind, status_code, started_at, delivery_id, n) WHERE outcome <> 'succeeded';
