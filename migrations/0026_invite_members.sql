-- Invitations into an account, beside those to sign up: for one address or for
-- whoever has the link, with the role that the person will have.

-- +goose Up

ALTER TABLE invitations
    -- The account and the role that it gives; both are null for an invitation to
    -- sign up and begin an account of one's own.
    ADD COLUMN account_id uuid CONSTRAINT invitations_account_fkey REFERENCES accounts (id),
    ADD COLUMN role       text CONSTRAINT invitations_role_known CHECK (role IN ('viewer', 'operator', 'admin', 'owner')),
    -- Who made it, who may be an API key: then there is no created_by.
    ADD COLUMN actor      text NOT NULL DEFAULT '',
    ADD COLUMN revoked_at timestamptz,
    ALTER COLUMN created_by DROP NOT NULL,
    ADD CONSTRAINT invitations_into CHECK ((account_id IS NULL) = (role IS NULL));
CREATE INDEX invitations_account_idx ON invitations (account_id, id) WHERE used_by IS NULL AND revoked_at IS NULL;
-- Whoever was asked is reminded, and not asked a second time.
CREATE UNIQUE INDEX invitations_asked_key ON invitations (account_id, email)
    WHERE email <> '' AND used_by IS NULL AND revoked_at IS NULL AND account_id IS NOT NULL;

-- When a member last looked at the account, give or take some minutes.
ALTER TABLE members ADD COLUMN seen_at timestamptz;
