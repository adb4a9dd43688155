-- The audit log tells from where something was done and what was refused, has also
-- what is of the instance and of no account, and is found by person, area and
-- outcome. API keys tell when they were used last, from which networks they may be,
-- and that it was told that they end. Each statement is a transaction of its own,
-- since nodes that write hold these tables in more than one order.

-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE audit_log
    -- Null: of the instance, and of no account.
    ALTER COLUMN account_id DROP NOT NULL,
    -- The client's address, and what it calls itself; empty where nobody asked.
    ADD COLUMN IF NOT EXISTS address text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS agent   text NOT NULL DEFAULT '',
    -- Somebody tried and may not: nothing was done.
    ADD COLUMN IF NOT EXISTS refused boolean NOT NULL DEFAULT false;
-- Every list is of one account. Were there an index by id alone, the plans that
-- are made once for all accounts would walk it past everybody else's entries.
-- What a person does to themselves is told in each of their accounts, under one
-- id.
CREATE UNIQUE INDEX IF NOT EXISTS audit_log_key ON audit_log (account_id, id) NULLS NOT DISTINCT;
ALTER TABLE audit_log DROP CONSTRAINT IF EXISTS audit_log_pkey;
DROP INDEX IF EXISTS audit_log_account_idx;
CREATE INDEX IF NOT EXISTS audit_log_actor_idx ON audit_log (account_id, actor, id);
CREATE INDEX IF NOT EXISTS audit_log_area_idx ON audit_log (account_id, split_part(action, '.', 1), id);
CREATE INDEX IF NOT EXISTS audit_log_refused_idx ON audit_log (account_id, id) WHERE refused;
CREATE INDEX IF NOT EXISTS audit_log_changes_idx ON audit_log (account_id, id)
    WHERE NOT refused AND split_part(action, '.', 1) NOT IN ('export', 'login', 'view');
CREATE INDEX IF NOT EXISTS audit_log_instance_idx ON audit_log (id) WHERE account_id IS NULL;

-- An account that was deleted, after its time of grace, takes its entries with
-- it: they name people, and nobody can read them any more. No other entry goes.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION keep_audit_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM accounts WHERE id = OLD.account_id AND gone_at IS NOT NULL) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
-- This one comes before the other lets deletions pass.
CREATE OR REPLACE TRIGGER audit_log_kept
    BEFORE DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION keep_audit_entry();
CREATE OR REPLACE TRIGGER audit_log_append_only
    BEFORE UPDATE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

ALTER TABLE api_keys
    -- Null: from anywhere.
    ADD COLUMN IF NOT EXISTS networks       cidr[],
    -- When it was used last, give or take a minute, and from where; null: never.
    ADD COLUMN IF NOT EXISTS last_used_at   timestamptz,
    ADD COLUMN IF NOT EXISTS last_used_from inet,
    -- When the account was told that it ends soon; null: not yet.
    ADD COLUMN IF NOT EXISTS end_told_at    timestamptz;
CREATE INDEX IF NOT EXISTS api_keys_ending_idx ON api_keys (ends_at)
    WHERE end_told_at IS NULL AND ends_at - created_at > interval '7 days';
