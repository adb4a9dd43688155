-- What goes out: one delivery an event and endpoint, its attempts, and the
-- numbers that pages and meters read.

-- +goose Up

-- The id is derived from event and endpoint and carries the event's time, so
-- an event and its deliveries lie in partitions of the same day.
CREATE TABLE deliveries (
    id               uuid NOT NULL,
    account_id       uuid NOT NULL,
    event_id         uuid NOT NULL,
    endpoint_id      uuid NOT NULL,
    status           text NOT NULL DEFAULT 'pending' CONSTRAINT deliveries_status_known CHECK (status IN
                     ('pending', 'sending', 'delivered', 'failed', 'suppressed', 'cancelled', 'expired')),
    priority         smallint NOT NULL DEFAULT 0,
    trigger          text NOT NULL DEFAULT 'auto',
    attempts         integer NOT NULL DEFAULT 0,
    -- How many attempts of the present schedule were made; attempts go on counting.
    step             integer NOT NULL DEFAULT 0,
    fence            bigint NOT NULL DEFAULT 0,
    next_attempt_at  timestamptz,
    waiting_on       uuid,
    last_outcome     text,
    -- Why the last attempt failed, as the attempt says it.
    last_error_kind  text NOT NULL DEFAULT '',
    last_status_code integer NOT NULL DEFAULT 0,
    created_at       timestamptz NOT NULL DEFAULT now(),
    closed_at        timestamptz,
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
-- The endpoint and the cause come last, so that those of others are passed over
-- in the index, and failures are counted by them there.
CREATE INDEX deliveries_odd_idx ON deliveries (account_id, status, id, endpoint_id, last_error_kind, last_status_code) INCLUDE (closed_at)
    WHERE status IN ('failed', 'suppressed', 'cancelled', 'expired');
CREATE INDEX deliveries_trouble_idx ON deliveries (account_id, last_outcome, id, endpoint_id, last_error_kind, last_status_code)
    WHERE last_outcome <> 'succeeded';

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
CREATE INDEX attempts_endpoint_trouble_idx ON attempts (endpoint_id, started_at, delivery_id, n) WHERE outcome <> 'succeeded';
CREATE INDEX attempts_cause_idx ON attempts (account_id, error_kind, status_code, started_at, delivery_id, n, endpoint_id) WHERE outcome <> 'succeeded';

-- What happened at each endpoint in each minute, and in each quarter of an hour
-- and two hours, by the node that recorded it, so that no two transactions wait
-- for one row. Counts on pages come from here, a month of them from few rows.
CREATE TABLE rollups (
    -- When the span began, and how many minutes it has.
    minute      timestamptz NOT NULL,
    span        smallint NOT NULL DEFAULT 1 CONSTRAINT rollups_span_known CHECK (span IN (1, 15, 120)),
    endpoint_id uuid NOT NULL,
    node        text NOT NULL,
    account_id  uuid NOT NULL,
    succeeded   bigint NOT NULL DEFAULT 0,
    rejected    bigint NOT NULL DEFAULT 0,
    unreachable bigint NOT NULL DEFAULT 0,
    unknown     bigint NOT NULL DEFAULT 0,
    -- Of those that did not succeed, how many ended their delivery.
    gave_up     bigint NOT NULL DEFAULT 0,
    duration_us bigint NOT NULL DEFAULT 0,
    -- How many answers took at most so many milliseconds, and more than the
    -- column before says.
    ms_5        integer NOT NULL DEFAULT 0,
    ms_8        integer NOT NULL DEFAULT 0,
    ms_13       integer NOT NULL DEFAULT 0,
    ms_20       integer NOT NULL DEFAULT 0,
    ms_32       integer NOT NULL DEFAULT 0,
    ms_50       integer NOT NULL DEFAULT 0,
    ms_80       integer NOT NULL DEFAULT 0,
    ms_130      integer NOT NULL DEFAULT 0,
    ms_200      integer NOT NULL DEFAULT 0,
    ms_320      integer NOT NULL DEFAULT 0,
    ms_500      integer NOT NULL DEFAULT 0,
    ms_800      integer NOT NULL DEFAULT 0,
    ms_1300     integer NOT NULL DEFAULT 0,
    ms_2000     integer NOT NULL DEFAULT 0,
    ms_3200     integer NOT NULL DEFAULT 0,
    ms_5000     integer NOT NULL DEFAULT 0,
    ms_8000     integer NOT NULL DEFAULT 0,
    ms_13000    integer NOT NULL DEFAULT 0,
    ms_20000    integer NOT NULL DEFAULT 0,
    ms_32000    integer NOT NULL DEFAULT 0,
    ms_60000    integer NOT NULL DEFAULT 0,
    CONSTRAINT rollups_pkey PRIMARY KEY (endpoint_id, span, minute, node)
) WITH (fillfactor = 50);
CREATE INDEX rollups_account_idx ON rollups (account_id, span, minute);

-- How many events were decided and how large they were, by the transaction
-- that decided them. Confirmed deliveries are counted in rollups, and here when
-- their minutes have gone: the two together are the number. They are of no
-- source, which is written as zeros.
CREATE TABLE usage (
    account_id uuid NOT NULL CONSTRAINT usage_account_fkey REFERENCES accounts (id),
    hour       timestamptz NOT NULL,
    source_id  uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    node       text NOT NULL,
    events     bigint NOT NULL,
    bytes      bigint NOT NULL,
    deliveries bigint NOT NULL DEFAULT 0,
    CONSTRAINT usage_pkey PRIMARY KEY (account_id, hour, source_id, node)
) WITH (fillfactor = 50);
