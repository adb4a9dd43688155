package account_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestCreateKey(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	acme := b.create(t, "Acme", "ada@example.com")
	actor := gateway.Actor(acme.UserID.String())
	rate, end := 7, b.clock.Now().Add(time.Hour).Truncate(time.Microsecond)
	made, text, err := b.CreateKey(t.Context(), acme.AccountID, actor, account.NewKey{
		Name: " CI ", Scopes: []gateway.Scope{gateway.ScopeRead, gateway.ScopePublish, gateway.ScopeRead}, EventsPerSecond: &rate, EndsAt: &end,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := gateway.APIKey{
		ID: made.ID, AccountID: acme.AccountID, Name: "CI", Hint: text[len(text)-4:],
		Scopes: []gateway.Scope{gateway.ScopePublish, gateway.ScopeRead}, EventsPerSecond: &rate, EndsAt: &end,
	}
	if diff := cmp.Diff(want, made, cmpopts.IgnoreFields(gateway.APIKey{}, "CreatedAt")); diff != "" {
		t.Error(diff)
	}
	wantNear(t, "made", made.CreatedAt, b.clock.Now())
	found, err := b.Authenticate(t.Context(), text)
	if diff := cmp.Diff(want, found, cmpopts.IgnoreFields(gateway.APIKey{}, "CreatedAt")); diff != "" || err != nil {
		t.Errorf("found by its text: %v %s", err, diff)
	}
	if log := b.text(t, `SELECT concat_ws(' ', actor, object, detail) FROM audit_log WHERE action = 'key.create'`); log != fmt.Sprintf("%s %s CI: publish, read, until %s", actor, made.ID, end.UTC().Format(time.RFC3339)) {
		t.Errorf("audit log: %s", log)
	}
	if n := b.text(t, `SELECT count(*)::text FROM audit_log WHERE audit_log::text LIKE '%' || $1 || '%'`, text); n != "0" {
		t.Error("the audit log has the key's text")
	}
	keys, err := b.Keys(t.Context(), acme.AccountID, store.Page[gateway.KeyID]{Limit: 9})
	if err != nil || len(keys) != 2 || keys[0].ID != made.ID || keys[1].Name != "First key" {
		t.Errorf("keys %+v, %v", keys, err)
	}
}

func TestCreateKeyRefuses(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	acme := b.create(t, "Acme", "ada@example.com")
	none, much, now := 0, 1_000_001, b.clock.Now()
	for name, tt := range map[string]struct {
		n     account.NewKey
		field string
	}{
		"no name":       {account.NewKey{Scopes: gateway.Scopes}, "name"},
		"no scope":      {account.NewKey{Name: "k"}, "scopes"},
		"unknown scope": {account.NewKey{Name: "k", Scopes: []gateway.Scope{"read", "root"}}, "scopes"},
		"no rate":       {account.NewKey{Name: "k", Scopes: gateway.Scopes, EventsPerSecond: &none}, "events_per_second"},
		"high rate":     {account.NewKey{Name: "k", Scopes: gateway.Scopes, EventsPerSecond: &much}, "events_per_second"},
		"ended":         {account.NewKey{Name: "k", Scopes: gateway.Scopes, EndsAt: &now}, "ends_at"},
	} {
		_, text, err := b.CreateKey(t.Context(), acme.AccountID, "usr", tt.n)
		if invalid, ok := errors.AsType[*gateway.InvalidError](err); !ok || invalid.Field != tt.field || text != "" {
			t.Errorf("%s: %v, want field %s", name, err, tt.field)
		}
	}
}

func TestEndKey(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	acme, other := b.create(t, "Acme", "ada@example.com"), b.create(t, "Other", "bob@example.com")
	key, err := b.Authenticate(t.Context(), acme.APIKey)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.EndKey(t.Context(), other.AccountID, "usr", key.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account's: %v, want ErrNotFound", err)
	}
	if _, err := b.Authenticate(t.Context(), acme.APIKey); err != nil {
		t.Errorf("the other account has ended it: %v", err)
	}
	for _, err := range atOnce(5, func(int) error { return b.EndKey(t.Context(), acme.AccountID, "usr", key.ID) }) {
		if err != nil {
			t.Errorf("ended again: %v", err)
		}
	}
	if _, err := b.Authenticate(t.Context(), acme.APIKey); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("an ended key: %v, want ErrNotFound", err)
	}
	if n := b.text(t, `SELECT count(*)::text FROM audit_log WHERE action = 'key.end' AND object = $1`, key.ID.String()); n != "1" {
		t.Errorf("%s entries in the audit log, want 1", n)
	}
	if strings.Contains(b.text(t, `SELECT string_agg(detail, '') FROM audit_log`), acme.APIKey) {
		t.Error("the audit log has the key's text")
	}
}
