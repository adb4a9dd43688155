package server_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server"
	"github.com/rowlock/rowlock/internal/store"
)

// passphrase is everybody's password here.
const passphrase = "a long enough passphrase 7"

// browser is somebody with a browser that runs no scripts: pages, links, forms
// and cookies.
type browser struct {
	*bundle
	t      testing.TB
	client *http.Client
	email  string
	// home is the path of the account, such as /a/acme.
	home string
}

// withPages is a change of a bundle's dependencies that adds the dashboard.
func withPages(d *server.Deps) { d.ServeWeb = true }

// newBrowser is a browser of nobody yet.
func (b *bundle) newBrowser(t testing.TB) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{bundle: b, t: t, client: &http.Client{
		Jar: jar, Transport: b.client.Transport, Timeout: waitLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

var signUps atomic.Int64

// signedUp is the browser of somebody who has signed up, with an account of
// their own. The first of a bundle owns the instance.
func (b *bundle) signedUp(t testing.TB, account string) *browser {
	t.Helper()
	w := b.newBrowser(t)
	w.email = "person-" + strings.ToLower(account) + "-" + string(rune('a'+signUps.Add(1)%26)) + "@example.com"
	p := w.submit(w.get("/signup"), "form[action='/signup']", url.Values{
		"name": {"Person of " + account}, "email": {w.email}, "password": {passphrase}, "account": {account},
	})
	p.wantStatus(http.StatusSeeOther)
	p = w.get("/")
	p.wantStatus(http.StatusSeeOther)
	w.home = p.location
	if !strings.HasPrefix(w.home, "/a/") {
		t.Fatalf("after sign-up / leads to %q", w.home)
	}
	return w
}

// person is who is logged in at the browser.
func (w *browser) person() gateway.UserID {
	w.t.Helper()
	session, err := w.account.Session(w.t.Context(), w.token())
	if err != nil {
		w.t.Fatal(err)
	}
	return session.Person.ID
}

// newMember is the browser of another person who may look and change nothing in
// the account.
func (w *browser) newMember() *browser {
	w.t.Helper()
	return w.newMemberAs(gateway.RoleViewer)
}

// newMemberAs is the browser of another person who has a role in the account.
func (w *browser) newMemberAs(role gateway.Role) *browser {
	w.t.Helper()
	other, account := w.signedUp(w.t, "Visitor"), w.tenant().account
	err := w.store.InTx(w.t.Context(), func(tx store.Tx) error {
		return tx.AddMember(w.t.Context(), account, other.person(), role)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	other.home = w.home
	return other
}

// page is an answer to a browser.
type page struct {
	*goquery.Document
	t        testing.TB
	path     string
	status   int
	location string
	header   http.Header
	text     string
}

func (w *browser) get(path string) page {
	w.t.Helper()
	return w.send(http.MethodGet, path, nil, nil)
}

// fragment asks as the page's scripts do.
func (w *browser) fragment(path string) page {
	w.t.Helper()
	return w.send(http.MethodGet, path, nil, map[string]string{"HX-Request": "true"})
}

func (w *browser) post(path string, values url.Values) page {
	w.t.Helper()
	return w.send(http.MethodPost, path, values, nil)
}

// send sends a request as browsers do; header may change what they say.
func (w *browser) send(method, path string, values url.Values, header map[string]string) page {
	w.t.Helper()
	var body io.Reader
	if values != nil {
		body = strings.NewReader(values.Encode())
	}
	return w.sendBody(method, path, body, header)
}

// sendBody is send with a body of any form, a form's fields unless the header
// says otherwise.
func (w *browser) sendBody(method, path string, body io.Reader, header map[string]string) page {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,application/xhtml+xml")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", w.url)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // what was to be read was
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	document, err := goquery.NewDocumentFromReader(bytes.NewReader(text))
	if err != nil {
		w.t.Fatal(err)
	}
	return page{document, w.t, path, answer.StatusCode, answer.Header.Get("Location"), answer.Header, string(text)}
}

// submit sends a form of a page: what it holds, changed by values.
func (w *browser) submit(p page, form string, values url.Values) page {
	w.t.Helper()
	found := p.Find(form)
	if found.Length() != 1 {
		w.t.Fatalf("%s (%d) has %d of %s:\n%s", p.path, p.status, found.Length(), form, p.text)
	}
	sent := fieldsOf(found)
	maps.Copy(sent, values)
	action, _ := found.Attr("action")
	if method, _ := found.Attr("method"); !strings.EqualFold(method, "post") {
		return w.get(action + "?" + sent.Encode())
	}
	return w.post(action, sent)
}

// fieldsOf is what a browser would send of a form as it is.
func fieldsOf(form *goquery.Selection) url.Values {
	sent := url.Values{}
	form.Find("input[name], textarea[name], select[name]").Each(func(_ int, field *goquery.Selection) {
		name := field.AttrOr("name", "")
		switch kind := field.AttrOr("type", ""); {
		case (kind == "checkbox" || kind == "radio") && !has(field, "checked"), kind == "submit":
		case goquery.NodeName(field) == "select":
			field.Find("option[selected]").Each(func(_ int, o *goquery.Selection) { sent.Add(name, o.AttrOr("value", "")) })
		case goquery.NodeName(field) == "textarea":
			sent.Add(name, field.Text())
		default:
			sent.Add(name, field.AttrOr("value", ""))
		}
	})
	return sent
}

func has(s *goquery.Selection, attribute string) bool {
	_, ok := s.Attr(attribute)
	return ok
}

// follow goes where a form's answer leads.
func (w *browser) follow(p page) page {
	w.t.Helper()
	p.wantStatus(http.StatusSeeOther)
	next := w.get(p.location)
	next.wantStatus(http.StatusOK)
	return next
}

func (p page) wantStatus(want int) {
	p.t.Helper()
	if p.status != want {
		p.t.Fatalf("%s answers %d, want %d: %s", p.path, p.status, want, strings.Join(strings.Fields(p.Find("main").Text()), " "))
	}
}

// toast is the message of the last action.
func (p page) toast() string { return strings.Join(strings.Fields(p.Find("[data-toast]").Text()), " ") }

// wantToast fails unless the page shows a message that holds this.
func (p page) wantToast(want string) {
	p.t.Helper()
	if got := p.toast(); !strings.Contains(got, want) {
		p.t.Errorf("%s says %q, want %q", p.path, got, want)
	}
}
