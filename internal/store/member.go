package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Membership is an account as one of its members sees it.
type Membership struct {
	Account gateway.Account
	Role    gateway.Role
}

// May tells whether the member has a permission.
func (m Membership) May(p gateway.Permission) bool {
	return m.Role.May(p)
}

const selectMembership = `
	SELECT a.id, a.name, a.slug, a.created_at, m.role
	FROM members m
	JOIN accounts a ON a.id = m.account_id`

func scanMembership(row pgx.CollectableRow) (m Membership, err error) {
	err = row.Scan(&m.Account.ID, &m.Account.Name, &m.Account.Slug, &m.Account.CreatedAt, &m.Role)
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
