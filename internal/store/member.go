package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Membership is an account as one of its members sees it.
type Membership struct {
	Account gateway.Account
	Role    gateway.Role
	// SeenAt is when they last looked at it, give or take some minutes; nil is
	// never.
	SeenAt *time.Time
	// TwoStepRequired tells that the account is for members who have turned
	// two-step log-in on alone.
	TwoStepRequired bool
}

// May tells whether the member has a permission in the account as it stands.
func (m Membership) May(p gateway.Permission) bool {
	return m.Role.May(p) && m.Account.Allows(p)
}

const selectMembership = `
	SELECT a.id, a.name, a.slug, a.created_at, a.delete_at, a.two_step_required, m.role, m.seen_at
	FROM members m
	JOIN accounts a ON a.id = m.account_id`

func scanMembership(row pgx.CollectableRow) (m Membership, err error) {
	err = row.Scan(&m.Account.ID, &m.Account.Name, &m.Account.Slug, &m.Account.CreatedAt, &m.Account.DeleteAt, &m.TwoStepRequired, &m.Role, &m.SeenAt)
	return m, err
}

// Memberships lists the accounts that a person is a member of, by name.
func (s *Store) Memberships(ctx context.Context, user gateway.UserID) ([]Membership, error) {
	rows, err := s.pool.Query(ctx, selectMembership+`
		WHERE m.user_id = $1
		ORDER BY lower(a.name), a.id`, user)
	if err != nil {
		return nil, wrap("list memberships", err)
	}
	all, err := pgx.CollectRows(rows, scanMembership)
	return all, wrap("list memberships", err)
}

// Membership reads what a person is in an account. A stranger gets
// gateway.ErrNotFound.
func (s *Store) Membership(ctx context.Context, account gateway.AccountID, user gateway.UserID) (Membership, error) {
	rows, err := s.pool.Query(ctx, selectMembership+`
		WHERE m.account_id = $1
		  AND m.user_id = $2`, account, user)
	return oneMembership(rows, err)
}

// MembershipBySlug reads what a person is in the account that is so called. A
// stranger gets gateway.ErrNotFound.
func (s *Store) MembershipBySlug(ctx context.Context, slug string, user gateway.UserID) (Membership, error) {
	rows, err := s.pool.Query(ctx, selectMembership+`
		WHERE a.slug = $1
		  AND m.user_id = $2`, slug, user)
	return oneMembership(rows, err)
}

func oneMembership(rows pgx.Rows, err error) (Membership, error) {
	if err != nil {
		return Membership{}, wrap("read membership", err)
	}
	m, err := pgx.CollectExactlyOneRow(rows, scanMembership)
	return m, wrap("read membership", err)
}

// SeeMember notes that a member looks at an account, unless that was noted
// within the time given.
//
// The promise: of many requests at once one writes.
func (s *Store) SeeMember(ctx context.Context, account gateway.AccountID, user gateway.UserID, every time.Duration) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE members
		SET seen_at = now()
		WHERE account_id = $1
		  AND user_id = $2
		  AND (seen_at IS NULL OR seen_at < now() - $3::interval)`, account, user, every)
	return wrap("note that a member is there", err)
}

// Member is one of the people of an account.
type Member struct {
	ID          gateway.UserID
	Name, Email string
	Role        gateway.Role
	JoinedAt    time.Time
	// SeenAt is when they last looked at the account, give or take some minutes;
	// nil is never.
	SeenAt *time.Time
	// TwoStep tells that they show a code besides the password.
	TwoStep bool
}

const selectMember = `
	SELECT u.id, u.name, u.email, u.two_step_at IS NOT NULL AS two_step, m.role, m.created_at AS joined_at, m.seen_at
	FROM members m
	JOIN users u ON u.id = m.user_id`

// Members lists the people of an account, those who came to this instance last
// first.
func (s *Store) Members(ctx context.Context, account gateway.AccountID, page Page[gateway.UserID]) ([]Member, error) {
	low, high := page.bounds()
	rows, err := s.pool.Query(ctx, selectMember+`
		WHERE m.account_id = @account
		  AND m.user_id >= @low
		  AND m.user_id < @high
		ORDER BY m.user_id DESC
		LIMIT @limit`,
		pgx.NamedArgs{"account": account, "low": low, "high": high, "limit": page.Limit})
	if err != nil {
		return nil, wrap("list members", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[Member])
	return all, wrap("list members", err)
}

// MemberByID reads one of the people of an account. Who is none is
// gateway.ErrNotFound.
func (s *Store) MemberByID(ctx context.Context, account gateway.AccountID, user gateway.UserID) (Member, error) {
	rows, err := s.pool.Query(ctx, selectMember+`
		WHERE m.account_id = $1
		  AND m.user_id = $2`, account, user)
	if err != nil {
		return Member{}, wrap("read member", err)
	}
	m, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Member])
	return m, wrap("read member", err)
}
