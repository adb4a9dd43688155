-- Lists of events that a person comes back to: what they are narrowed by, under
-- a name. They are the person's own, and go when the person leaves the account.

-- +goose Up

CREATE TABLE saved_views (
    account_id uuid NOT NULL,
    user_id    uuid NOT NULL,
    name       text NOT NULL,
    -- The list's address behind the question mark.
    query      text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT saved_views_pkey PRIMARY KEY (account_id, user_id, name),
    CONSTRAINT saved_views_member_fkey FOREIGN KEY (account_id, user_id) REFERENCES members (account_id, user_id) ON DELETE CASCADE
);
