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

// signupAs is a change of a bundle's dependencies: who may sign up.
func signupAs(mode config.Signup) func(*server.Deps) {
	return func(d *server.Deps) {
		d.Accounts = account.NewService(account.Options{Store: d.Store, Passwords: cheapPasswords, Clock: clock.New(), Signup: mode, BaseURL: "https://hooks.example.com"})
	}
}

// newPerson makes somebody with an account of their own, whoever may sign up,
// and returns their address.
func (b *bundle) newPerson(t *testing.T, name string) string {
	t.Helper()
	email := strings.ToLower(name) + "@example.com"
	if _, err := b.account.SignUp(t.Context(), account.SignUp{Name: name, Email: email, Password: passphrase, Account: name}); err != nil {
		t.Fatal(err)
	}
	return email
}

func TestAccountsPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	p := w.get("/accounts")
	p.wantStatus(http.StatusOK)
	if p.Find("#accounts tbody tr").Length() != 1 || !strings.Contains(p.Find("#accounts tbody tr").Text(), "Owner") {
		t.Errorf("the list says %q", wordsOf(p))
	}
	p = w.submit(w.get("/accounts/new"), "main form", url.Values{"name": {"Second <b>"}})
	if p.location != "/a/second-b" {
		t.Fatalf("the new account is at %s", p.location)
	}
	w.follow(p).wantToast("Account created")
	p = w.get("/accounts")
	if p.Find("#accounts tbody tr").Length() != 2 || p.Find("#accounts a[href='/a/second-b']").Length() != 1 || !strings.Contains(wordsOf(p), "Last used") {
		t.Errorf("the list says %q", wordsOf(p))
	}
	if p := w.get("/"); p.location != "/a/second-b" {
		t.Errorf("/ leads to %s, not to the account last used", p.location)
	}
}

func TestNewAccountFormKeepsItsFields(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	long := strings.Repeat("x", 500)
	for _, name := range []string{"", "  ", long, "a\x00b", "\xff"} {
		p := w.submit(w.get("/accounts/new"), "main form", url.Values{"name": {name}})
		p.wantStatus(http.StatusUnprocessableEntity)
		if p.Find("#name").AttrOr("aria-invalid", "") != "true" {
			t.Errorf("%q is not told to be wrong", name)
		}
	}
	if got := w.post("/accounts/new", url.Values{"name": {long}}).Find("#name").AttrOr("value", ""); got != long {
		t.Errorf("the name became %q", got)
	}
}

// Where sign-up is closed, the instance's owner alone makes accounts.
func TestNewAccountWhereSignUpIsClosed(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages, signupAs(config.SignupClosed))
	owner := b.signedUp(t, "Acme")
	w := b.newBrowser(t)
	w.email = b.newPerson(t, "Stranger")
	w.logIn(w.email, passphrase).wantStatus(http.StatusSeeOther)
	if p := w.get("/accounts"); p.Find("a[href='/accounts/new'].btn").Length() != 0 {
		t.Error("the page offers what is refused")
	}
	if p := w.get("/accounts/new"); p.Find("main form").Length() != 0 || p.Find("#closed").Length() != 1 {
		t.Errorf("the page says %q", wordsOf(p))
	}
	p := w.post("/accounts/new", url.Values{"name": {"Second"}})
	p.wantStatus(http.StatusUnprocessableEntity)
	if p.Find("#closed").Length() != 1 {
		t.Errorf("the answer says %q", wordsOf(p))
	}
	owner.follow(owner.submit(owner.get("/accounts/new"), "main form", url.Values{"name": {"Second"}})).wantToast("Account created")
}
