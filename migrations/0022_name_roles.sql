-- Members are viewers, operators, admins or owners. Who could change everything
-- but members is an admin now, who could look is a viewer.

-- +goose Up

ALTER TABLE members DROP CONSTRAINT members_role_known;
UPDATE members SET role = CASE role WHEN 'manager' THEN 'admin' WHEN 'member' THEN 'viewer' ELSE role END;
ALTER TABLE members ADD CONSTRAINT members_role_known CHECK (role IN ('viewer', 'operator', 'admin', 'owner'));
