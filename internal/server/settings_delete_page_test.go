package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// An owner has the account deleted, which stops it at once: what comes in is
// held, nothing can be changed, and any owner restores it as it was.
func TestDeletingAndRestoringAnAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	first := b.signedUp(t, "First") // who owns the instance
	owner := b.signedUp(t, "Acme")
	admin, second := owner.newMemberAs(gateway.RoleAdmin), owner.newMemberAs(gateway.RoleOwner)
	n := owner.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "billing"})
	source := n.must(201, http.MethodPost, "/sources", object{"name": "hooks", "kind": "none", "uid": "hooks"})
	at := owner.home + "/settings"
	if admin.get(at).Find("#danger").Length() != 0 || owner.get(at).Find("#danger").Length() != 1 {
		t.Error("who may not delete is offered to, or who may is not")
	}
	ask := owner.get(at + "/delete")
	if wrong := owner.submit(ask, "form.dialog", url.Values{"name": {"Other"}}); wrong.status != http.StatusUnprocessableEntity || wrong.errorBeside("name") == "" {
		t.Errorf("with another name: %d", wrong.status)
	}
	p := owner.follow(owner.submit(ask, "form.dialog", url.Values{"name": {"Acme"}}))
	p.wantToast("is to be deleted")
	if p.Find("#closing form[action='"+at+"/restore']").Length() != 1 || p.Find("#danger, #rename button[type='submit']").Length() != 0 {
		t.Error("the page does not say so, or offers what is refused")
	}
	owner.follow(owner.submit(ask, "form.dialog", url.Values{"name": {"Acme"}})).wantToast("already")
	for _, w := range []*browser{owner, admin, second} {
		mails := first.get("/instance/mail").Find("#mails").Text()
		if !strings.Contains(mails, w.email) || !strings.Contains(mails, "Acme on Rowlock is to be deleted") {
			t.Errorf("%s is not told by mail", w.email)
		}
	}

	seen := admin.get(owner.home + "/endpoints")
	if seen.Find("#closing form").Length() != 0 || seen.Find("#closing").Length() != 1 || seen.Find("main a[href$='/new']").Length() != 0 {
		t.Error("an admin is offered to restore it, or to change it")
	}
	for _, path := range []string{"/endpoints/new", "/sources/new", "/settings/members/invite", "/settings/keys/new", "/reconcile/new"} {
		refused := owner.get(owner.home + path)
		if refused.status != http.StatusConflict || !strings.Contains(refused.Find("main").Text(), "An owner can restore it") {
			t.Errorf("%s: %d %q", path, refused.status, refused.Find("main").Text())
		}
	}
	owner.get(owner.home + "/events").wantStatus(http.StatusOK)
	n.must(200, http.MethodGet, "/events", nil)
	n.refused(409, "account_closing", http.MethodPost, "/endpoints/billing/resume", nil)
	n.refused(409, "account_closing", http.MethodPost, "/sources/hooks/resume", nil)
	n.refused(409, "account_closing", http.MethodDelete, "/endpoints/billing", nil)
	if ep := n.must(200, http.MethodGet, "/endpoints/billing", nil); text(ep, "state") != "paused" {
		t.Errorf("the endpoint is %v", ep["state"])
	}
	published := n.publish(`{"type":"order.created","data":1}`)
	got := b.send(t, http.MethodPost, text(source, "ingest_url"), `{"n":1}`)
	if got.StatusCode != http.StatusOK {
		t.Fatalf("ingest answers %d %s", got.StatusCode, got.text)
	}
	b.process(t, published, text(got.object(t), "id"))
	if held := entries(n.must(200, http.MethodGet, "/events?status=held", nil)); len(held) != 2 {
		t.Errorf("%d events are held", len(held))
	}
	if row := first.get("/instance/accounts").Find("#accounts").Text(); !strings.Contains(row, "Deleted in 7 d") && !strings.Contains(row, "Deleted in 6d") {
		t.Errorf("the instance's owner sees %q", row)
	}

	admin.post(at+"/restore", nil).wantStatus(http.StatusForbidden)
	restored := second.follow(second.submit(second.get(owner.home), "#closing form", nil))
	restored.wantToast("restored")
	if restored.Find("#closing").Length() != 0 {
		t.Error("the page still says that it is to be deleted")
	}
	second.follow(second.post(at+"/restore", nil)).wantToast("not to be deleted")
	if ep := n.must(200, http.MethodGet, "/endpoints/billing", nil); text(ep, "state") != "active" {
		t.Errorf("the endpoint is %v", ep["state"])
	}
	if src := n.must(200, http.MethodGet, "/sources/hooks", nil); text(src, "state") != "active" {
		t.Errorf("the source is %v", src["state"])
	}
	if mails := first.get("/instance/mail").Find("#mails").Text(); !strings.Contains(mails, "Acme on Rowlock was restored") {
		t.Error("members are not told that it was restored")
	}
	owner.get(owner.home + "/endpoints/new").wantStatus(http.StatusOK)
}
