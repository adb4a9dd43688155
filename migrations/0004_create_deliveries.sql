-- What goes out: one delivery an event and endpoint, its attempts, and the
-- numbers that pages and meters read.

-- +goose Up

-- The id is derived from event and endpoint and carries the event's time, so
-- an event and its deliveries lie in partitions of the same day.
CREATE TABLE deliveries (
    id              uuid NOT NULL,
    account_id      uuid NOT NULL,
    event_id        uuid NOT NULL,
    endpoint_id     uuid NOT NULL,
    status          text NOT NULL DEFAULT 'pending' CONSTRAINT deliveries_status_known CHECK (status IN
                    ('pending', 'sending', 'delivered', 'failed', 'suppressed', 'cancelled', 'expired')),
    priority        smallint NOT NULL DEFAULT 0,
    trigger         text NOT NULL DEFAULT 'auto',
    attempts        integer NOT NULL DEFAULT 0,
    -- How many attempts of the present schedule were made; attempts go on counting.
    step            integer NOT NULL DEFAULT 0,
    fence           bigint NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    waiting_on      uuid,
    last_outcome    text,
    created_at      timestamptz NOT NULL DEFAULT now(),
    closed_at       timestamptz,
    CONSTRAINT deliveries_pkey PRIMARY KEY (id),
    CONSTRAINT deliveries_attempts_range CHECK (attempts BETWEEN 0 AND 65535),
    CONSTRAINT deliveries_endpoint_fkey FOREIGN KEY (account_id, endpoint_id) REFERENCES endpoints (account_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX deliveries_account_idx ON deliveries (account_id, id);
CREATE INDEX deliveries_endpoint_idx ON deliveries (endpoint_id, id);
CREATE INDEX deliveries_due_idx ON deliveries (endpoint_id, priority, next_attempt_at) WHERE status = 'pending';
-- What is open is listed endpoint by endpoint, since the endpoint's state says
-- whether it is shown as held: no list walks what was delivered.
CREATE INDEX deliveries_pending_idx ON deliveries (endpoint_id, id) WHERE status = 'pending';
CREATE INDEX deliveries_sending_idx ON deliveries (endpoint_id, id) WHERE status = 'sending';
-- The endpoint comes last, so that those of others are passed over in the index.
CREATE INDEX deliveries_odd_idx ON deliveries (account_id, status, id, endpoint_id) WHERE status IN ('failed', 'suppressed', 'cancelled', 'expired');
CREATE INDEX deliveries_trouble_idx ON deliveries (account_id, last_outcome, id, endpoint_id) WHERE last_outcome <> 'succeeded';

-- Keyed by delivery and number: the attempt's public id is made of the two.
CREATE TABLE attempts (
    delivery_id      uuid NOT NULL,
    n                integer NOT NULL,
    account_id       uuid NOT NULL,
    endpoint_id      uuid NOT NULL,
    event_id         uuid NOT NULL,
    trigger          text NOT NULL,
    fence            bigint NOT NULL,
    started_at       timestamptz NOT NULL,
    duration_us      bigint NOT NULL,
    dns_us           bigint NOT NULL DEFAULT 0,
    connect_us       bigint NOT NULL DEFAULT 0,
    tls_us           bigint NOT NULL DEFAULT 0,
    first_byte_us    bigint NOT NULL DEFAULT 0,
    outcome          text NOT NULL CONSTRAINT attempts_outcome_known CHECK (outcome IN ('succeeded', 'rejected', 'unreachable', 'unknown')),
    error_kind       text NOT NULL DEFAULT '',
    detail           text NOT NULL DEFAULT '',
    status_code      integer NOT NULL DEFAULT 0,
    request_headers  bytea NOT NULL DEFAULT '',
    response_headers bytea NOT NULL DEFAULT '',
    response_body    bytea NOT NULL DEFAULT '',
    CONSTRAINT attempts_pkey PRIMARY KEY (delivery_id, n),
    CONSTRAINT attempts_endpoint_fkey FOREIGN KEY (account_id, endpoint_id) REFERENCES endpoints (account_id, id)
) PARTITION BY RANGE (delivery_id);
CREATE INDEX attempts_account_idx ON attempts (account_id, started_at, delivery_id, n);
CREATE INDEX attempts_endpoint_idx ON attempts (endpoint_id, started_at, delivery_id, n);
CREATE INDEX attempts_trouble_idx ON attempts (account_id, outcome, started_at, delivery_id, n, endpoint_id) WHERE outcome <> 'succeeded';

-- What happened each minute at each endpoint, by the node that recorded it, so
-- that no two transactions wait for one row. Counts on pages come from here.
CREATE TABLE rollups (
    minute      timestamptz NOT NULL,
    endpoint_id uuid NOT NULL,
    node        text NOT NULL,
    account_id  uuid NOT NULL,
    succeeded   bigint NOT NULL DEFAULT 0,
    rejected    bigint NOT NULL DEFAULT 0,
    unreachable bigint NOT NULL DEFAULT 0,
    unknown     bigint NOT NULL DEFAULT 0,
    duration_us bigint NOT NULL DEFAULT 0,
    CONSTRAINT rollups_pkey PRIMARY KEY (endpoint_id, minute, node)
) WITH (fillfactor = 50);
CREATE INDEX rollups_account_idx ON rollups (account_id, minute);

-- How many events were decided and how large they were, by the transaction
-- that decided them. Confirmed deliveries are counted in rollups, and here when
-- those have gone: the two together are the number.
CREATE TABLE usage (
    account_id uuid NOT NULL CONSTRAINT usage_account_fkey REFERENCES accounts (id),
    hour       timestamptz NOT NULL,
    node       text NOT NULL,
    events     bigint NOT NULL,
    bytes      bigint NOT NULL,
    deliveries bigint NOT NULL DEFAULT 0,
    CONSTRAINT usage_pkey PRIMARY KEY (account_id, hour, node)
) WITH (fillfactor = 50);
