package store_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// byHash finds one key.
func (b *bundle) byHash(t *testing.T, hash [32]byte) store.FoundKey {
	t.Helper()
	found, err := b.APIKeysByHash(t.Context(), [][32]byte{secret.HashToken("never was"), hash})
	if err != nil || len(found) != 1 || found[0].Hash != hash {
		t.Fatalf("found %d keys, %v", len(found), err)
	}
	return found[0]
}

func TestAPIKeysByHash(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	limit := 7
	hour := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	for name, key := range map[string]gateway.APIKey{
		"plain":   {Name: "CI", Hint: "abcd", Scopes: gateway.Scopes},
		"limited": {Name: "CI", Hint: "abcd", Scopes: []gateway.Scope{gateway.ScopePublish}, EventsPerSecond: &limit, EndsAt: &hour},
		"fenced":  {Name: "CI", Hint: "abcd", Scopes: gateway.Scopes, Networks: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("2001:db8::1/128")}},
	} {
		key.ID, key.AccountID = gateway.KeyID(b.clock.NewID()), b.account
		hash := secret.HashToken(name)
		b.in(t, func(tx store.Tx) error { return tx.CreateAPIKey(t.Context(), b.account, key, hash) })
		got := b.byHash(t, hash)
		if got.Ended {
			t.Fatalf("%s: it has ended", name)
		}
		if diff := cmp.Diff(key, got.APIKey, cmpopts.IgnoreFields(gateway.APIKey{}, "CreatedAt"), cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAPIKeyThatHasEnded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	hash := secret.HashToken("text")
	key := gateway.APIKey{ID: gateway.KeyID(b.clock.NewID()), Scopes: gateway.Scopes}
	b.in(t, func(tx store.Tx) error { return tx.CreateAPIKey(t.Context(), b.account, key, hash) })
	if b.byHash(t, hash).Ended {
		t.Fatal("a key that has not ended")
	}
	b.exec(t, 1, `UPDATE api_keys SET ends_at = now() WHERE id = $1`, key.ID)
	if !b.byHash(t, hash).Ended {
		t.Error("an ended key has not ended")
	}
}

// A key is read whether it has ended or not, by its account alone.
func TestAPIKey(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	key := gateway.APIKey{ID: gateway.KeyID(b.clock.NewID()), AccountID: b.account, Name: "ci", Hint: "abcd", Scopes: gateway.Scopes}
	b.in(t, func(tx store.Tx) error { return tx.CreateAPIKey(t.Context(), b.account, key, [32]byte{7}) })
	b.in(t, func(tx store.Tx) error { _, err := tx.EndAPIKey(t.Context(), b.account, key.ID); return err })
	got, err := b.APIKey(t.Context(), b.account, key.ID)
	if err != nil || got.Name != "ci" || got.EndsAt == nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := b.APIKey(t.Context(), b.newAccount(t, "other"), key.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
}

// That a key is used is written once in the time given, whoever comes at once,
// and not by another account.
func TestUseAPIKey(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	key := gateway.APIKey{ID: gateway.KeyID(b.clock.NewID()), Scopes: gateway.Scopes}
	b.in(t, func(tx store.Tx) error { return tx.CreateAPIKey(t.Context(), b.account, key, secret.HashToken("text")) })
	version := func() string {
		var xmin string
		if err := b.pool.QueryRow(t.Context(), `SELECT xmin::text FROM api_keys WHERE id = $1`, key.ID).Scan(&xmin); err != nil {
			t.Fatal(err)
		}
		return xmin
	}
	made := version()
	first, second := netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("2001:db8::1")
	if err := b.UseAPIKey(t.Context(), b.newAccount(t, "other"), key.ID, &first, time.Minute); err != nil || version() != made {
		t.Fatalf("another account writes: %v", err)
	}
	for _, err := range b.atOnce(t.Context(), 4, func(store.Tx, int) error { return b.UseAPIKey(t.Context(), b.account, key.ID, &first, time.Minute) }) {
		if err != nil {
			t.Error(err)
		}
	}
	used := version()
	if err := b.UseAPIKey(t.Context(), b.account, key.ID, &second, time.Minute); err != nil || version() != used || used == made {
		t.Errorf("it is written again, or never was: %v", err)
	}
	if err := b.UseAPIKey(t.Context(), b.account, key.ID, &second, 0); err != nil {
		t.Fatal(err)
	}
	got, err := b.APIKey(t.Context(), b.account, key.ID)
	if err != nil || got.LastUsedAt == nil || got.LastUsedFrom == nil || *got.LastUsedFrom != second {
		t.Errorf("used %v from %v, %v", got.LastUsedAt, got.LastUsedFrom, err)
	}
}
