package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Invitation lets one person sign up, or join an account.
type Invitation struct {
	ID gateway.InvitationID
	// AccountID is the account that it leads into, and Role what the person will
	// be there; nil and empty for one to sign up alone. AccountName and
	// AccountSlug are the account's.
	AccountID                *gateway.AccountID
	Role                     gateway.Role
	AccountName, AccountSlug string
	// AccountClosing tells that the account is about to be deleted, or is: nobody
	// joins it.
	AccountClosing bool
	// Email is the only address that can use it; empty is any.
	Email string
	// Actor is who made it, and CreatedBy the same where it was a person.
	Actor     gateway.Actor
	CreatedBy *gateway.UserID
	CreatedAt time.Time
	RevokedAt *time.Time
	EndsAt    time.Time
	// UsedBy is who signed up with it, and UsedByEmail their address.
	UsedBy      *gateway.UserID
	UsedByEmail string
	UsedAt      *time.Time
}

// CreateInvitation stores an invitation by the hash of its token, for a time.
//
// The promise: the instance's owner alone invites; for anybody else it is
// gateway.ErrNotFound.
func (t Tx) CreateInvitation(ctx context.Context, i Invitation, hash [32]byte, lives time.Duration) error {
	tag, err := t.tx.Exec(ctx, `
		INSERT INTO invitations (id, hash, email, created_by, actor, ends_at)
		SELECT @id::uuid, @hash::bytea, @email::text, user_id, @actor::text, now() + @lives::interval
		FROM instance_owner
		WHERE user_id = @by`,
		pgx.NamedArgs{"id": i.ID, "hash": hash[:], "email": i.Email, "by": i.CreatedBy, "actor": string(i.Actor), "lives": lives})
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	return wrap("create invitation", err)
}

// UseInvitation notes who signs up with an invitation and tells whether it could
// be used: it was open, for this address or any, and into no account.
//
// The promise: an invitation is used once. Who comes second waits for the row,
// and finds it used.
func (t Tx) UseInvitation(ctx context.Context, hash [32]byte, user gateway.UserID, email string) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE invitations
		SET used_by = @user, used_at = now()
		WHERE hash = @hash
		  AND email IN ('', @email)
		  AND account_id IS NULL
		  AND used_by IS NULL
		  AND ends_at > clock_timestamp()`,
		pgx.NamedArgs{"hash": hash[:], "user": user, "email": email})
	return tag.RowsAffected() == 1, wrap("use invitation", err)
}

// EndInvitation makes an open invitation end now. One that is used, or over,
// is left as it is and gateway.ErrNotFound.
func (t Tx) EndInvitation(ctx context.Context, id gateway.InvitationID) error {
	tag, err := t.tx.Exec(ctx, `
		UPDATE invitations
		SET ends_at = now(), revoked_at = now()
		WHERE id = $1
		  AND account_id IS NULL
		  AND used_by IS NULL
		  AND ends_at > now()`, id)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	return wrap("end invitation", err)
}

const selectInvitation = `
	SELECT i.id, i.account_id, coalesce(i.role, '') AS role, coalesce(a.name, '') AS account_name, coalesce(a.slug, '') AS account_slug,
	       a.delete_at IS NOT NULL AS account_closing, i.email, i.actor, i.created_by, i.created_at, i.ends_at, i.revoked_at, i.used_by, coalesce(u.email, '') AS used_by_email, i.used_at
	FROM invitations i
	LEFT JOIN accounts a ON a.id = i.account_id
	LEFT JOIN users u ON u.id = i.used_by`

// OpenInvitation finds an invitation to sign up that can still be used, by the
// hash of its token. Only UseInvitation decides. Any other is
// gateway.ErrNotFound.
func (s *Store) OpenInvitation(ctx context.Context, hash [32]byte) (Invitation, error) {
	rows, err := s.pool.Query(ctx, selectInvitation+`
		WHERE i.hash = $1
		  AND i.account_id IS NULL
		  AND i.used_by IS NULL
		  AND i.ends_at > now()`, hash[:])
	return oneInvitation("find invitation", rows, err)
}

// Invitations lists all invitations to sign up, newest first.
func (s *Store) Invitations(ctx context.Context, page Page[gateway.InvitationID]) ([]Invitation, error) {
	low, high := page.bounds()
	rows, err := s.pool.Query(ctx, selectInvitation+`
		WHERE i.id >= $1
		  AND i.id < $2
		  AND i.account_id IS NULL
		ORDER BY i.id DESC
		LIMIT $3`, low, high, page.Limit)
	if err != nil {
		return nil, wrap("list invitations", err)
	}
	invitations, err := pgx.CollectRows(rows, pgx.RowToStructByName[Invitation])
	return invitations, wrap("list invitations", err)
}
