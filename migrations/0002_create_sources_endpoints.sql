-- Where events come from and where they go, with the secrets of both ends,
-- and who may send for an endpoint now (lanes).

-- +goose Up

CREATE TABLE sources (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL CONSTRAINT sources_account_fkey REFERENCES accounts (id),
    uid        text,
    name       text NOT NULL,
    kind       text NOT NULL,
    token      text NOT NULL CONSTRAINT sources_token_key UNIQUE,
    settings   bytea NOT NULL,
    state      text NOT NULL DEFAULT 'active' CONSTRAINT sources_state_known CHECK (state IN ('active', 'paused')),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    CONSTRAINT sources_account_id_key UNIQUE (account_id, id)
);
CREATE UNIQUE INDEX sources_uid_key ON sources (account_id, uid) WHERE deleted_at IS NULL;
-- Each account has one built-in source for what its own applications publish.
CREATE UNIQUE INDEX sources_api_key ON sources (account_id) WHERE kind = 'api';

CREATE TABLE source_secrets (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    source_id  uuid NOT NULL,
    sealed     bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    ends_at    timestamptz,
    CONSTRAINT source_secrets_source_fkey FOREIGN KEY (account_id, source_id) REFERENCES sources (account_id, id)
);
CREATE INDEX source_secrets_source_idx ON source_secrets (source_id);

CREATE TABLE endpoints (
    id                   uuid PRIMARY KEY,
    account_id           uuid NOT NULL CONSTRAINT endpoints_account_fkey REFERENCES accounts (id),
    uid                  text,
    url                  text NOT NULL,
    description          text NOT NULL DEFAULT '',
    event_types          text[] NOT NULL DEFAULT '{}',
    headers              bytea NOT NULL DEFAULT '',
    retry_schedule_ms    bigint[],
    timeout_ms           integer,
    max_in_flight        integer NOT NULL,
    stop_on              integer[] NOT NULL DEFAULT '{}',
    state                text NOT NULL DEFAULT 'active' CONSTRAINT endpoints_state_known CHECK (state IN ('active', 'paused', 'disabled')),
    disabled_reason      text NOT NULL DEFAULT '',
    state_changed_at     timestamptz NOT NULL DEFAULT now(),
    consecutive_failures integer NOT NULL DEFAULT 0,
    failure_counted_at   timestamptz,
    -- When the first of the failures in a row was counted.
    failing_since        timestamptz,
    created_at           timestamptz NOT NULL DEFAULT now(),
    updated_at           timestamptz NOT NULL DEFAULT now(),
    deleted_at           timestamptz,
    -- When nothing was open any more after its deletion.
    emptied_at           timestamptz,
    CONSTRAINT endpoints_account_id_key UNIQUE (account_id, id),
    CONSTRAINT endpoints_max_in_flight_range CHECK (max_in_flight BETWEEN 1 AND 1000)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX endpoints_uid_key ON endpoints (account_id, uid) WHERE deleted_at IS NULL;
CREATE INDEX endpoints_account_idx ON endpoints (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX endpoints_leaving_idx ON endpoints (id) WHERE deleted_at IS NOT NULL AND emptied_at IS NULL;

CREATE TABLE endpoint_secrets (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    sealed      bytea NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    ends_at     timestamptz,
    CONSTRAINT endpoint_secrets_endpoint_fkey FOREIGN KEY (account_id, endpoint_id) REFERENCES endpoints (account_id, id)
);
CREATE INDEX endpoint_secrets_endpoint_idx ON endpoint_secrets (endpoint_id);

-- One row an endpoint, updated at every take and record: room for HOT
-- updates, and no index but the key. A scan for due alarms reads the table.
CREATE TABLE lanes (
    endpoint_id    uuid PRIMARY KEY,
    account_id     uuid NOT NULL,
    fence          bigint NOT NULL DEFAULT 0,
    node           text,
    leased_until   timestamptz,
    wake_at        timestamptz,
    in_flight_cap  integer NOT NULL DEFAULT 4,
    -- A failed probe makes the lane sleep, twice as long each time.
    failed_probes  smallint NOT NULL DEFAULT 0,
    sleep_until    timestamptz,
    -- Its last missing answer was a timeout: it shares the slow half of the slots.
    timing_out     boolean NOT NULL DEFAULT false,
    CONSTRAINT lanes_endpoint_fkey FOREIGN KEY (account_id, endpoint_id) REFERENCES endpoints (account_id, id)
) WITH (fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Who is alive, and since when without a gap: only a steady node may take
-- over a lane whose lease has ended.
CREATE TABLE nodes (
    node         text PRIMARY KEY,
    seen_at      timestamptz NOT NULL,
    steady_since timestamptz NOT NULL,
    started_at   timestamptz NOT NULL,
    roles        text NOT NULL,
    version      text NOT NULL
) WITH (fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Nodes remember sources for moments; a change is told to them at once.
-- +goose StatementBegin
CREATE FUNCTION tell_source_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('rowlock_sources', '');
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER sources_changed
    AFTER UPDATE ON sources
    FOR EACH STATEMENT EXECUTE FUNCTION tell_source_change();
CREATE TRIGGER source_secrets_changed
    AFTER INSERT OR UPDATE OR DELETE ON source_secrets
    FOR EACH STATEMENT EXECUTE FUNCTION tell_source_change();
