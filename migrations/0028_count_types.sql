-- How many events of each type were decided in each hour: which types are the
-- busiest, and when those of one came in, without counting a history. Written
-- by the transaction that decides, beside usage, which knows no types.

-- +goose Up

CREATE TABLE type_counts (
    account_id uuid NOT NULL CONSTRAINT type_counts_account_fkey REFERENCES accounts (id),
    hour       timestamptz NOT NULL,
    type       text NOT NULL,
    node       text NOT NULL,
    events     bigint NOT NULL,
    CONSTRAINT type_counts_pkey PRIMARY KEY (account_id, hour, type, node)
) WITH (fillfactor = 50);
