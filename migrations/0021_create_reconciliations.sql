-- Reconciliations: a partner's list of what it got, compared with what was to be
-- delivered to an endpoint. Each is a row that says what is compared, up to where
-- it got and when somebody is to look at it again, as bulk operations are.

-- +goose Up

CREATE TABLE reconciliations (
    id           uuid PRIMARY KEY,
    account_id   uuid NOT NULL CONSTRAINT reconciliations_account_fkey REFERENCES accounts (id),
    endpoint_id  uuid NOT NULL,
    name         text NOT NULL,
    -- When our events came in: from, and before.
    since        timestamptz NOT NULL,
    until        timestamptz NOT NULL,
    match_by     text NOT NULL CONSTRAINT reconciliations_match_by_known CHECK (match_by IN ('event', 'key', 'subject')),
    with_type    boolean NOT NULL,
    state        text NOT NULL DEFAULT 'uploading' CONSTRAINT reconciliations_state_known CHECK (state IN
                 ('uploading', 'comparing', 'done', 'failed', 'cancelled')),
    -- Why the list could not be read.
    fault        text NOT NULL DEFAULT '',
    rows         bigint NOT NULL DEFAULT 0,
    faulty       bigint NOT NULL DEFAULT 0,
    matched      bigint NOT NULL DEFAULT 0,
    "unknown"    bigint NOT NULL DEFAULT 0,
    repeated     bigint NOT NULL DEFAULT 0,
    ours         bigint NOT NULL DEFAULT 0,
    missing      bigint NOT NULL DEFAULT 0,
    -- Of the missing ones, those that can be sent again.
    sendable     bigint NOT NULL DEFAULT 0,
    -- Of ours, those that have nothing by which the partner could list them.
    unnamed      bigint NOT NULL DEFAULT 0,
    -- The last event and the last row that were compared, and the list's last
    -- row. Ours come first; ours_done says that none is left.
    cursor       uuid NOT NULL,
    ours_done    boolean NOT NULL DEFAULT false,
    row_cursor   bigint NOT NULL DEFAULT 0,
    last_row     bigint NOT NULL DEFAULT 0,
    actor        text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    uploaded_at  timestamptz,
    finished_at  timestamptz,
    -- When its rows were deleted, and when it was deleted itself: its rows go
    -- afterwards, in parts.
    emptied_at   timestamptz,
    deleted_at   timestamptz,
    -- Its alarm: when somebody is to look at it; NULL: there is nothing to do.
    next_run_at  timestamptz,
    -- Who uploads or compares has it until then. The guards hold without it.
    leased_until timestamptz,
    CONSTRAINT reconciliations_endpoint_fkey FOREIGN KEY (account_id, endpoint_id) REFERENCES endpoints (account_id, id)
) WITH (fillfactor = 50);
CREATE INDEX reconciliations_account_idx ON reconciliations (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX reconciliations_due_idx ON reconciliations (next_run_at) WHERE next_run_at IS NOT NULL;
-- Those whose rows are still there, by their age, and those that are deleted.
CREATE INDEX reconciliations_kept_idx ON reconciliations (created_at) WHERE emptied_at IS NULL;
CREATE INDEX reconciliations_deleted_idx ON reconciliations (deleted_at) WHERE deleted_at IS NOT NULL;

-- The partner's rows. Nothing refers to their reconciliation by a key: a list
-- has up to a million rows, and is written and deleted in parts.
CREATE TABLE reconciliation_rows (
    reconciliation_id uuid NOT NULL,
    n                 bigint NOT NULL,
    -- Of key and type: what is looked up.
    hash              bytea NOT NULL,
    key               text NOT NULL,
    type              text NOT NULL,
    result            text CONSTRAINT reconciliation_rows_result_known CHECK (result IN ('matched', 'unknown', 'repeated')),
    reason            text NOT NULL DEFAULT '',
    event_id          uuid,
    CONSTRAINT reconciliation_rows_pkey PRIMARY KEY (reconciliation_id, n)
) WITH (fillfactor = 80);
CREATE INDEX reconciliation_rows_hash_idx ON reconciliation_rows (reconciliation_id, hash, n);
CREATE INDEX reconciliation_rows_result_idx ON reconciliation_rows (reconciliation_id, result, n) WHERE result IS NOT NULL;

-- The first of those that could not be read.
CREATE TABLE reconciliation_faults (
    reconciliation_id uuid NOT NULL,
    n                 bigint NOT NULL,
    why               text NOT NULL,
    CONSTRAINT reconciliation_faults_pkey PRIMARY KEY (reconciliation_id, n)
);

-- What was for the endpoint and the partner does not list, with how we stood
-- with it when it was compared.
CREATE TABLE reconciliation_missing (
    reconciliation_id uuid NOT NULL,
    event_id          uuid NOT NULL,
    delivery_id       uuid NOT NULL,
    key               text NOT NULL,
    type              text NOT NULL,
    reason            text NOT NULL CONSTRAINT reconciliation_missing_reason_known CHECK (reason IN
                      ('never_created', 'failed', 'suppressed', 'open', 'held', 'cancelled', 'expired', 'delivered')),
    event_status      text NOT NULL,
    attempts          integer NOT NULL,
    sendable          boolean NOT NULL,
    CONSTRAINT reconciliation_missing_pkey PRIMARY KEY (reconciliation_id, event_id)
);
CREATE INDEX reconciliation_missing_reason_idx ON reconciliation_missing (reconciliation_id, reason, event_id);
CREATE INDEX reconciliation_missing_sendable_idx ON reconciliation_missing (reconciliation_id, event_id) WHERE sendable;

-- What is missing is sent by a bulk operation.
ALTER TABLE operations
    DROP CONSTRAINT operations_kind_known,
    ADD CONSTRAINT operations_kind_known CHECK (kind IN ('recover_failed', 'recover_missing', 'redeliver', 'reprocess', 'reconcile'));
