package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/server"
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

// A form with nothing in it tells everything that is wrong at once.
func TestSignUpTellsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	p := b.newBrowser(t).post("/signup", url.Values{})
	p.wantStatus(http.StatusUnprocessableEntity)
	for _, field := range []string{"name", "email", "password", "account"} {
		if p.Find("#"+field).AttrOr("aria-invalid", "") != "true" {
			t.Errorf("%s has no message", field)
		}
	}
}

// An invitation for another address is told beside the address, and stays good.
func TestInvitationIsForItsAddress(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages, func(d *server.Deps) {
		d.Accounts = account.NewService(account.Options{Store: d.Store, Passwords: cheapPasswords, Clock: clock.New(), Signup: config.SignupInvite})
	})
	owner := b.signedUp(t, "Acme")
	by, err := b.account.LogIn(t.Context(), account.Credentials{Email: owner.email, Password: passphrase, Address: "192.0.2.1"})
	if err != nil {
		t.Fatal(err)
	}
	token, err := b.account.Invite(t.Context(), by.User, "bob@example.com")
	if err != nil {
		t.Fatal(err)
	}
	fields := url.Values{"name": {"Bob"}, "email": {"other@example.com"}, "password": {passphrase}, "account": {"Bob"}, "invite": {token}}
	w := b.newBrowser(t)
	p := w.post("/signup", fields)
	p.wantStatus(http.StatusUnprocessableEntity)
	if p.Find("#email").AttrOr("aria-invalid", "") != "true" {
		t.Errorf("the address has no message: %s", wordsOf(p))
	}
	fields.Set("email", "bob@example.com")
	w.post("/signup", fields).wantStatus(http.StatusSeeOther)
}
