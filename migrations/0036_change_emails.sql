-- Another address to log in with. It is asked for by who knows the password, and
-- taken once its mailbox has shown the link: one wish a person, the newest.

-- +goose Up

CREATE TABLE email_changes (
    user_id    uuid PRIMARY KEY CONSTRAINT email_changes_user_fkey REFERENCES users (id),
    hash       bytea NOT NULL CONSTRAINT email_changes_hash_key UNIQUE,
    email      text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    ends_at    timestamptz NOT NULL
);
CREATE INDEX email_changes_ends_idx ON email_changes (ends_at);
