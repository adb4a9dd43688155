package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestSignUpLogOutLogIn(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	if w.home != "/a/acme" {
		t.Errorf("the account is at %s", w.home)
	}
	w.post("/logout", url.Values{}).wantStatus(http.StatusSeeOther)
	p := w.get("/a/acme/events?type=a.b")
	p.wantStatus(http.StatusSeeOther)
	if p.location != "/login?next="+url.QueryEscape("/a/acme/events?type=a.b") {
		t.Errorf("logged out, a page leads to %s", p.location)
	}
	p = w.submit(w.get(p.location), "form[action='/login']", url.Values{"email": {w.email}, "password": {passphrase}})
	if p.status != http.StatusSeeOther || p.location != "/a/acme/events?type=a.b" {
		t.Errorf("log-in: %d, to %s", p.status, p.location)
	}
}

// A form that failed keeps what was entered, says beside the field what is
// wrong, and never repeats a password.
func TestSignUpFormKeepsItsFields(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.newBrowser(t)
	p := w.post("/signup", url.Values{"name": {"  "}, "email": {"nobody"}, "password": {"too short"}, "account": {"<script>alert(1)</script>"}})
	p.wantStatus(http.StatusUnprocessableEntity)
	for _, field := range []string{"name", "email", "password"} {
		input := p.Find("#" + field)
		described, _ := input.Attr("aria-describedby")
		if input.AttrOr("aria-invalid", "") != "true" || described == "" || p.Find("#"+strings.Fields(described)[0]).Text() == "" {
			t.Errorf("%s has no message beside it", field)
		}
	}
	if got := p.Find("#email").AttrOr("value", ""); got != "nobody" {
		t.Errorf("the address became %q", got)
	}
	if got := p.Find("#account").AttrOr("value", ""); got != "<script>alert(1)</script>" {
		t.Errorf("the account's name became %q", got)
	}
	if strings.Contains(p.text, "too short") || strings.Contains(p.text, "<script>alert") {
		t.Error("the page repeats what it must not")
	}
}
