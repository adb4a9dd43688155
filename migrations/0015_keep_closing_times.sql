-- What a stopped operation puts back was closed when it was closed: else a stop
-- would make old failures new ones, and open those again that were dismissed.

-- +goose Up

-- When it had been closed that the operation has opened.
ALTER TABLE deliveries ADD COLUMN reopened_closed_at timestamptz;
