-- The key of stored secrets is changed while servers run: the database says
-- which key seals by now and whether all is sealed with it, and each node which
-- key it seals with and which master keys it has. And a lane says since when it
-- is held, for who looks for one that hangs.

-- +goose Up

ALTER TABLE keyset
    -- The key that seals; NULL: it was never rotated.
    ADD COLUMN key_id      bigint,
    ADD COLUMN rotated_at  timestamptz,
    -- When everything was sealed with it; NULL after rotated_at: not yet.
    ADD COLUMN resealed_at timestamptz;

ALTER TABLE nodes
    ADD COLUMN key_id      bigint,
    -- Fingerprints of the master keys that the node could open the keyset with.
    ADD COLUMN master_keys text[];

ALTER TABLE lanes
    ADD COLUMN held_since timestamptz;
