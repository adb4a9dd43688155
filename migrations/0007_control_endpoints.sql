-- How an endpoint is sent to, and how much of it: what it wants of the events
-- of its types, how many a second, how they are signed, what it asks for at its
-- door, and who gets what it could not be given.

-- +goose Up

ALTER TABLE endpoints
    -- A CEL expression that an event must meet; empty lets every one through.
    ADD COLUMN filter          text NOT NULL DEFAULT '',
    ADD COLUMN rate_per_second integer
        CONSTRAINT endpoints_rate_range CHECK (rate_per_second BETWEEN 1 AND 10000),
    ADD COLUMN failover_id     uuid
        CONSTRAINT endpoints_failover_other CHECK (failover_id <> id),
    ADD COLUMN signature       text NOT NULL DEFAULT 'v1'
        CONSTRAINT endpoints_signature_known CHECK (signature IN ('v1', 'v1a')),
    ADD COLUMN auth_kind       text NOT NULL DEFAULT ''
        CONSTRAINT endpoints_auth_known CHECK (auth_kind IN ('', 'basic', 'bearer')),
    ADD COLUMN auth_sealed     bytea NOT NULL DEFAULT '',
    ADD CONSTRAINT endpoints_failover_fkey FOREIGN KEY (account_id, failover_id) REFERENCES endpoints (account_id, id);
CREATE INDEX endpoints_failover_idx ON endpoints (account_id, failover_id) WHERE failover_id IS NOT NULL;

ALTER TABLE lanes
    -- Nothing is sent before, so that a limit a second holds over hand-overs.
    ADD COLUMN paced_until timestamptz,
    -- When the in-flight cap was last halved.
    ADD COLUMN narrowed_at timestamptz;
