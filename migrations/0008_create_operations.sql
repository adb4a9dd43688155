-- Bulk operations: what one press does to many deliveries or events. Each is a
-- row that says what is meant, up to where it got, and when somebody is to look
-- at it again, so that a restart goes on where the last batch ended. Deliveries
-- say which operation opened them, so that it can be stopped and its success
-- counted.

-- +goose Up

CREATE TABLE operations (
    id           uuid PRIMARY KEY,
    account_id   uuid NOT NULL CONSTRAINT operations_account_fkey REFERENCES accounts (id),
    kind         text NOT NULL CONSTRAINT operations_kind_known CHECK (kind IN ('recover_failed', 'recover_missing', 'redeliver', 'reprocess')),
    filter       jsonb NOT NULL,
    state        text NOT NULL DEFAULT 'counting' CONSTRAINT operations_state_known CHECK (state IN ('counting', 'running', 'done', 'cancelled')),
    -- It only counts.
    dry_run      boolean NOT NULL,
    -- How many it opens a second at the most; zero: as fast as they go out.
    per_second   integer NOT NULL CONSTRAINT operations_per_second_range CHECK (per_second BETWEEN 0 AND 10000),
    total        bigint NOT NULL DEFAULT 0,
    done         bigint NOT NULL DEFAULT 0,
    failed       bigint NOT NULL DEFAULT 0,
    -- How many a stop put back.
    restored     bigint NOT NULL DEFAULT 0,
    -- Ids from which on nothing belongs to it, and up to which it has counted
    -- and acted. Both cursors only move forward.
    bound        uuid NOT NULL,
    count_cursor uuid NOT NULL,
    cursor       uuid NOT NULL,
    actor        text NOT NULL,
    -- What closed after it was made is not its.
    created_at   timestamptz NOT NULL DEFAULT now(),
    started_at   timestamptz,
    finished_at  timestamptz,
    -- When what a stop had to put back was put back.
    settled_at   timestamptz,
    -- Its alarm: when somebody is to look at it; NULL: there is nothing to do.
    next_run_at  timestamptz DEFAULT now(),
    -- One node at a time works on it. The guards hold without it.
    leased_until timestamptz
) WITH (fillfactor = 50);
CREATE INDEX operations_account_idx ON operations (account_id, id);
CREATE INDEX operations_due_idx ON operations (next_run_at) WHERE next_run_at IS NOT NULL;

ALTER TABLE deliveries
    -- The operation that opened it last, and the status that it had.
    ADD COLUMN operation_id  uuid,
    ADD COLUMN reopened_from text;
CREATE INDEX deliveries_operation_idx ON deliveries (operation_id, id) INCLUDE (status) WHERE operation_id IS NOT NULL;
-- What an operation opened and nobody has tried since: how much of it waits,
-- and what a stop puts back.
CREATE INDEX deliveries_untried_idx ON deliveries (operation_id, endpoint_id, id)
    WHERE operation_id IS NOT NULL AND status = 'pending' AND step = 0;
