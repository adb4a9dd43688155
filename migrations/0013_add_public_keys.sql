-- A key that signs with Ed25519 has a public half, which whoever verifies may
-- know: it stands beside the sealed key, so that showing it opens nothing.

-- +goose Up

ALTER TABLE endpoint_secrets
    ADD COLUMN public_key text NOT NULL DEFAULT ''; -- of a shared secret: none
