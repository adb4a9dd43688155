-- Endpoints without an address. A program asks for what they get (it listens) and
-- makes each attempt in our place (a relay): so a developer needs no address that
-- the server can reach.

-- +goose Up

ALTER TABLE endpoints
    ADD COLUMN kind text NOT NULL DEFAULT 'http'
        CONSTRAINT endpoints_kind_known CHECK (kind IN ('http', 'listen')),
    -- What is listened for has no address, and everything else has one.
    ADD CONSTRAINT endpoints_url_by_kind CHECK ((kind = 'listen') = (url = ''));

-- Who listens, one for each endpoint, or did last.
CREATE TABLE listeners (
    endpoint_id  uuid PRIMARY KEY,
    account_id   uuid NOT NULL,
    -- The listener's own name for this run of it, and the machine it runs on.
    listener     text NOT NULL,
    host         text NOT NULL,
    -- Counts how often it asked: who asks anew takes the place of an answer that
    -- may never arrive.
    polls        bigint NOT NULL DEFAULT 1,
    connected_at timestamptz NOT NULL,
    seen_at      timestamptz NOT NULL,
    -- When it said that it goes.
    left_at      timestamptz,
    CONSTRAINT listeners_endpoint_fkey FOREIGN KEY (account_id, endpoint_id) REFERENCES endpoints (account_id, id)
) WITH (fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The attempts that are with listeners now. A row is made in the transaction that
-- takes the delivery, and goes in the one that records the attempt.
CREATE TABLE relays (
    delivery_id      uuid NOT NULL,
    n                integer NOT NULL,
    account_id       uuid NOT NULL,
    endpoint_id      uuid NOT NULL,
    event_id         uuid NOT NULL,
    -- The lane's, who waits for the report; of a test 0.
    fence            bigint NOT NULL,
    -- What it goes out under, of a single-fire type.
    claim_id         uuid,
    claim_fence      bigint NOT NULL DEFAULT 0,
    claim_overridden boolean NOT NULL DEFAULT false,
    made_at          timestamptz NOT NULL,
    timeout_ms       integer NOT NULL,
    -- Until when it may begin: later, its claim could end before it does.
    begins_until     timestamptz,
    -- Who has it, by which of its polls, since when, and what it was given to send.
    listener         text,
    poll             bigint NOT NULL DEFAULT 0,
    taken_at         timestamptz,
    request_headers  bytea NOT NULL DEFAULT '',
    -- How it ended: one of the two, once. Nobody reports what was given up.
    reported_at      timestamptz,
    given_up_at      timestamptz,
    duration_us      bigint NOT NULL DEFAULT 0,
    dns_us           bigint NOT NULL DEFAULT 0,
    connect_us       bigint NOT NULL DEFAULT 0,
    tls_us           bigint NOT NULL DEFAULT 0,
    first_byte_us    bigint NOT NULL DEFAULT 0,
    outcome          text NOT NULL DEFAULT '',
    error_kind       text NOT NULL DEFAULT '',
    detail           text NOT NULL DEFAULT '',
    status_code      integer NOT NULL DEFAULT 0,
    response_headers bytea NOT NULL DEFAULT '',
    response_body    bytea NOT NULL DEFAULT '',
    PRIMARY KEY (delivery_id, n),
    CONSTRAINT relays_endpoint_fkey FOREIGN KEY (account_id, endpoint_id) REFERENCES endpoints (account_id, id),
    CONSTRAINT relays_one_end CHECK (reported_at IS NULL OR given_up_at IS NULL)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX relays_endpoint_idx ON relays (endpoint_id);
