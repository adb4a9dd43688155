-- What waits for claims of an event type, once that type is single-fire no more.

-- +goose Up

CREATE INDEX claims_waited_type_idx ON claims (account_id, event_type, id) WHERE waited AND event_type IS NOT NULL;
