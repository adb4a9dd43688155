package store

import (
	"context"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Whoever changes who is in an account, or may invite, locks the account first:
// what the guards of two such changes look at cannot change between them. So
// they are statements of their own, which see what the other has done.

// askerMay is the guard of whoever asks for a change of members: a person whose
// role may, as it is now, or an API key, whose scope was looked at when it
// called. What concerns owners is for owners, and no key is one. $owners tells
// in SQL whether it does.
func askerMay(concernsOwners string) string {
	return `(
			@by::uuid IS NULL AND NOT (` + concernsOwners + `)
			OR EXISTS (
				SELECT
				FROM members a
				WHERE a.account_id = @account
				  AND a.user_id = @by
				  AND a.role = ANY (CASE WHEN ` + concernsOwners + ` THEN @owners::text[] ELSE @askers::text[] END)
			)
		  )`
}

// anotherOwner is the guard of an owner who is to be none any more.
const anotherOwner = `(
			m.role <> 'owner'
			OR EXISTS (
				SELECT
				FROM members o
				WHERE o.account_id = @account
				  AND o.role = 'owner'
				  AND o.user_id <> m.user_id
			)
		  )`

// asking are the arguments of the guards.
func asking(account gateway.AccountID, by gateway.Actor, more pgx.NamedArgs) pgx.NamedArgs {
	args := pgx.NamedArgs{
		"account": account, "by": nil,
		"askers": texts(gateway.PermMembers.Holders()), "owners": texts(gateway.PermOwn.Holders()),
	}
	if id, ok := by.User(); ok {
		args["by"] = id
	}
	maps.Copy(args, more)
	return args
}

// SetRole gives a member another role and tells whether that changed anything.
// Errors: gateway.ErrNotFound for who is no member, gateway.ErrLastOwner,
// gateway.ErrOwnerNeeded for what is for owners alone.
//
// The promise: an account always has an owner, whoever asks at once, and nobody
// makes or unmakes one who is none.
func (t Tx) SetRole(ctx context.Context, account gateway.AccountID, by gateway.Actor, user gateway.UserID, role gateway.Role) (bool, error) {
	if err := t.lockAccount(ctx, account); err != nil {
		return false, err
	}
	tag, err := t.tx.Exec(ctx, `
		UPDATE members m
		SET role = @role
		WHERE m.account_id = @account
		  AND m.user_id = @user
		  AND m.role <> @role
		  AND `+anotherOwner+`
		  AND `+askerMay(`m.role = 'owner' OR @role = 'owner'`),
		asking(account, by, pgx.NamedArgs{"user": user, "role": string(role)}))
	if err != nil || tag.RowsAffected() == 1 {
		return err == nil, wrap("set role", err)
	}
	return false, wrap("set role", t.whyUnchanged(ctx, account, by, user, role))
}

// RemoveMember ends a person's membership: by who may, or by the person, who
// leaves. Errors: as SetRole.
//
// The promise: the last owner stays, whoever asks at once, and what a member
// chose goes with them.
func (t Tx) RemoveMember(ctx context.Context, account gateway.AccountID, by gateway.Actor, user gateway.UserID) error {
	if err := t.lockAccount(ctx, account); err != nil {
		return err
	}
	tag, err := t.tx.Exec(ctx, `
		DELETE FROM members m
		WHERE m.account_id = @account
		  AND m.user_id = @user
		  AND `+anotherOwner+`
		  AND (m.user_id = @by OR `+askerMay(`m.role = 'owner'`)+`)`,
		asking(account, by, pgx.NamedArgs{"user": user}))
	if err != nil || tag.RowsAffected() == 1 {
		return wrap("remove member", err)
	}
	return wrap("remove member", t.whyUnchanged(ctx, account, by, user, ""))
}

// HandOver makes another member an owner and who was one an admin. Errors:
// gateway.ErrNotFound for who is no member, gateway.ErrOwnerNeeded for who is no
// owner.
//
// The promise: both or neither, and of two at once by the same owner one.
func (t Tx) HandOver(ctx context.Context, account gateway.AccountID, from, to gateway.UserID) error {
	if err := t.lockAccount(ctx, account); err != nil {
		return err
	}
	tag, err := t.tx.Exec(ctx, `
		UPDATE members
		SET role = CASE user_id WHEN $3 THEN 'owner' ELSE 'admin' END
		WHERE account_id = $1
		  AND user_id IN ($2, $3)
		  AND $2 <> $3
		  AND EXISTS (SELECT FROM members WHERE account_id = $1 AND user_id = $2 AND role = 'owner')
		  AND EXISTS (SELECT FROM members WHERE account_id = $1 AND user_id = $3)`, account, from, to)
	if err != nil || tag.RowsAffected() == 2 {
		return wrap("hand over", err)
	}
	return wrap("hand over", t.whyUnchanged(ctx, account, gateway.Actor(from.String()), to, gateway.RoleOwner))
}

// whyUnchanged says why a change of a member had no effect: nil when they have
// that role already.
func (t Tx) whyUnchanged(ctx context.Context, account gateway.AccountID, by gateway.Actor, user gateway.UserID, role gateway.Role) error {
	var is gateway.Role
	var owners int
	var asker *gateway.Role
	err := t.tx.QueryRow(ctx, `
		SELECT m.role,
		       (SELECT count(*) FROM members WHERE account_id = @account AND role = 'owner'),
		       (SELECT role FROM members WHERE account_id = @account AND user_id = @by)
		FROM members m
		WHERE m.account_id = @account
		  AND m.user_id = @user`, asking(account, by, pgx.NamedArgs{"user": user})).Scan(&is, &owners, &asker)
	owns := asker != nil && *asker == gateway.RoleOwner
	switch {
	case err != nil:
		return err
	case is == role && (owns || role != gateway.RoleOwner):
		return nil
	case is == gateway.RoleOwner && owners == 1 && owns:
		return gateway.ErrLastOwner
	}
	return gateway.ErrOwnerNeeded
}
