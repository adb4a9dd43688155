-- Two-step log-in: whoever turned it on shows a code after the password. The key
-- that codes are made of is the person's own, and recovery codes stand in for it
-- where it was lost.

-- +goose Up

ALTER TABLE users
    -- The key that codes are made of, sealed. Without two_step_at nobody has
    -- shown yet that they have it, and no code is asked for.
    ADD COLUMN step_key    bytea,
    ADD COLUMN two_step_at timestamptz,
    -- The newest step of time whose code was used: none of it, or of one before,
    -- is taken again.
    ADD COLUMN last_step   bigint NOT NULL DEFAULT 0,
    ADD CONSTRAINT users_two_step_key CHECK (two_step_at IS NULL OR step_key IS NOT NULL);

-- A row is a code that was not used: using one deletes it.
CREATE TABLE recovery_codes (
    user_id uuid NOT NULL CONSTRAINT recovery_codes_user_fkey REFERENCES users (id),
    hash    bytea NOT NULL,
    CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, hash)
);

-- A log-in whose password was right, and whose code is awaited, by the hash of
-- what the browser holds. A row is one that waits, or whose time is over.
CREATE TABLE half_logins (
    hash    bytea PRIMARY KEY,
    user_id uuid NOT NULL CONSTRAINT half_logins_user_fkey REFERENCES users (id),
    -- The person asked to stay logged in.
    keep    boolean NOT NULL,
    ends_at timestamptz NOT NULL
);
CREATE INDEX half_logins_user_idx ON half_logins (user_id);
CREATE INDEX half_logins_ends_idx ON half_logins (ends_at);

-- Whether the account is for members who have turned it on alone.
ALTER TABLE accounts ADD COLUMN two_step_required boolean NOT NULL DEFAULT false;
