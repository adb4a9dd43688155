-- A source can have a rule: by what its events are told apart, what they are
-- about, what they say of it, and as what they are told. What was said of a
-- subject stands in facts, so that it is told once.

-- +goose Up

ALTER TABLE sources
    ADD COLUMN rule jsonb,
    -- Grows with every change of the rule, and is never used twice.
    ADD COLUMN rule_version integer NOT NULL DEFAULT 0;

-- type is what an event is told as; received_type is what came in, where a rule
-- gave it another one. subject is a rule's, too, where the source has one.
ALTER TABLE events
    ADD COLUMN received_type text,
    -- What it reports of its subject, and the fact that this made new; null for
    -- a report that told nothing new.
    ADD COLUMN reported text,
    ADD COLUMN fact_id uuid,
    -- Its key or its type could not be read when it came in.
    ADD COLUMN rule_failed boolean NOT NULL DEFAULT false,
    -- How often it was put off for want of its subject, and until when.
    ADD COLUMN waits smallint NOT NULL DEFAULT 0,
    ADD COLUMN wait_until timestamptz;

-- What is known of a subject. seen are the states that were told of it. Subjects
-- are found by their hashes, for all sources of an account or for one.
CREATE TABLE facts (
    id           uuid PRIMARY KEY,
    account_id   uuid NOT NULL,
    source_id    uuid NOT NULL,
    subject_hash bytea NOT NULL,
    subject      text NOT NULL,
    state        text NOT NULL,
    rank         integer,
    terminal     boolean NOT NULL,
    seen         text[] NOT NULL,
    event_id     uuid NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT facts_subject_key UNIQUE (account_id, subject_hash, source_id),
    CONSTRAINT facts_source_fkey FOREIGN KEY (account_id, source_id) REFERENCES sources (account_id, id)
) WITH (fillfactor = 80);
CREATE INDEX facts_account_idx ON facts (account_id, id);
CREATE INDEX facts_source_idx ON facts (source_id, id);
CREATE INDEX facts_state_idx ON facts (account_id, state, id);
