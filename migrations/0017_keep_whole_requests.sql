-- One request can bring several events, a refused one can be accepted later,
-- and some providers send their secret to a source that waits for it.
--
-- Each statement is a transaction of its own, since nodes that write hold these
-- tables in more than one order: who waits for one must hold none. What was done
-- before a failure is left as it is.

-- +goose NO TRANSACTION
-- +goose Up

-- The request that an event came in, where that is kept by itself: one that
-- brought several (its bytes stand in event_bodies under this id, once), or one
-- that was refused first.
ALTER TABLE events ADD COLUMN IF NOT EXISTS request_id uuid;

-- Until when the next secret that the provider sends is taken; null is not.
ALTER TABLE sources ADD COLUMN IF NOT EXISTS capture_until timestamptz;
-- A secret that came from the provider can be shown to who has to paste it
-- back; one that was pasted here is never shown.
ALTER TABLE source_secrets ADD COLUMN IF NOT EXISTS captured boolean NOT NULL DEFAULT false;

-- Which header was read, what was answered, who sent it, and when a person
-- accepted it after all.
ALTER TABLE requests
    ADD COLUMN IF NOT EXISTS header text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS answered smallint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS sender text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS accepted_at timestamptz;
