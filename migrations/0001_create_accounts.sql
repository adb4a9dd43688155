-- Who there is: tenants, the people and the keys that act for them, and what
-- they did. Everything else hangs on accounts by composite keys
-- (account_id, id), so that no row can point into another tenant.

-- +goose Up

-- The keyset that seals every stored secret, wrapped by the master key.
CREATE TABLE keyset (
    singleton  boolean PRIMARY KEY DEFAULT true CONSTRAINT keyset_one CHECK (singleton),
    wrapped    bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE accounts (
    id         uuid PRIMARY KEY,
    name       text NOT NULL CONSTRAINT accounts_name_length CHECK (char_length(name) BETWEEN 1 AND 200),
    slug       text NOT NULL CONSTRAINT accounts_slug_key UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE users (
    id              uuid PRIMARY KEY,
    email           text NOT NULL,
    name            text NOT NULL,
    password_hash   text NOT NULL,
    -- Where the person was last, to begin there again; no sign of membership.
    last_account_id uuid CONSTRAINT users_last_account_fkey REFERENCES accounts (id),
    created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX users_email_key ON users (lower(email));

-- The first user owns the instance: one row can exist, so that two first
-- sign-ups make one owner.
CREATE TABLE instance_owner (
    singleton  boolean PRIMARY KEY DEFAULT true CONSTRAINT instance_owner_one CHECK (singleton),
    user_id    uuid NOT NULL CONSTRAINT instance_owner_user_fkey REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
    account_id uuid NOT NULL CONSTRAINT members_account_fkey REFERENCES accounts (id),
    user_id    uuid NOT NULL CONSTRAINT members_user_fkey REFERENCES users (id),
    role       text NOT NULL CONSTRAINT members_role_known CHECK (role IN ('owner', 'manager', 'member')),
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT members_pkey PRIMARY KEY (account_id, user_id)
);
CREATE INDEX members_user_idx ON members (user_id);

-- The key's text is shown once; what is kept cannot be turned back into it.
CREATE TABLE api_keys (
    id                uuid PRIMARY KEY,
    account_id        uuid NOT NULL CONSTRAINT api_keys_account_fkey REFERENCES accounts (id),
    name              text NOT NULL,
    hash              bytea NOT NULL CONSTRAINT api_keys_hash_key UNIQUE,
    hint              text NOT NULL,
    scopes            text[] NOT NULL,
    events_per_second integer,
    created_at        timestamptz NOT NULL DEFAULT now(),
    ends_at           timestamptz,
    CONSTRAINT api_keys_account_id_key UNIQUE (account_id, id)
);

CREATE TABLE audit_log (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL CONSTRAINT audit_log_account_fkey REFERENCES accounts (id),
    actor      text NOT NULL,
    action     text NOT NULL,
    object     text NOT NULL,
    detail     text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_log_account_idx ON audit_log (account_id, id);
CREATE INDEX audit_log_object_idx ON audit_log (account_id, object, id);

-- What was written to the audit log stays as it was written.
-- +goose StatementBegin
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER audit_log_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
