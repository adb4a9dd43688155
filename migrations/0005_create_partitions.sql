-- Days of the big tables are made ahead of time, by every node, under an
-- advisory lock. A day is made as a table of its own and then attached:
-- ATTACH lets readers and writers of the other days go on.

-- +goose Up

-- partition_bound is the smallest id that can be made on a day.
CREATE FUNCTION partition_bound(day date) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT rpad(lpad(to_hex((extract(epoch FROM day) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

-- make_partitions makes the days that are missing and tells how many it made.
-- What people filter by is planned for as if every value were rare: a plan is
-- made once for all values, and one that walks a day to meet a common value
-- walks all of it for a rare one. An account has more rows than what one asks
-- for within it.
-- +goose StatementBegin
CREATE FUNCTION make_partitions(first date, last date) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    parent text;
    child  text;
    day    date;
    made   integer := 0;
    filter CONSTANT name[] := ARRAY['account_id', 'source_id', 'endpoint_id', 'type', 'subject', 'status', 'cause', 'outcome', 'last_outcome',
                              'error_kind', 'status_code', 'last_error_kind', 'last_status_code'];
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('rowlock partitions'));
    FOR day IN SELECT generate_series(first, last, interval '1 day')::date LOOP
        FOREACH parent IN ARRAY ARRAY['events', 'event_bodies', 'requests', 'deliveries', 'attempts'] LOOP
            child := parent || '_' || to_char(day, 'YYYYMMDD');
            CONTINUE WHEN to_regclass(child) IS NOT NULL;
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION)', child, parent);
            EXECUTE (
                SELECT format('ALTER TABLE %I ', child) || string_agg(format('ALTER COLUMN %I SET (n_distinct = %s)',
                    attname, CASE attname WHEN 'account_id' THEN -0.02 ELSE -0.1 END), ', ')
                FROM pg_attribute
                WHERE attrelid = to_regclass(child)
                  AND attname = ANY (filter));
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                parent, child, partition_bound(day), partition_bound(day + 1));
            made := made + 1;
        END LOOP;
    END LOOP;
    RETURN made;
END
$$;
-- +goose StatementEnd

-- What an account was told of a day that goes and still has something open in
-- it: once that it will go, and once that it went. The row goes with the day.
CREATE TABLE retention_notices (
    account_id uuid NOT NULL CONSTRAINT retention_notices_account_fkey REFERENCES accounts (id),
    day        date NOT NULL,
    kind       text NOT NULL CONSTRAINT retention_notices_kind_known CHECK (kind IN ('warning', 'expiry')),
    deliveries bigint NOT NULL,
    held       bigint NOT NULL,
    accepted   bigint NOT NULL,
    CONSTRAINT retention_notices_pkey PRIMARY KEY (day, account_id, kind)
);

-- Bodies compress with lz4 where the server was built with it.
-- +goose StatementBegin
DO $$
BEGIN
    ALTER TABLE event_bodies ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END
$$;
-- +goose StatementEnd

-- Enough to begin with, on a database that was just made.
SELECT make_partitions((now() AT TIME ZONE 'UTC')::date - 1, (now() AT TIME ZONE 'UTC')::date + 2);
