package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestProfilePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.follow(w.submit(w.get("/me/profile"), "main form", url.Values{"name": {"  Ada <Lovelace>  "}}))
	p.wantToast("Your name is changed")
	if got := p.Find("main #name").AttrOr("value", ""); got != "Ada <Lovelace>" {
		t.Errorf("the name is %q", got)
	}
	if got := w.get("/me/profile").toast(); got != "" {
		t.Errorf("the message is shown twice: %q", got)
	}
	p = w.submit(w.get("/me/profile"), "main form", url.Values{"name": {""}, "email": {"other@example.com"}})
	p.wantStatus(http.StatusUnprocessableEntity)
	if p.Find("main #name").AttrOr("aria-invalid", "") != "true" || p.Find("main #email").AttrOr("value", "") != w.email {
		t.Error("the form does not say what is wrong, or took another address")
	}
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w, elsewhere := b.signedUp(t, "Acme"), b.newBrowser(t)
	elsewhere.logIn(w.email, passphrase).wantStatus(http.StatusSeeOther)
	for name, values := range map[string]url.Values{
		"nothing":        {},
		"wrong":          {"current": {"not the passphrase"}, "password": {"another long passphrase"}},
		"short":          {"current": {passphrase}, "password": {"short"}},
		"no new one":     {"current": {passphrase}},
		"no present one": {"password": {"another long passphrase"}},
	} {
		p := w.submit(w.get("/me/security"), "#password-form", values)
		p.wantStatus(http.StatusUnprocessableEntity)
		if p.Find("#password-form [aria-invalid=true]").Length() == 0 {
			t.Errorf("%s: nothing is told to be wrong", name)
		}
		if strings.Contains(p.text, passphrase) || strings.Contains(p.text, "another long passphrase") {
			t.Errorf("%s: the page repeats a password", name)
		}
	}
	before := w.token()
	p := w.submit(w.get("/me/security"), "#password-form", url.Values{"current": {passphrase}, "password": {"another long passphrase"}})
	w.follow(p).wantToast("Your password is changed")
	if w.token() == before {
		t.Error("the session is the one from before")
	}
	if p := elsewhere.get(w.home); p.status != http.StatusSeeOther {
		t.Errorf("the other session is still good: %d", p.status)
	}
	if p := b.newBrowser(t).logIn(w.email, passphrase); p.status != http.StatusUnprocessableEntity {
		t.Errorf("the old password answers %d", p.status)
	}
	b.newBrowser(t).logIn(w.email, "another long passphrase").wantStatus(http.StatusSeeOther)
}

func TestChangePasswordBoundsGuesses(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	var p page
	for range 6 {
		p = w.submit(w.get("/me/security"), "#password-form", url.Values{"current": {"not the passphrase"}, "password": {"another long passphrase"}})
	}
	p.wantStatus(http.StatusTooManyRequests)
	if p.header.Get("Retry-After") == "" || !strings.Contains(p.Find("#current-error").Text(), "Too many tries") {
		t.Errorf("the answer says %q", wordsOf(p))
	}
}

func TestSessionsPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	others := []*browser{b.newBrowser(t), b.newBrowser(t), b.newBrowser(t)}
	for _, o := range others {
		o.logIn(w.email, passphrase).wantStatus(http.StatusSeeOther)
	}
	p := w.get("/me/security")
	if n := p.Find("#sessions tbody tr").Length(); n != 4 {
		t.Fatalf("%d sessions, want 4", n)
	}
	own := p.Find("#sessions tr:contains('This one')")
	if own.Length() != 1 || own.Find("form").Length() != 0 {
		t.Error("this session is not marked, or can be ended here")
	}
	newest := p.Find("#sessions form").First().AttrOr("action", "")
	w.follow(w.post(newest, nil)).wantToast("The session was ended")
	w.follow(w.post(newest, nil)).wantToast("over already")
	if p := others[2].get(w.home); p.status != http.StatusSeeOther {
		t.Errorf("the ended session opens %d", p.status)
	}

	if q := w.fragment("/me/security/others"); q.Find("form.dialog").Length() != 1 || q.Find("nav").Length() != 0 || !strings.Contains(q.text, "End 2 sessions") {
		t.Errorf("the question is %s", q.text)
	}
	w.follow(w.submit(w.get("/me/security/others"), "form.dialog", nil)).wantToast("2 sessions were ended")
	w.follow(w.post("/me/security/others", nil)).wantToast("no other session")
	if n := w.get("/me/security").Find("#sessions tbody tr").Length(); n != 1 {
		t.Errorf("%d sessions are left", n)
	}
}

// Nobody ends the session of somebody else, nor their own by mistake.
func TestSessionsAreOfTheirPerson(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w, stranger, second := b.signedUp(t, "Acme"), b.signedUp(t, "Other"), b.newBrowser(t)
	second.logIn(w.email, passphrase).wantStatus(http.StatusSeeOther)
	action := w.get("/me/security").Find("#sessions form").AttrOr("action", "")
	stranger.follow(stranger.post(action, nil)).wantToast("over already")
	second.follow(second.post(action, nil)).wantToast("Log out to end it")
	second.get(w.home).wantStatus(http.StatusOK)
	w.post("/me/security/sessions/nonsense/end", nil).wantStatus(http.StatusNotFound)
}

func TestAppearancePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	if theme, chosen := w.get(w.home).Find("html").Attr("data-theme"); chosen {
		t.Errorf("the theme is %q before one was chosen", theme)
	}
	p := w.follow(w.submit(w.get("/me/appearance"), "main form", url.Values{"theme": {"dark"}, "keys": nil}))
	p.wantToast("Saved")
	if p.Find("html").AttrOr("data-theme", "") != "dark" || p.Find("html").AttrOr("data-keys", "") != "off" {
		t.Errorf("the page is %v", p.Find("html").Nodes[0].Attr)
	}
	if p.Find("main [name=theme][checked]").AttrOr("value", "") != "dark" || has(p.Find("main [name=keys]"), "checked") {
		t.Error("the form shows other choices")
	}
	// The button beside the navigation changes the theme alone, and comes back.
	p = w.submit(w.get(w.home+"?range=7d"), ".side-foot form[action='/me/appearance']", url.Values{"theme": {"system"}})
	if p.location != w.home+"?range=7d" {
		t.Errorf("the theme's button leads to %s", p.location)
	}
	p = w.get(p.location)
	if has(p.Find("html"), "data-theme") || p.Find("html").AttrOr("data-keys", "") != "off" || p.toast() != "" {
		t.Errorf("the page is %v, and says %q", p.Find("html").Nodes[0].Attr, p.toast())
	}
}

func TestAppearanceLeadsToThisSite(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	for _, next := range []string{"", "https://elsewhere.example", "//elsewhere.example", `/\elsewhere.example`, "javascript:alert(1)"} {
		if p := w.post("/me/appearance", url.Values{"theme": {"light"}, "next": {next}}); p.location != "/me/appearance" {
			t.Errorf("%q leads to %q", next, p.location)
		}
	}
	w.post("/me/appearance", url.Values{"theme": {"<script>"}})
	if got := w.get("/me/appearance").Find("html").AttrOr("data-theme", ""); got != "light" {
		t.Errorf("a theme that is none became %q", got)
	}
}
