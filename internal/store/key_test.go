package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

func TestAPIKeyByHash(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	limit := 7
	hour := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	for name, key := range map[string]gateway.APIKey{
		"plain":   {Name: "CI", Hint: "abcd", Scopes: gateway.Scopes},
		"limited": {Name: "CI", Hint: "abcd", Scopes: []gateway.Scope{gateway.ScopePublish}, EventsPerSecond: &limit, EndsAt: &hour},
	} {
		key.ID, key.AccountID = gateway.KeyID(b.clock.NewID()), b.account
		hash := secret.HashToken(name)
		b.in(t, func(tx store.Tx) error { return tx.CreateAPIKey(t.Context(), b.account, key, hash) })
		got, err := b.APIKeyByHash(t.Context(), hash)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(key, got, cmpopts.IgnoreFields(gateway.APIKey{}, "CreatedAt")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestEndedAPIKeyIsNotFound(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	hash := secret.HashToken("text")
	key := gateway.APIKey{ID: gateway.KeyID(b.clock.NewID()), Scopes: gateway.Scopes}
	b.in(t, func(tx store.Tx) error { return tx.CreateAPIKey(t.Context(), b.account, key, hash) })
	if _, err := b.APIKeyByHash(t.Context(), hash); err != nil {
		t.Fatal(err)
	}
	b.exec(t, 1, `UPDATE api_keys SET ends_at = now() WHERE id = $1`, key.ID)
	if _, err := b.APIKeyByHash(t.Context(), hash); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("an ended key: %v, want ErrNotFound", err)
	}
	if _, err := b.APIKeyByHash(t.Context(), secret.HashToken("other")); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("an unknown key: %v, want ErrNotFound", err)
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
