package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server"
)

// tenant is the browser's account as a program sees it, with a key of every
// scope.
func (w *browser) tenant() *tenant {
	w.t.Helper()
	m, err := w.account.Member(w.t.Context(), w.person(), strings.TrimPrefix(w.home, "/a/"))
	if err != nil {
		w.t.Fatal(err)
	}
	n := &tenant{w.bundle, w.t, m.Account.ID, ""}
	return n.newKey(gateway.APIKey{Scopes: gateway.Scopes})
}

// pageRoute is a route of the dashboard.
type pageRoute struct{ method, path string }

// pageRoutes lists the dashboard's routes that begin so.
func (b *bundle) pageRoutes(t *testing.T, prefix string) []pageRoute {
	t.Helper()
	var all []pageRoute
	for _, r := range b.server.Routes() {
		if strings.HasPrefix(r.Path, prefix) && (r.Method == http.MethodGet || r.Method == http.MethodPost) {
			all = append(all, pageRoute{r.Method, r.Path})
		}
	}
	if len(all) == 0 {
		t.Fatalf("there is no page at %s", prefix)
	}
	return all
}

// fillPage puts an account and the world's ids into a page's path. It tells
// whether the path names an object besides the account. A part that the world
// has no object for fails the test: then the world needs one.
func (w world) fillPage(t *testing.T, path, account string) (filled string, object bool) {
	t.Helper()
	parts := strings.Split(path, "/")
	for i, part := range parts {
		switch {
		case !strings.HasPrefix(part, ":"):
		case part == ":account":
			parts[i] = account
		default:
			id, ok := w.ids[parts[i-1]]
			if !ok {
				t.Fatalf("%s: the test's world has no object for %s of %s", path, part, parts[i-1])
			}
			parts[i], object = url.PathEscape(id), true
		}
	}
	return strings.Join(parts, "/"), object
}

// ask sends what a page's route takes.
func (w *browser) ask(method, path string) page {
	w.t.Helper()
	if method == http.MethodGet {
		return w.get(path)
	}
	return w.post(path, url.Values{})
}

// Nobody sees a page of an account that they are no member of, and no object of
// another account under their own.
func TestPagesAreOfTheirAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages, func(d *server.Deps) { d.Kit = true })
	owner, stranger, nobody := b.signedUp(t, "Acme"), b.signedUp(t, "Other"), b.newBrowser(t)
	w := b.newWorldOf(t, owner.tenant())
	before := w.snapshot(t)
	for _, r := range b.pageRoutes(t, "/a/:account") {
		path, object := w.fillPage(t, r.path, "acme")
		if p := stranger.ask(r.method, path); p.status != http.StatusNotFound {
			t.Errorf("%s %s shows a stranger %d", r.method, path, p.status)
		}
		if p := nobody.ask(r.method, path); p.status != http.StatusSeeOther || !strings.HasPrefix(p.location, "/login") {
			t.Errorf("%s %s leads nobody to %d %s", r.method, path, p.status, p.location)
		}
		if path, _ = w.fillPage(t, r.path, "other"); !object {
			continue
		}
		if p := stranger.ask(r.method, path); p.status != http.StatusNotFound {
			t.Errorf("%s %s shows a stranger %d", r.method, path, p.status)
		}
	}
	if after := w.snapshot(t); after != before {
		t.Errorf("the stranger changed something:\n%s\nwas\n%s", after, before)
	}
}

// The instance's pages are there for its owner alone.
func TestInstancePagesAreTheOwners(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	first, second, nobody := b.signedUp(t, "Acme"), b.signedUp(t, "Other"), b.newBrowser(t)
	for _, r := range b.pageRoutes(t, "/instance") {
		if r.method == http.MethodGet && !strings.Contains(r.path, ":") {
			first.get(r.path).wantStatus(http.StatusOK)
		}
		if p := second.ask(r.method, r.path); p.status != http.StatusNotFound {
			t.Errorf("%s %s shows another %d", r.method, r.path, p.status)
		}
		if p := nobody.ask(r.method, r.path); p.status != http.StatusSeeOther {
			t.Errorf("%s %s shows nobody %d", r.method, r.path, p.status)
		}
	}
}

// A form of another site changes nothing, whoever is logged in.
func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	w := b.newWorldOf(t, owner.tenant())
	for _, r := range b.pageRoutes(t, "/") {
		if r.method != http.MethodPost || strings.HasPrefix(r.path, "/api/") || strings.HasPrefix(r.path, "/ingest/") {
			continue
		}
		path := r.path
		if strings.HasPrefix(path, "/a/") {
			path, _ = w.fillPage(t, path, "acme")
		}
		for _, header := range []map[string]string{
			{"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"},
			{"Sec-Fetch-Site": "same-site", "Origin": "https://sub.example"},
			{"Sec-Fetch-Site": "", "Origin": "https://elsewhere.example"},
			{"Sec-Fetch-Site": "", "Origin": "null"},
		} {
			if p := owner.send(http.MethodPost, path, url.Values{}, header); p.status != http.StatusForbidden {
				t.Errorf("%s from %v: %d", path, header, p.status)
			}
		}
	}
	owner.get("/accounts").wantStatus(http.StatusOK) // still logged in
}

// An API key opens no page, and a session no API.
func TestKeysOpenNoPages(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	n := owner.tenant()
	nobody := b.newBrowser(t)
	p := nobody.send(http.MethodGet, owner.home, nil, map[string]string{"Authorization": "Bearer " + n.key})
	if p.status != http.StatusSeeOther {
		t.Errorf("a key opens a page: %d", p.status)
	}
	if p := owner.get("/api/v1/events"); p.status != http.StatusUnauthorized {
		t.Errorf("a session opens the API: %d", p.status)
	}
}
