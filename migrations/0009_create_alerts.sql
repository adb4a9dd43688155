-- Who is written to when something needs a person: what members chose, what
-- happened and nobody was told of yet, and failed deliveries that are gathered
-- so that an outage is one mail an hour and not thousands.

-- +goose Up

-- What a member chose. Who has no row for a kind gets what their role gets;
-- who is no member any more has none.
CREATE TABLE alert_choices (
    account_id uuid NOT NULL,
    user_id    uuid NOT NULL,
    kind       text NOT NULL,
    wanted     boolean NOT NULL,
    CONSTRAINT alert_choices_pkey PRIMARY KEY (account_id, user_id, kind),
    CONSTRAINT alert_choices_member_fkey FOREIGN KEY (account_id, user_id)
        REFERENCES members (account_id, user_id) ON DELETE CASCADE
);

-- What members are still to be told. A row is written by the transaction that
-- earned it, and deleted by the one that writes the mails.
CREATE TABLE alerts (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL CONSTRAINT alerts_account_fkey REFERENCES accounts (id),
    -- The type and the data of the own event that tells programs the same.
    type       text NOT NULL,
    data       bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- An endpoint's failed deliveries since the last mail about them.
CREATE TABLE failure_digests (
    endpoint_id uuid PRIMARY KEY,
    account_id  uuid NOT NULL,
    failed      bigint NOT NULL,
    -- How many of them by cause: a status code, or why no answer came.
    causes      jsonb NOT NULL,
    -- When the first of them was given up; NULL: none was since the last mail.
    since       timestamptz,
    -- When they are told; NULL with since.
    due_at      timestamptz,
    told_at     timestamptz,
    CONSTRAINT failure_digests_endpoint_fkey FOREIGN KEY (account_id, endpoint_id) REFERENCES endpoints (account_id, id),
    CONSTRAINT failure_digests_due CHECK ((since IS NULL) = (due_at IS NULL))
) WITH (fillfactor = 50);
CREATE INDEX failure_digests_due_idx ON failure_digests (due_at) WHERE due_at IS NOT NULL;
