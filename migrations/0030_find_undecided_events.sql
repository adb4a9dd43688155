-- Reports are judged in the order in which they came: what is not decided of a
-- source is looked for with every job that decides of it, the oldest first.

-- +goose Up

CREATE INDEX events_undecided_idx ON events (source_id, id) WHERE status = 'accepted';
