package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Programs invite people, change their roles and remove them; owners are for
// owners.
func TestMembersByTheAPI(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	made := n.must(201, http.MethodPost, "/invitations", object{"email": "dana@example.com", "role": "viewer"})
	link, ok := strings.CutPrefix(text(made, "url"), b.url)
	if !ok || text(made, "state") != "waits" {
		t.Fatalf("made %v", made)
	}
	one := "/invitations/" + text(made, "id")
	for _, path := range []string{"/invitations", one} {
		if got := n.keyWith(gateway.ScopeRead).call(http.MethodGet, path, nil); got.StatusCode != 200 || strings.Contains(string(got.text), link) {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.text)
		}
	}
	n.refused(409, "already_invited", http.MethodPost, "/invitations", object{"email": "dana@example.com", "role": "viewer"})
	n.refused(409, "already_member", http.MethodPost, "/invitations", object{"email": w.email, "role": "viewer"})
	n.refused(403, "owner_needed", http.MethodPost, "/invitations", object{"role": "owner"})
	for _, wrong := range []object{{"role": "boss"}, {"role": "viewer", "email": "x"}, {"email": "x@example.com"}} {
		n.refused(422, "invalid", http.MethodPost, "/invitations", wrong)
	}
	again := n.must(200, http.MethodPost, one+"/resend", nil)
	b.newBrowser(t).get(link).wantStatus(http.StatusNotFound)
	link = strings.TrimPrefix(text(again, "url"), b.url)
	dana := b.newBrowser(t)
	dana.joinAs(link, "Dana", "dana@example.com").wantStatus(http.StatusSeeOther)
	if got := n.must(200, http.MethodGet, one, nil); text(got, "state") != "used" {
		t.Errorf("a used invitation is %v", got)
	}
	n.refused(409, "state_changed", http.MethodDelete, one, nil)
	n.refused(409, "state_changed", http.MethodPost, one+"/resend", nil)

	people := entries(n.must(200, http.MethodGet, "/members", nil))
	if len(people) != 2 || text(people[0], "email") != "dana@example.com" || text(people[0], "role") != "viewer" {
		t.Fatalf("members %v", people)
	}
	at := "/members/" + text(people[0], "id")
	if changed := n.must(200, http.MethodPatch, at, object{"role": "admin"}); text(changed, "role") != "admin" {
		t.Errorf("changed %v", changed)
	}
	n.refused(403, "owner_needed", http.MethodPatch, at, object{"role": "owner"})
	n.refused(422, "invalid", http.MethodPatch, at, object{"role": "manager"})
	owner := "/members/" + text(people[1], "id")
	n.refused(403, "owner_needed", http.MethodPatch, owner, object{"role": "viewer"})
	n.refused(403, "owner_needed", http.MethodDelete, owner, nil)
	n.must(204, http.MethodDelete, at, nil)
	n.refused(404, "not_found", http.MethodDelete, at, nil)
	dana.get(w.home).wantStatus(http.StatusNotFound)

	second := n.must(201, http.MethodPost, "/invitations", object{"role": "operator"})
	n.must(204, http.MethodDelete, "/invitations/"+text(second, "id"), nil)
	if got := entries(n.must(200, http.MethodGet, "/invitations", nil)); len(got) != 0 {
		t.Errorf("%v wait", got)
	}
	part := n.must(200, http.MethodGet, "/members?limit=1", nil)
	if part["next_cursor"] != nil || len(entries(part)) != 1 {
		t.Errorf("the only member: %v", part)
	}
}
