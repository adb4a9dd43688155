-- The claim ledger: who may do a thing that is to be done once, and whether it
-- was done. Receivers keep their own keys in it, and deliveries of single-fire
-- types theirs.

-- +goose Up

-- One row a key, for ever the same one: it is claimed, completed or released by
-- guarded updates, and its fence only grows. Hashes, since a key may be long.
CREATE TABLE claims (
    id               uuid PRIMARY KEY,
    account_id       uuid NOT NULL CONSTRAINT claims_account_fkey REFERENCES accounts (id),
    -- The caller's, or the id of the endpoint at the head of a failover chain.
    scope            text NOT NULL,
    key_hash         bytea NOT NULL,
    key              text NOT NULL,
    -- Of a single-fire claim; both are null in the ledger that receivers use.
    event_type       text,
    subject          text,
    state            text NOT NULL CONSTRAINT claims_state_known CHECK (state IN ('in_progress', 'done', 'released')),
    holder           text NOT NULL,
    -- Who called, so that a caller whose answer was lost gets the same fence.
    call_hash        bytea,
    -- The delivery that holds it or held it last.
    delivery_id      uuid,
    fence            bigint NOT NULL,
    on_doubt         text NOT NULL CONSTRAINT claims_on_doubt_known CHECK (on_doubt IN ('resend', 'hold')),
    claimed_at       timestamptz NOT NULL,
    lease_expires_at timestamptz NOT NULL,
    -- When it was completed, released, reclaimed or resolved last.
    ended_at         timestamptz,
    -- Byte for byte as the holder said it.
    result           bytea,
    -- Deliveries have waited for it: whoever ends it looks for them.
    waited           boolean NOT NULL DEFAULT false,
    -- For which fence it was told that its lease had ended.
    doubt_told       bigint NOT NULL DEFAULT 0,
    CONSTRAINT claims_key UNIQUE (account_id, scope, key_hash),
    CONSTRAINT claims_subject_known CHECK ((event_type IS NULL) = (subject IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX claims_account_idx ON claims (account_id, id);
CREATE INDEX claims_scope_idx ON claims (account_id, scope, id);
CREATE INDEX claims_key_idx ON claims (account_id, key_hash);
CREATE INDEX claims_subject_idx ON claims (account_id, subject, id) WHERE subject IS NOT NULL;
-- What is not done: lists by state, and leases that have ended.
CREATE INDEX claims_open_idx ON claims (account_id, state, id) WHERE state <> 'done';
CREATE INDEX claims_lease_idx ON claims (account_id, lease_expires_at, id) WHERE state = 'in_progress';
-- What is to be forgotten; single-fire claims are kept.
CREATE INDEX claims_ended_idx ON claims (ended_at) WHERE state <> 'in_progress' AND event_type IS NULL;

-- Every holder that a claim had, with how it ended; one that did not was
-- followed by the next when its lease had ended.
CREATE TABLE claim_holds (
    claim_id         uuid NOT NULL CONSTRAINT claim_holds_claim_fkey REFERENCES claims (id) ON DELETE CASCADE,
    fence            bigint NOT NULL,
    account_id       uuid NOT NULL,
    -- The claim's, so that how long its work takes is read in one place.
    scope            text NOT NULL,
    holder           text NOT NULL,
    delivery_id      uuid,
    claimed_at       timestamptz NOT NULL,
    lease_expires_at timestamptz NOT NULL,
    ended_at         timestamptz,
    ended            text CONSTRAINT claim_holds_ended_known CHECK (ended IN ('completed', 'released', 'reclaimed', 'resolved')),
    -- Who reclaimed or resolved it, and why.
    actor            text NOT NULL DEFAULT '',
    reason           text NOT NULL DEFAULT '',
    CONSTRAINT claim_holds_pkey PRIMARY KEY (claim_id, fence)
) WITH (fillfactor = 70);
CREATE INDEX claim_holds_done_idx ON claim_holds (account_id, scope, ended_at) INCLUDE (claimed_at) WHERE ended = 'completed';

-- Leases of single-fire claims that have ended and of which nobody was told.
CREATE INDEX claims_doubt_idx ON claims (lease_expires_at) WHERE state = 'in_progress' AND event_type IS NOT NULL AND doubt_told < fence;
-- What others wait for, and nobody may be at: the turn must not be lost.
CREATE INDEX claims_turn_idx ON claims (lease_expires_at, id) WHERE waited;

ALTER TABLE deliveries
    -- The claim of a single-fire delivery, since its first attempt.
    ADD COLUMN claim_id        uuid,
    -- A person wants it sent although the thing is done.
    ADD COLUMN overrides_claim boolean NOT NULL DEFAULT false;
CREATE INDEX deliveries_claim_idx ON deliveries (claim_id, id) WHERE claim_id IS NOT NULL;
CREATE INDEX deliveries_waiting_idx ON deliveries (waiting_on, id) WHERE waiting_on IS NOT NULL;
