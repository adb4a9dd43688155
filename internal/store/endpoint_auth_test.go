package store_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func bearer(t *testing.T, token string) gateway.Auth {
	t.Helper()
	auth, err := gateway.NewBearerAuth(token)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

func (b bundle) setAuth(t *testing.T, id gateway.EndpointID, auth gateway.Auth) gateway.Endpoint {
	t.Helper()
	var e gateway.Endpoint
	b.in(t, func(tx store.Tx) (err error) {
		e, err = tx.SetEndpointAuth(t.Context(), b.account, id, auth)
		return err
	})
	return e
}

// target is what a send needs, read in both ways, which have to agree.
func (b bundle) target(t *testing.T, id gateway.EndpointID) store.Target {
	t.Helper()
	apart, err := b.EndpointTarget(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	lane := b.acquire(t, id, "n")
	var inLane store.Target
	b.in(t, func(tx store.Tx) (err error) {
		inLane, _, err = tx.ReadTarget(t.Context(), lane)
		return err
	})
	if diff := cmp.Diff(apart, inLane, cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
		t.Errorf("a drain reads another target: %s", diff)
	}
	return apart
}

func TestEndpointAuthIsSealed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	b.addSecret(t, e.ID, "s")
	if got := b.target(t, e.ID); got.Auth != (gateway.Auth{}) || got.AuthUnsealable {
		t.Errorf("nothing was set, and it sends %v", got.Auth)
	}
	want := bearer(t, "hunter2")
	if set := b.setAuth(t, e.ID, want); set.Auth != gateway.AuthBearer || !set.UpdatedAt.After(e.UpdatedAt) {
		t.Errorf("set %q, updated %v", set.Auth, set.UpdatedAt)
	}
	if got := b.target(t, e.ID); got.Auth != want {
		t.Errorf("sends %v", got.Auth.Kind)
	}
	if n := b.count(t, `SELECT count(*) FROM endpoints WHERE position('hunter2'::bytea IN auth_sealed) > 0`); n != 0 {
		t.Error("it lies open in the database")
	}
	if gone := b.setAuth(t, e.ID, gateway.Auth{}); gone.Auth != gateway.AuthNone {
		t.Errorf("taken away, it is %q", gone.Auth)
	}
	if n := b.count(t, `SELECT count(*) FROM endpoints WHERE auth_sealed = ''`); n != 1 {
		t.Error("what was taken away is still there")
	}
}

// Sealed words that somebody copies into another row do not open there.
func TestMovedAuthDoesNotOpen(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, other := b.newEndpoint(t), b.newEndpoint(t)
	for _, id := range []gateway.EndpointID{e.ID, other.ID} {
		b.addSecret(t, id, "s")
		b.setAuth(t, id, bearer(t, "hunter2"))
	}
	b.exec(t, 1, `UPDATE endpoints SET auth_sealed = (SELECT auth_sealed FROM endpoints WHERE id = $1) WHERE id = $2`, e.ID, other.ID)
	if got := b.target(t, other.ID); !got.AuthUnsealable || got.Auth.Header != "" || got.Unsealable {
		t.Errorf("moved: unsealable %t, %d bytes", got.AuthUnsealable, len(got.Auth.Header))
	}
	if got := b.target(t, e.ID); got.AuthUnsealable {
		t.Error("the one that stayed does not open")
	}
	b.exec(t, 1, `UPDATE endpoint_secrets SET sealed = 'x' WHERE endpoint_id = $1`, e.ID)
	if got := b.target(t, e.ID); !got.Unsealable || got.AuthUnsealable || got.Secrets != nil {
		t.Errorf("a broken secret: unsealable %t", got.Unsealable)
	}
}

// A send outside of the lane does not ask for the endpoint's state, but for
// its account.
func TestEndpointTargetOfAnyState(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	for _, state := range []string{"paused", "disabled"} {
		b.exec(t, 1, `UPDATE endpoints SET state = $2 WHERE id = $1`, e.ID, state)
		if got, err := b.EndpointTarget(t.Context(), b.account, e.ID); err != nil || got.URL != e.URL {
			t.Errorf("%s: %q, %v", state, got.URL, err)
		}
	}
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, e.ID) })
	if _, err := b.EndpointTarget(t.Context(), b.account, e.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
}

func TestEndpointPublicKeys(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	shared, both, ended := b.newEndpoint(t), b.newEndpoint(t), b.newEndpoint(t)
	b.addSecret(t, shared.ID, "whsec_1")
	add := func(id gateway.EndpointID, public string) {
		added := b.secret("whsk_" + public)
		added.Public = "whpk_" + public
		b.in(t, func(tx store.Tx) error { return b.addEndpointSecret(t.Context(), tx, id, added) })
	}
	add(both.ID, "older")
	b.addSecret(t, both.ID, "whsec_2")
	add(both.ID, "newer")
	add(ended.ID, "ended")
	b.exec(t, 1, `UPDATE endpoint_secrets SET ends_at = now() WHERE endpoint_id = $1`, ended.ID)
	got, err := b.EndpointPublicKeys(t.Context(), b.account, []gateway.EndpointID{shared.ID, both.ID, ended.ID})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[gateway.EndpointID][]string{both.ID: {"whpk_newer", "whpk_older"}}, got); diff != "" {
		t.Error(diff)
	}
	live, err := b.EndpointSecrets(t.Context(), b.account, both.ID)
	times, err2 := b.EndpointSecretTimes(t.Context(), b.account, both.ID)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"whpk_newer", "", "whpk_older"} {
		if live[i].Public != want || times[i].Public != want {
			t.Errorf("secret %d: %q and %q, want %q", i, live[i].Public, times[i].Public, want)
		}
	}
}
