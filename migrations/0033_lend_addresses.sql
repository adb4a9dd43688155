-- An address of this machine that is lent to an account: its endpoints may be sent to
-- it although no private network is allowed. It is for the receiver of rowlock demo,
-- which holds it as long as it runs; the loan ends by itself.

-- +goose Up

ALTER TABLE accounts
    ADD COLUMN lent_address text NOT NULL DEFAULT ''
        CONSTRAINT accounts_lent_loopback CHECK (lent_address ~ '^$|^127\.0\.0\.1:[0-9]+$'),
    ADD COLUMN lent_until timestamptz;
