-- Where an account is told of what happened besides by mail: one address that
-- takes messages as Slack does. Its messages are sent, tried again and kept as
-- mails are.

-- +goose Up

CREATE TABLE alert_channels (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL CONSTRAINT alert_channels_account_fkey REFERENCES accounts (id),
    -- The address, which is a secret, sealed, and its host.
    sealed     bytea NOT NULL,
    host       text NOT NULL,
    kinds      text[] NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT alert_channels_account_key UNIQUE (account_id)
);

-- Of a message for a channel, whose it is. It goes to the address that the
-- account has when it is sent.
ALTER TABLE mails ADD COLUMN channel_of uuid;
CREATE INDEX mails_channel_idx ON mails (channel_of, id) WHERE channel_of IS NOT NULL;
