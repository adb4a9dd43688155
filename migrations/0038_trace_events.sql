-- An event that came in a distributed trace goes on in it, when it is decided and
-- with each attempt, on whatever node. A null costs no byte, and no row is
-- rewritten.

-- +goose Up

-- The trace's id and the span's that accepted it, 16 and 8 bytes; null for none.
ALTER TABLE events ADD COLUMN span bytea;
