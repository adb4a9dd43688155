-- How people come in and stay in: sessions, what they tried, and the one-time
-- links that let somebody do something once. Of every token the SHA-256 alone
-- is kept; it has 256 random bits, so that the hash cannot be turned back.

-- +goose Up

-- A person's log-in in one browser. A row is a live session: ending one
-- deletes it.
CREATE TABLE sessions (
    id         uuid PRIMARY KEY,
    user_id    uuid NOT NULL CONSTRAINT sessions_user_fkey REFERENCES users (id),
    hash       bytea NOT NULL CONSTRAINT sessions_hash_key UNIQUE,
    -- The person asked to stay logged in.
    keep       boolean NOT NULL,
    address    text NOT NULL,
    agent      text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now(),
    -- It ends when it was not used for idle, and by last_at however it is used.
    idle       interval NOT NULL,
    ends_at    timestamptz NOT NULL,
    last_at    timestamptz NOT NULL,
    -- A message for the next page, shown once. It may carry a secret: sealed.
    flash      bytea,
    -- The path of the only page that shows it; empty: whichever is next.
    flash_page text NOT NULL DEFAULT '',
    CONSTRAINT sessions_ends CHECK (ends_at <= last_at)
);
CREATE INDEX sessions_user_idx ON sessions (user_id, id);
CREATE INDEX sessions_ends_idx ON sessions (ends_at);

-- How often something was tried that is not to be tried without end. The
-- subject is a hash of what is tried and the mail address it is tried for,
-- whether a user has it or not; the address is the client's, empty for all.
CREATE TABLE tries (
    subject bytea NOT NULL,
    address text NOT NULL,
    tries   integer NOT NULL,
    ends_at timestamptz NOT NULL,
    CONSTRAINT tries_pkey PRIMARY KEY (subject, address)
);
CREATE INDEX tries_ends_idx ON tries (ends_at);

-- Links that let the first person sign up. Each node may print its own; all
-- are of no use once the instance has an owner.
CREATE TABLE setup_tokens (
    hash       bytea PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE invitations (
    id         uuid PRIMARY KEY,
    hash       bytea NOT NULL CONSTRAINT invitations_hash_key UNIQUE,
    -- The only address that can use it; empty: whoever has the link.
    email      text NOT NULL,
    created_by uuid NOT NULL CONSTRAINT invitations_created_by_fkey REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    ends_at    timestamptz NOT NULL,
    used_by    uuid CONSTRAINT invitations_used_by_fkey REFERENCES users (id),
    used_at    timestamptz
);

-- A link that lets a person set a new password. A row is one that is open, or
-- whose time is over: using one deletes it.
CREATE TABLE password_resets (
    hash       bytea PRIMARY KEY,
    user_id    uuid NOT NULL CONSTRAINT password_resets_user_fkey REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    ends_at    timestamptz NOT NULL
);
CREATE INDEX password_resets_user_idx ON password_resets (user_id);
CREATE INDEX password_resets_ends_idx ON password_resets (ends_at);

-- What is written to people. The body may carry a token: it is sealed, and
-- goes once the mail was sent or its time is over.
CREATE TABLE mails (
    id         uuid PRIMARY KEY,
    recipient  text NOT NULL,
    subject    text NOT NULL,
    body       bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    tries      integer NOT NULL DEFAULT 0,
    -- When the next try is due; NULL: there is none to come.
    due_at     timestamptz,
    sent_at    timestamptz,
    -- What the last try said.
    failure    text NOT NULL DEFAULT ''
);
CREATE INDEX mails_due_idx ON mails (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mails_body_idx ON mails (created_at) WHERE body IS NOT NULL;
CREATE INDEX mails_created_idx ON mails (created_at);
