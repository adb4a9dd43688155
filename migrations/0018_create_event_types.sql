-- What an account says of its event types. A type need not be declared to be
-- used; one that is can have a schema, and can be one of those that reach an
-- endpoint once.

-- +goose Up

-- A version is never given twice, also not to a type that was deleted and
-- declared again: what was compiled of one stands for no other.
CREATE SEQUENCE event_type_versions;

CREATE TABLE event_types (
    account_id  uuid NOT NULL CONSTRAINT event_types_account_fkey REFERENCES accounts (id),
    -- Compared by its bytes, as lists are ordered.
    name        text COLLATE "C" NOT NULL,
    description text NOT NULL DEFAULT '',
    -- JSON as it was given; null is no schema.
    schema      bytea,
    -- A JSON array of data.
    examples    bytea NOT NULL DEFAULT '[]',
    single_fire boolean NOT NULL DEFAULT false,
    on_doubt    text NOT NULL DEFAULT 'resend' CONSTRAINT event_types_on_doubt_known CHECK (on_doubt IN ('resend', 'hold')),
    version     bigint NOT NULL DEFAULT nextval('event_type_versions'),
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT event_types_pkey PRIMARY KEY (account_id, name)
);

-- Nodes remember types for moments; a change is told to them at once, where
-- changes of sources are told.
CREATE TRIGGER event_types_changed
    AFTER INSERT OR UPDATE OR DELETE ON event_types
    FOR EACH STATEMENT EXECUTE FUNCTION tell_source_change();
