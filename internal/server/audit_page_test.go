package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The page tells who did what and leads to it; it is narrowed and exported, and
// is for admins and owners.
func TestAuditPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	at := w.home + "/audit"
	ep := w.tenant().must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "description": "Billing"})
	w.post(w.home+"/endpoints/"+text(ep, "id")+"/pause", url.Values{}).wantStatus(http.StatusSeeOther)
	viewer := w.newMember()
	viewer.get(at).wantStatus(http.StatusForbidden)
	if viewer.get(w.home).Find("a[href='"+at+"']").Length() != 0 {
		t.Error("a viewer is led to the audit log")
	}
	if p := w.get(at); p.Find("#entries a[href$='/endpoints/"+text(ep, "id")+"']").Length() != 2 || p.Find("nav a[href='"+at+"'][aria-current]").Length() == 0 {
		t.Errorf("%s", p.Find("#entries").Text())
	}
	p := w.get(at + "?outcome=refused")
	if rows := p.Find("#entries tbody tr"); rows.Length() != 1 || !strings.Contains(rows.Text(), "get /audit") || !strings.Contains(rows.Text(), "127.0.0.1") {
		t.Errorf("refused: %s", rows.Text())
	}
	file := w.get(p.Find("a[href*='format=csv']").AttrOr("href", ""))
	if lines := strings.Split(strings.TrimSpace(file.text), "\n"); len(lines) != 2 || !strings.Contains(lines[1], "account.refuse") {
		t.Errorf("the export: %q", file.text)
	}
	if p := w.get(at + "?actor=usr_x"); p.Find("#entries .empty").Length() != 1 || p.Find("input[name='actor'][checked]").AttrOr("value", "") != "usr_x" {
		t.Error("nothing matches, and the page does not say so")
	}
}
