-- What came in. Ids are UUIDv7, so the big tables are partitioned by id, a
-- day each: a look-up by id touches one partition, a list walks ids backwards,
-- and retention drops whole days. Bodies, headers and keys are bytes.

-- +goose Up

-- Have we accepted this event before? Hashes, since a key may be of any length
-- and hold any byte. body_hash tells "same key, other body" after the body is
-- gone.
CREATE TABLE event_keys (
    account_id uuid NOT NULL,
    source_id  uuid NOT NULL,
    key_hash   bytea NOT NULL,
    event_id   uuid NOT NULL,
    body_hash  bytea NOT NULL,
    seen_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT event_keys_pkey PRIMARY KEY (account_id, key_hash, source_id)
) PARTITION BY HASH (key_hash);
-- +goose StatementBegin
DO $$
BEGIN
    FOR i IN 0..7 LOOP
        EXECUTE format('CREATE TABLE event_keys_%s PARTITION OF event_keys FOR VALUES WITH (MODULUS 8, REMAINDER %s)', i, i);
    END LOOP;
END
$$;
-- +goose StatementEnd
-- Rows come in the order of time, so that it grows at its right edge alone, and
-- what is to be forgotten stands at its left.
CREATE INDEX event_keys_seen_idx ON event_keys (seen_at);

CREATE TABLE events (
    id                 uuid NOT NULL,
    account_id         uuid NOT NULL,
    source_id          uuid NOT NULL,
    type               text NOT NULL,
    subject            text,
    key                bytea,
    status             text NOT NULL DEFAULT 'accepted' CONSTRAINT events_status_known CHECK (status IN
                       ('accepted', 'processed', 'ignored', 'duplicate_fact', 'stale_fact', 'rule_error', 'unresolved', 'no_endpoints', 'held')),
    decision           text NOT NULL DEFAULT '',
    decide_after       timestamptz NOT NULL,
    -- How often a lost job was replaced: each waits longer than the last.
    sweeps             smallint NOT NULL DEFAULT 0,
    -- How often it was decided: usage counts the first time.
    decisions          integer NOT NULL DEFAULT 0,
    occurred_at        timestamptz,
    secret_id          uuid,
    body_size          integer NOT NULL,
    payload_deleted_at timestamptz,
    CONSTRAINT events_pkey PRIMARY KEY (id),
    CONSTRAINT events_source_fkey FOREIGN KEY (account_id, source_id) REFERENCES sources (account_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX events_account_idx ON events (account_id, id);
CREATE INDEX events_type_idx ON events (account_id, type, id);
CREATE INDEX events_source_idx ON events (source_id, id);
CREATE INDEX events_subject_idx ON events (account_id, subject, id) WHERE subject IS NOT NULL;
CREATE INDEX events_open_idx ON events (status, decide_after) WHERE status = 'accepted';
-- All lists by a status but the common one, so that none walks a history.
CREATE INDEX events_status_idx ON events (account_id, status, id) WHERE status <> 'processed';

CREATE TABLE event_bodies (
    id         uuid NOT NULL,
    account_id uuid NOT NULL,
    method     text NOT NULL,
    path       bytea NOT NULL,
    query      bytea NOT NULL,
    headers    bytea NOT NULL,
    body       bytea NOT NULL,
    CONSTRAINT event_bodies_pkey PRIMARY KEY (id)
) PARTITION BY RANGE (id);

-- Ingest requests that did not become an event, with why.
CREATE TABLE requests (
    id           uuid NOT NULL,
    account_id   uuid NOT NULL,
    source_id    uuid NOT NULL,
    cause        text NOT NULL,
    detail       text NOT NULL DEFAULT '',
    event_id     uuid,
    body_differs boolean NOT NULL DEFAULT false,
    skew_ms      bigint,
    method       text NOT NULL,
    path         bytea NOT NULL,
    query        bytea NOT NULL,
    headers      bytea NOT NULL,
    body         bytea NOT NULL,
    body_size    integer NOT NULL,
    CONSTRAINT requests_pkey PRIMARY KEY (id),
    CONSTRAINT requests_source_fkey FOREIGN KEY (account_id, source_id) REFERENCES sources (account_id, id)
) PARTITION BY RANGE (id);
-- With the cause, so that the newest are counted by it in the index alone.
CREATE INDEX requests_source_idx ON requests (source_id, id) INCLUDE (cause);
CREATE INDEX requests_cause_idx ON requests (source_id, cause, id);
CREATE INDEX requests_event_idx ON requests (event_id, id) WHERE event_id IS NOT NULL;
