package store

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// lentTo is the address that is lent to account a now; empty: none.
const lentTo = `CASE WHEN a.lent_until > clock_timestamp() THEN a.lent_address ELSE '' END`

// LendAddress lends an account an address of this machine, 127.0.0.1 and a port, for
// a while from now on: its endpoints may be sent to it, and no other account's. A
// time of zero ends it. Errors: gateway.ErrNotFound, also of an account that is gone.
func (s *Store) LendAddress(ctx context.Context, account gateway.AccountID, address netip.AddrPort, during time.Duration) error {
	tag, err := s.pool.Exec(ctx, `
		UPDATE accounts
		SET lent_address = $2,
		    lent_until = clock_timestamp() + $3::interval
		WHERE id = $1
		  AND gone_at IS NULL`, account, address.String(), during)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	return wrap("lend an address", err)
}

// LentAddress returns the address that is lent to an account now; the zero one is
// none.
func (s *Store) LentAddress(ctx context.Context, account gateway.AccountID) (netip.AddrPort, error) {
	var text string
	err := s.pool.QueryRow(ctx, `SELECT `+lentTo+` FROM accounts a WHERE a.id = $1`, account).Scan(&text)
	if errors.Is(err, pgx.ErrNoRows) {
		return netip.AddrPort{}, nil
	}
	if err != nil {
		return netip.AddrPort{}, wrap("read the lent address", err)
	}
	return parseLent(text)
}

func parseLent(text string) (netip.AddrPort, error) {
	if text == "" {
		return netip.AddrPort{}, nil
	}
	address, err := netip.ParseAddrPort(text)
	return address, wrap("read the lent address", err)
}
