package server_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestKeyIsShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	at := w.home + "/settings/keys"
	if p := w.get(at); p.Find(".empty").Length() != 1 {
		t.Error("no keys, and the page does not say so")
	}
	p := w.follow(w.submit(w.get(at+"/new"), "form.dialog", url.Values{"name": {"ci <script>"}, "per_second": {"5"}}))
	key := p.Find("#new-key [data-copy]").AttrOr("data-copy", "")
	if !strings.HasPrefix(key, "rk_") || strings.Contains(p.text, "<script>\"") {
		t.Fatalf("the new key is %q", key)
	}
	if again := w.get(at); strings.Contains(again.text, key) || again.Find("#api-keys tbody tr").Length() != 1 {
		t.Error("the key is shown twice, or not listed")
	}
	n := &tenant{b, t, w.tenant().account, key}
	n.must(202, http.MethodPost, "/events", `{"type":"a.b","data":1}`)
	n.refused(403, "scope_missing", http.MethodGet, "/events", nil)
	id := ""
	for _, listed := range w.get(at).Find("#api-keys tbody tr").EachIter() {
		if strings.Contains(listed.Text(), "ci") {
			id = listed.AttrOr("id", "")
		}
	}
	gone := w.follow(w.submit(w.get(at+"/"+id+"/revoke"), "form.dialog", nil))
	gone.wantToast("revoked")
	if gone.Find("#"+id+" [data-s='revoked']").Length() != 1 || gone.Find("#"+id+" a").Length() != 0 {
		t.Error("a revoked key looks like any other")
	}
	n.refused(401, "unauthorized", http.MethodPost, "/events", `{"type":"a.b","data":1}`)
}

func TestKeyFormKeepsItsFields(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	at := w.home + "/settings/keys/new"
	p := w.post(at, url.Values{"name": {""}, "scopes": {"read", "manage"}, "ends": {"30"}, "per_second": {"many"}})
	p.wantStatus(http.StatusUnprocessableEntity)
	for _, field := range []string{"name", "per_second"} {
		if p.errorBeside(field) == "" {
			t.Errorf("%s has no message beside it", field)
		}
	}
	if p.Find("#scope-read[checked], #scope-manage[checked]").Length() != 2 || p.Find("#scope-publish[checked]").Length() != 0 {
		t.Error("the scopes are not as they were chosen")
	}
	if p.Find("#ends option[selected]").AttrOr("value", "") != "30" || p.Find("#per_second").AttrOr("value", "") != "many" {
		t.Error("fields were lost")
	}
	for field, values := range map[string]url.Values{
		"scopes":     {"name": {"x"}, "ends": {"30"}},
		"ends":       {"name": {"x"}, "scopes": {"read"}, "ends": {"31"}},
		"per_second": {"name": {"x"}, "scopes": {"read"}, "ends": {"30"}, "per_second": {"0"}},
	} {
		if p := w.post(at, values); p.status != http.StatusUnprocessableEntity || p.errorBeside(field) == "" {
			t.Errorf("%s: %d", field, p.status)
		}
	}
	if p := w.post(at, url.Values{"name": {"x"}, "scopes": {"admin"}, "ends": {"never"}}); p.errorBeside("scopes") == "" {
		t.Error("a scope that there is not was taken")
	}
}

func TestAccountIsRenamed(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	at := w.home + "/settings"
	p := w.submit(w.get(at), "#rename", url.Values{"name": {" "}})
	if p.status != http.StatusUnprocessableEntity || p.errorBeside("name") == "" {
		t.Errorf("no name: %d", p.status)
	}
	p = w.follow(w.submit(p, "#rename", url.Values{"name": {"Harbor Coffee"}}))
	p.wantToast("renamed")
	if p.path != at || p.Find("#name").AttrOr("value", "") != "Harbor Coffee" || !strings.Contains(p.Find(".switcher").Text(), "Harbor Coffee") {
		t.Error("the account is not called so")
	}
	watcher := w.newMember()
	seen := watcher.get(at)
	if seen.Find("#rename button[type='submit']").Length() != 0 || !strings.Contains(seen.Find("#role .sub").Text(), "Viewer") {
		t.Error("a member can rename the account, or does not see the role")
	}
	watcher.post(at, url.Values{"name": {"Mine"}}).wantStatus(http.StatusForbidden)
	account, by := w.tenant().account, gateway.Actor(watcher.person().String())
	tried, err := w.store.AuditLog(t.Context(), account, store.AuditFilter{Actor: by}, store.Page[gateway.AuditID]{Limit: 9})
	if err != nil || len(tried) != 1 || !tried[0].Refused || tried[0].Action != "account.refuse" || tried[0].Detail != "/settings" || tried[0].Object != account.String() {
		t.Errorf("the audit log says that a member did %+v, %v", tried, err)
	}
	for _, path := range []string{at + "/keys/new", at + "/keys/" + gateway.KeyID{}.String() + "/revoke"} {
		watcher.get(path).wantStatus(http.StatusForbidden)
	}
	if p := watcher.get(at + "/keys"); p.status != http.StatusOK || p.Find("main a[href$='/new']").Length() != 0 {
		t.Errorf("a member's keys: %d", p.status)
	}
}

// Each member chooses for themselves what they are told by mail.
func TestChoosingMails(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w, other := b.signedUp(t, "Acme"), b.signedUp(t, "Other")
	at := w.home + "/settings/alerts"
	chosen := func(p page) (kinds []string) {
		for _, box := range p.Find("#kinds input[checked]").EachIter() {
			kinds = append(kinds, box.AttrOr("value", ""))
		}
		return kinds
	}
	p := w.get(at)
	if got := chosen(p); !slices.Equal(got, []string{"endpoint.disabled", "endpoint.failing", "claim.doubtful", "key.ends"}) || p.Find("#mail-kept").Length() != 1 {
		t.Errorf("an owner is told of %v at first", got)
	}
	w.follow(w.post(at, url.Values{"kinds": {"operation.done", "delivery.failed"}})).wantToast("Saved")
	if got := chosen(w.get(at)); !slices.Equal(got, []string{"delivery.failed", "operation.done"}) {
		t.Errorf("chosen are %v", got)
	}
	if got := chosen(other.get(other.home + "/settings/alerts")); len(got) != 4 {
		t.Errorf("another chose %v", got)
	}
	w.post(at, url.Values{"kinds": {"nothing.known"}}).wantStatus(http.StatusUnprocessableEntity)
	w.follow(w.post(at, nil)).wantToast("Saved")
	if got := chosen(w.get(at)); len(got) != 0 {
		t.Errorf("nothing was chosen, and there are %v", got)
	}
}
