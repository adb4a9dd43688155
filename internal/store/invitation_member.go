package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// InviteMember stores an invitation into an account by the hash of its token,
// for a time. Errors: gateway.ErrMember when the address is a member's,
// gateway.ErrInvited when it was invited already, gateway.ErrOwnerNeeded.
//
// The promise: nobody lets in who may not, nor anybody who may do more. An
// address has one invitation that waits: the index decides.
func (t Tx) InviteMember(ctx context.Context, account gateway.AccountID, by gateway.Actor, i Invitation, hash [32]byte, lives time.Duration) error {
	if err := t.lockAccount(ctx, account); err != nil {
		return err
	}
	tag, err := t.tx.Exec(ctx, `
		INSERT INTO invitations (id, hash, email, account_id, role, created_by, actor, ends_at)
		SELECT @id, @hash, @email, @account, @role, @by, @actor, now() + @lives::interval
		WHERE `+askerMay(`@role = 'owner'`)+`
		  AND NOT EXISTS (`+memberWithAddress+`)`,
		asking(account, by, pgx.NamedArgs{
			"id": i.ID, "hash": hash[:], "email": i.Email, "role": string(i.Role), "actor": string(by), "lives": lives,
		}))
	if err != nil || tag.RowsAffected() == 1 {
		return wrap("invite", err)
	}
	var member bool
	err = t.tx.QueryRow(ctx, `SELECT EXISTS (`+memberWithAddress+`)`, pgx.NamedArgs{"account": account, "email": i.Email}).Scan(&member)
	switch {
	case err != nil:
		return wrap("invite", err)
	case member:
		return wrap("invite", gateway.ErrMember)
	}
	return wrap("invite", gateway.ErrOwnerNeeded)
}

const memberWithAddress = `
			SELECT
			FROM users u
			JOIN members m ON m.user_id = u.id AND m.account_id = @account
			WHERE lower(u.email) = lower(@email)`

// RenewInvitation gives an invitation that was neither used nor revoked another
// token and another while, and returns it as it is now. The former token is of
// no use from then on, and who sends it once more answers for it. Errors:
// gateway.ErrNotFound, gateway.ErrOwnerNeeded.
func (t Tx) RenewInvitation(ctx context.Context, account gateway.AccountID, by gateway.Actor, id gateway.InvitationID, hash [32]byte, lives time.Duration) (Invitation, error) {
	err := t.changeInvitation(ctx, account, by, id, `hash = @hash, ends_at = now() + @lives::interval, created_by = @by, actor = @actor`,
		pgx.NamedArgs{"hash": hash[:], "lives": lives, "actor": string(by)})
	if err != nil {
		return Invitation{}, wrap("renew invitation", err)
	}
	rows, err := t.tx.Query(ctx, selectInvitation+oneOfAccount, account, id)
	return oneInvitation("renew invitation", rows, err)
}

// RevokeInvitation makes an invitation of no use that was not used yet. Errors:
// as RenewInvitation.
//
// The promise: used or revoked, and never both. Whoever comes second waits for
// the row.
func (t Tx) RevokeInvitation(ctx context.Context, account gateway.AccountID, by gateway.Actor, id gateway.InvitationID) error {
	return wrap("revoke invitation", t.changeInvitation(ctx, account, by, id, `revoked_at = now()`, nil))
}

// changeInvitation changes an invitation that waits, for who may.
func (t Tx) changeInvitation(ctx context.Context, account gateway.AccountID, by gateway.Actor, id gateway.InvitationID, set string, args pgx.NamedArgs) error {
	if err := t.lockAccount(ctx, account); err != nil {
		return err
	}
	args = asking(account, by, args)
	args["id"] = id
	tag, err := t.tx.Exec(ctx, `
		UPDATE invitations i
		SET `+set+`
		WHERE i.id = @id
		  AND i.account_id = @account
		  AND i.used_by IS NULL
		  AND i.revoked_at IS NULL
		  AND `+askerMay(`i.role = 'owner'`), args)
	if err != nil || tag.RowsAffected() == 1 {
		return err
	}
	var waits bool
	err = t.tx.QueryRow(ctx, `
		SELECT used_by IS NULL AND revoked_at IS NULL
		FROM invitations
		WHERE id = $1
		  AND account_id = $2`, id, account).Scan(&waits)
	if err == nil && waits {
		err = gateway.ErrOwnerNeeded
	} else if err == nil {
		err = gateway.ErrStateChanged
	}
	return err
}

// EndInvitationsOf revokes what a person has invited whom they could not invite
// now, and all that an API key has, and returns which these are. It comes after the
// change of the person's role, the end of their membership, or that of the key, in
// the same transaction.
//
// The promise: who may not let anybody in has no link left that does.
func (t Tx) EndInvitationsOf(ctx context.Context, account gateway.AccountID, of gateway.Actor) ([]gateway.InvitationID, error) {
	rows, err := t.tx.Query(ctx, `
		UPDATE invitations i
		SET revoked_at = now()
		WHERE i.account_id = @account
		  AND i.actor = @actor
		  AND i.used_by IS NULL
		  AND i.revoked_at IS NULL
		  AND (@by::uuid IS NULL OR NOT `+askerMay(`i.role = 'owner'`)+`)
		RETURNING i.id`, asking(account, of, pgx.NamedArgs{"actor": string(of)}))
	if err != nil {
		return nil, wrap("end somebody's invitations", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[gateway.InvitationID])
	return ids, wrap("end somebody's invitations", err)
}

// Join uses an invitation into an account up and makes the person a member.
// Errors: gateway.ErrNotFound for one that is used, revoked or over, for another
// address, or into an account that is about to be deleted; gateway.ErrMember for
// who is a member already, and uses nothing up.
//
// The promise: an invitation lets one person in, once. Who comes second waits
// for the row, and finds it used. The account is locked first, as by whoever
// removes somebody or has it deleted: nobody is let in behind them.
func (t Tx) Join(ctx context.Context, hash [32]byte, user gateway.UserID, email string) (account gateway.AccountID, role gateway.Role, err error) {
	err = t.tx.QueryRow(ctx, `
		SELECT a.id
		FROM accounts a
		WHERE a.id = (SELECT account_id FROM invitations WHERE hash = $1)
		  AND a.delete_at IS NULL
		FOR NO KEY UPDATE`, hash[:]).Scan(&account)
	if err != nil {
		return account, role, wrap("lock the account of an invitation", err)
	}
	err = t.tx.QueryRow(ctx, `
		UPDATE invitations
		SET used_by = @user, used_at = now()
		WHERE hash = @hash
		  AND email IN ('', @email)
		  AND account_id = @account
		  AND used_by IS NULL
		  AND revoked_at IS NULL
		  AND ends_at > clock_timestamp()
		RETURNING role`,
		pgx.NamedArgs{"hash": hash[:], "account": account, "user": user, "email": email}).Scan(&role)
	if err != nil {
		return account, role, wrap("use invitation", err)
	}
	tag, err := t.tx.Exec(ctx, `
		INSERT INTO members (account_id, user_id, role)
		VALUES ($1, $2, $3)
		ON CONFLICT (account_id, user_id) DO NOTHING`, account, user, role)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrMember
	}
	return account, role, wrap("join", err)
}

// InvitationByHash finds an invitation by the hash of its token, whatever became
// of it. Only UseInvitation and Join decide.
func (s *Store) InvitationByHash(ctx context.Context, hash [32]byte) (Invitation, error) {
	rows, err := s.pool.Query(ctx, selectInvitation+`
		WHERE i.hash = $1`, hash[:])
	return oneInvitation("find invitation", rows, err)
}

const oneOfAccount = `
		WHERE i.account_id = $1
		  AND i.id = $2`

// MemberInvitation reads an invitation into an account, whatever became of it.
func (s *Store) MemberInvitation(ctx context.Context, account gateway.AccountID, id gateway.InvitationID) (Invitation, error) {
	rows, err := s.pool.Query(ctx, selectInvitation+oneOfAccount, account, id)
	return oneInvitation("read invitation", rows, err)
}

// MemberInvitations lists the invitations into an account that wait, those whose
// time is over included, newest first.
func (s *Store) MemberInvitations(ctx context.Context, account gateway.AccountID, page Page[gateway.InvitationID]) ([]Invitation, error) {
	low, high := page.bounds()
	rows, err := s.pool.Query(ctx, selectInvitation+`
		WHERE i.account_id = @account
		  AND i.id >= @low
		  AND i.id < @high
		  AND i.used_by IS NULL
		  AND i.revoked_at IS NULL
		ORDER BY i.id DESC
		LIMIT @limit`,
		pgx.NamedArgs{"account": account, "low": low, "high": high, "limit": page.Limit})
	if err != nil {
		return nil, wrap("list invitations", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[Invitation])
	return all, wrap("list invitations", err)
}

func oneInvitation(doing string, rows pgx.Rows, err error) (Invitation, error) {
	if err != nil {
		return Invitation{}, wrap(doing, err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Invitation])
	return found, wrap(doing, err)
}
