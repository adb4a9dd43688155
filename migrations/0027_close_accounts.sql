-- Accounts can be deleted, after a time in which an owner can restore them:
-- meanwhile what comes in is held, and nothing goes out. Each statement is a
-- transaction of its own, since nodes that write hold these tables in more than
-- one order. What was done before a failure is left as it is.

-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE accounts
    -- From when on the account is deleted, and who asked for it; null: it is not.
    ADD COLUMN IF NOT EXISTS delete_at  timestamptz,
    ADD COLUMN IF NOT EXISTS delete_by  text NOT NULL DEFAULT '',
    -- When it was taken from its members, and when its last rows went. The
    -- account's own row stays, for the audit log, which nobody deletes.
    ADD COLUMN IF NOT EXISTS gone_at    timestamptz,
    ADD COLUMN IF NOT EXISTS emptied_at timestamptz;
CREATE INDEX IF NOT EXISTS accounts_closing_idx ON accounts (delete_at) WHERE delete_at IS NOT NULL AND emptied_at IS NULL;

-- It was stopped with its account, and goes on when that is restored.
ALTER TABLE endpoints ADD COLUMN IF NOT EXISTS resumes boolean NOT NULL DEFAULT false;
ALTER TABLE sources ADD COLUMN IF NOT EXISTS resumes boolean NOT NULL DEFAULT false;
