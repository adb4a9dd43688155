package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// mailedPath is the path in the newest mail to an address that begins so.
func (b *bundle) mailedPath(t testing.TB, to, prefix string) string {
	t.Helper()
	mails, err := b.store.Mails(t.Context(), store.Page[gateway.MailID]{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mails {
		if _, rest, found := strings.Cut(m.Body, prefix); found && m.To == to {
			token, _, _ := strings.Cut(rest, "\n")
			return prefix + token
		}
	}
	return ""
}

// askEmail asks for another address and returns the path of the link.
func (w *browser) askEmail(email string) string {
	w.t.Helper()
	w.follow(w.submit(w.get("/me/email"), "form.dialog", url.Values{"email": {email}, "password": {passphrase}})).wantToast(email)
	return w.mailedPath(w.t, email, "/me/email/")
}

func TestChangeEmailPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w, elsewhere, stranger := b.signedUp(t, "Acme"), b.newBrowser(t), b.signedUp(t, "Other")
	elsewhere.logIn(w.email, passphrase).wantStatus(http.StatusSeeOther)
	if w.get("/me/profile").Find("a[href='/me/email']").Length() != 1 {
		t.Error("the profile does not lead there")
	}
	for field, values := range map[string]url.Values{
		"email":    {"email": {"nobody"}, "password": {passphrase}},
		"password": {"email": {"new@example.org"}, "password": {"not the passphrase"}},
	} {
		p := w.submit(w.get("/me/email"), "form.dialog", values)
		if p.status != http.StatusUnprocessableEntity || p.errorBeside(field) == "" || strings.Contains(p.text, passphrase) {
			t.Errorf("wrong %s: %d", field, p.status)
		}
	}
	w.submit(w.get("/me/email"), "form.dialog", url.Values{"email": {w.email}, "password": {passphrase}}).wantStatus(http.StatusUnprocessableEntity)
	link := w.askEmail("new@example.org")

	// Opening the link changes nothing, and it is the person's alone.
	for range 2 {
		if p := w.get(link); p.status != http.StatusOK || !strings.Contains(wordsOf(p), "Log in with new@example.org?") {
			t.Fatalf("the link answers %d %s", p.status, wordsOf(p))
		}
	}
	if got := w.get("/me/profile").Find("#email").AttrOr("value", ""); got != w.email {
		t.Errorf("a link that was opened has changed the address to %q", got)
	}
	stranger.get(link).wantStatus(http.StatusNotFound)
	stranger.follow(stranger.post(link, nil)).wantToast("no longer works")
	if p := b.newBrowser(t).get(link); p.status != http.StatusSeeOther || !strings.HasPrefix(p.location, "/login?next=") {
		t.Errorf("nobody gets %d %s", p.status, p.location)
	}
	p := w.follow(w.submit(w.get(link), "form.dialog", nil))
	p.wantToast("Your address is changed")
	if got := p.Find("#email").AttrOr("value", ""); got != "new@example.org" {
		t.Errorf("the address is %q", got)
	}
	w.get(link).wantStatus(http.StatusNotFound)
	w.follow(w.post(link, nil)).wantToast("no longer works")
	if p := elsewhere.get(w.home); p.status != http.StatusSeeOther {
		t.Errorf("the other session is still good: %d", p.status)
	}
	b.newBrowser(t).logIn(w.email, passphrase).wantStatus(http.StatusUnprocessableEntity)
	b.newBrowser(t).logIn("new@example.org", passphrase).wantStatus(http.StatusSeeOther)
}

// Whether somebody has an address is told neither to who asks for it, nor by how
// often they may.
func TestTakenAddressesAreNotTold(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w, other := b.signedUp(t, "Acme"), b.signedUp(t, "Other")
	if link := w.askEmail(other.email); link != "" {
		t.Errorf("a link is made: %s", link)
	}
	link := w.askEmail("free@example.org")
	taker := b.newBrowser(t)
	taker.post("/signup", url.Values{"name": {"Free"}, "email": {"free@example.org"}, "password": {passphrase}, "account": {"Free"}}).wantStatus(http.StatusSeeOther)
	w.follow(w.post(link, nil)).wantToast("Somebody signed up with that address meanwhile")
	w.askEmail("third@example.org")
	p := w.submit(w.get("/me/email"), "form.dialog", url.Values{"email": {"fourth@example.org"}, "password": {passphrase}})
	p.wantStatus(http.StatusTooManyRequests)
	if !strings.Contains(p.errorBeside("email"), "too many changes") {
		t.Errorf("told is %q", p.errorBeside("email"))
	}
}
