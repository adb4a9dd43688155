package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// audits writes entries of an account, one an action, and returns their ids.
func (b bundle) audits(t *testing.T, account gateway.AccountID, actor gateway.Actor, object string, actions ...string) (ids []gateway.AuditID) {
	t.Helper()
	b.in(t, func(tx store.Tx) error {
		for _, action := range actions {
			id := b.clock.NewID()
			ids = append(ids, gateway.AuditID(id))
			if err := tx.Audit(t.Context(), account, actor, action, object, "detail", id); err != nil {
				return err
			}
		}
		return nil
	})
	return ids
}

// actions are those of entries, with who acted.
func actions(entries []gateway.AuditEntry) (all [][2]string) {
	for _, e := range entries {
		all = append(all, [2]string{e.Action, e.ActorName})
	}
	return all
}

func TestAuditLog(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	other := b.newAccount(t, "other")
	user, key, strange := gateway.UserID(b.clock.NewID()), gateway.KeyID(b.clock.NewID()), gateway.KeyID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		if err := tx.CreateUser(t.Context(), store.User{ID: user, Email: "mara@example.com", Name: "Mara"}, ""); err != nil {
			return err
		}
		if err := tx.CreateAPIKey(t.Context(), b.account, gateway.APIKey{ID: key, Name: "ci"}, [32]byte{1}); err != nil {
			return err
		}
		return tx.CreateAPIKey(t.Context(), other, gateway.APIKey{ID: strange, Name: "secret"}, [32]byte{2})
	})
	log := func(account gateway.AccountID, page store.Page[gateway.AuditID]) []gateway.AuditEntry {
		t.Helper()
		entries, err := b.AuditLog(t.Context(), account, store.AuditFilter{}, page)
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	if got := log(b.account, store.Page[gateway.AuditID]{Limit: 10}); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
	first := b.audits(t, b.account, gateway.Actor(user.String()), "evt_1", "a", "b")
	b.audits(t, b.account, gateway.Actor(key.String()), "dlv_1", "c")
	b.audits(t, b.account, gateway.ActorRowlock, "ep_1", "d")
	b.audits(t, b.account, gateway.Actor(strange.String()), "ep_1", "e")
	b.audits(t, b.account, "usr_nobody", "ep_1", "f")
	b.audits(t, other, gateway.ActorRowlock, "evt_1", "x")
	all := [][2]string{{"f", ""}, {"e", ""}, {"d", "Rowlock"}, {"c", "ci"}, {"b", "Mara"}, {"a", "Mara"}}
	for name, c := range map[string]struct {
		page store.Page[gateway.AuditID]
		want [][2]string
	}{
		"all":       {store.Page[gateway.AuditID]{Limit: 10}, all},
		"two":       {store.Page[gateway.AuditID]{Limit: 2}, all[:2]},
		"the next":  {store.Page[gateway.AuditID]{Limit: 10, Before: &first[1]}, all[5:]},
		"no more":   {store.Page[gateway.AuditID]{Limit: 10, Before: &first[0]}, nil},
		"no limit?": {store.Page[gateway.AuditID]{Limit: 0}, nil},
	} {
		if diff := cmp.Diff(c.want, actions(log(b.account, c.page))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := actions(log(other, store.Page[gateway.AuditID]{Limit: 10})); len(got) != 1 || got[0][0] != "x" {
		t.Errorf("another account sees %v", got)
	}
	for name, c := range map[string]struct {
		account gateway.AccountID
		objects []string
		limit   int
		want    [][2]string
	}{
		"none":            {b.account, nil, 10, nil},
		"one":             {b.account, []string{"dlv_1"}, 10, all[3:4]},
		"several":         {b.account, []string{"evt_1", "dlv_1", "no"}, 10, all[3:]},
		"the newest":      {b.account, []string{"evt_1", "dlv_1"}, 1, all[3:4]},
		"another account": {other, []string{"dlv_1", "ep_1"}, 10, nil},
	} {
		got, err := b.AuditOf(t.Context(), c.account, c.objects, c.limit)
		if diff := cmp.Diff(c.want, actions(got)); diff != "" || err != nil {
			t.Errorf("%s: %v, %s", name, err, diff)
		}
	}
	entry := log(b.account, store.Page[gateway.AuditID]{Limit: 1, Before: &first[1]})[0]
	if entry.CreatedAt.IsZero() {
		t.Error("no time")
	}
	entry.CreatedAt = b.clock.Now()
	want := gateway.AuditEntry{
		ID: first[0], Actor: gateway.Actor(user.String()), ActorName: "Mara",
		Action: "a", Object: "evt_1", Detail: "detail", CreatedAt: entry.CreatedAt,
	}
	if diff := cmp.Diff(want, entry); diff != "" {
		t.Error(diff)
	}
}
