package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/server"
)

// Who is lost keeps the navigation of where they are.
func TestPagesThatAreNotThere(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	for path, back := range map[string]string{
		"/nothing":                "/",
		"/a/acme/nothing":         "/a/acme",
		"/a/acme/nothing/further": "/a/acme",
		"/a/elsewhere":            "/",
		"/a/elsewhere/nothing":    "/",
		"/a/":                     "/",
		"/instance/mail/nonsense": "/",
	} {
		p := w.get(path)
		p.wantStatus(http.StatusNotFound)
		if got := p.Find("main a.btn").AttrOr("href", ""); got != back || p.Find("#main [role=alert] h1").Length() != 1 {
			t.Errorf("%s leads back to %s: %s", path, got, wordsOf(p))
		}
		if within := p.Find("nav a[href='/a/acme/events']").Length() > 0; within != (back == "/a/acme") {
			t.Errorf("%s has the account's navigation: %v", path, within)
		}
	}
	p := b.newBrowser(t).get("/nothing")
	p.wantStatus(http.StatusNotFound)
	if p.Find("nav").Length() != 0 || p.Find("main a[href='/']").Length() == 0 {
		t.Errorf("nobody is shown %q", wordsOf(p))
	}
	if answer := b.send(t, http.MethodGet, b.url+"/nothing", nil); !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/problem+json") {
		t.Errorf("a program gets %s", answer.Header.Get("Content-Type"))
	}
}

func TestPagesWithoutADatabase(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	b.cutDatabase()
	p := w.get(w.home)
	p.wantStatus(http.StatusServiceUnavailable)
	if p.header.Get("Retry-After") == "" || !strings.Contains(wordsOf(p), "The database cannot be reached") || !strings.Contains(wordsOf(p), "Request ") {
		t.Errorf("%v: %q", p.header, wordsOf(p))
	}
}

func TestPagesOfAnotherMethod(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.post("/accounts", url.Values{})
	p.wantStatus(http.StatusMethodNotAllowed)
	if !strings.Contains(wordsOf(p), "takes no such request") {
		t.Errorf("the page says %q", wordsOf(p))
	}
}

func TestKitPage(t *testing.T) {
	t.Parallel()
	newBundle(t, withPages).signedUp(t, "Acme").get("/kit").wantStatus(http.StatusNotFound)
	w := newBundle(t, withPages, func(d *server.Deps) { d.Kit = true }).signedUp(t, "Acme")
	p := w.get("/kit")
	p.wantStatus(http.StatusOK)
	if p.Find(".badge").Length() < 20 || p.Find("nav[aria-label=Sections]").Length() == 0 {
		t.Error("the components are not there, or not in the shell")
	}
}
