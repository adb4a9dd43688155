package store_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

var lent = netip.MustParseAddrPort("127.0.0.1:4711")

func TestLendAddress(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	have := func() (account, target netip.AddrPort) {
		t.Helper()
		account, err := b.LentAddress(t.Context(), b.account)
		if err != nil {
			t.Fatal(err)
		}
		to, err := b.EndpointTarget(t.Context(), b.account, e.ID)
		if err != nil {
			t.Fatal(err)
		}
		return account, to.Lent
	}
	if account, target := have(); account.IsValid() || target.IsValid() {
		t.Errorf("%s and %s are lent at first", account, target)
	}
	for range 2 { // who lends again lends for longer
		if err := b.LendAddress(t.Context(), b.account, lent, time.Minute); err != nil {
			t.Fatal(err)
		}
		if account, target := have(); account != lent || target != lent {
			t.Errorf("%s and %s are lent, want %s", account, target, lent)
		}
	}
	if err := b.LendAddress(t.Context(), b.account, lent, 0); err != nil {
		t.Fatal(err)
	}
	if account, target := have(); account.IsValid() || target.IsValid() {
		t.Errorf("%s and %s are lent after the end", account, target)
	}
}

// Only this machine is ever lent, and to an account that is there.
func TestLendNothingElse(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, other := range []string{"10.0.0.1:80", "127.0.0.2:80", "0.0.0.0:80", "[::1]:80", "8.8.8.8:80"} {
		if err := b.LendAddress(t.Context(), b.account, netip.MustParseAddrPort(other), time.Minute); err == nil {
			t.Errorf("%s was lent", other)
		}
	}
	if err := b.LendAddress(t.Context(), gateway.AccountID(b.clock.NewID()), lent, time.Minute); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("lent to nobody: %v", err)
	}
}
