package server_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/server"
)

// logIn sends the log-in form.
func (w *browser) logIn(email, password string) page {
	w.t.Helper()
	return w.submit(w.get("/login"), "form[action='/login']", url.Values{"email": {email}, "password": {password}})
}

// token is what the browser holds as its session's cookie.
func (w *browser) token() string {
	w.t.Helper()
	at, err := url.Parse(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range w.client.Jar.Cookies(at) {
		if c.Name == "rowlock_session" {
			return c.Value
		}
	}
	return ""
}

// plant puts a token into the browser.
func (w *browser) plant(token string) {
	w.t.Helper()
	at, err := url.Parse(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	w.client.Jar.SetCookies(at, []*http.Cookie{{Name: "rowlock_session", Value: token, Path: "/"}})
}

// Whoever knew a browser's token before its log-in knows nothing afterwards:
// neither one that was made up, nor one of a session that was good.
func TestLogInRenewsTheSession(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	first := w.token()
	other := b.newBrowser(t)
	other.plant(first) // the attacker's own session, planted in the victim's browser
	if other.get(w.home).status == http.StatusSeeOther {
		t.Fatal("the token is not good before the log-in")
	}
	victim := b.newBrowser(t)
	for _, planted := range []string{"made-up", first} {
		victim.plant(planted)
		victim.post("/logout", url.Values{})
		victim.plant(planted)
		if p := victim.logIn(w.email, passphrase); p.status != http.StatusSeeOther {
			t.Fatalf("log-in: %d", p.status)
		}
		if victim.token() == planted || victim.token() == "" {
			t.Errorf("the token stayed %q", victim.token())
		}
	}
	if p := other.get(w.home); p.status != http.StatusSeeOther || !strings.HasPrefix(p.location, "/login") {
		t.Errorf("the old token opens %d", p.status)
	}
}

func TestLogOutEndsTheSession(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	token := w.token()
	if p := w.get("/logout"); p.status != http.StatusMethodNotAllowed {
		t.Errorf("a link logs out: %d", p.status)
	}
	w.post("/logout", url.Values{}).wantStatus(http.StatusSeeOther)
	if w.token() != "" {
		t.Error("the cookie stayed")
	}
	w.plant(token)
	if p := w.get(w.home); p.status != http.StatusSeeOther {
		t.Errorf("the ended session opens %d", p.status)
	}
}

func TestSessionCookie(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	email := b.signedUp(t, "Acme").email
	w := b.newBrowser(t)
	p := w.submit(w.get("/login"), "form[action='/login']", url.Values{"email": {email}, "password": {passphrase}, "keep": {"1"}})
	p.wantStatus(http.StatusSeeOther)
	cookie, err := http.ParseSetCookie(p.header.Get("Set-Cookie"))
	if err != nil {
		t.Fatal(err)
	}
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.MaxAge <= 0 || cookie.Domain != "" {
		t.Errorf("the cookie is %s", p.header.Get("Set-Cookie"))
	}
}

// On https the cookie is for this host alone, and for https.
func TestSessionCookieOnHTTPS(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages, func(d *server.Deps) { d.BaseURL = "https://hooks.example.com" })
	if _, err := b.account.Create(t.Context(), account.New{Name: "Acme", Email: "ada@example.com", Password: passphrase}); err != nil {
		t.Fatal(err)
	}
	w := b.newBrowser(t)
	p := w.post("/login", url.Values{"email": {"ada@example.com"}, "password": {passphrase}})
	p.wantStatus(http.StatusSeeOther)
	cookie, err := http.ParseSetCookie(p.header.Get("Set-Cookie"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(cookie.Name, "__Host-") || !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" {
		t.Errorf("the cookie is %s", p.header.Get("Set-Cookie"))
	}
	// Without the prefix any host of the domain could have set it.
	r := map[string]string{"Cookie": "rowlock_session=" + cookie.Value}
	if p := b.newBrowser(t).send(http.MethodGet, "/accounts", nil, r); p.status != http.StatusSeeOther {
		t.Errorf("the token in another cookie opens %d", p.status)
	}
	r["Cookie"] = cookie.Name + "=" + cookie.Value
	b.newBrowser(t).send(http.MethodGet, "/accounts", nil, r).wantStatus(http.StatusOK)
}

// An address that nobody has and a wrong password get one and the same answer,
// and the same number of tries.
func TestWrongLogInsAreAllAlike(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	known := b.signedUp(t, "Acme").email
	w := b.newBrowser(t)
	for try := range 6 {
		a, z := w.logIn(known, "wrong passphrase 123"), w.logIn("nobody@example.com", "wrong passphrase 123")
		first, second := waitLeft.ReplaceAllString(wordsOf(a), ""), waitLeft.ReplaceAllString(wordsOf(z), "")
		if a.status != z.status || first != second || a.status < 400 {
			t.Errorf("try %d: %d %q, and %d %q", try, a.status, first, z.status, second)
		}
		if locked := try == 5; locked != (a.status == http.StatusTooManyRequests) || locked != (a.header.Get("Retry-After") != "") {
			t.Errorf("try %d answers %d", try, a.status)
		}
	}
	if p := w.logIn(known, passphrase); p.status != http.StatusTooManyRequests {
		t.Errorf("locked out, the right password answers %d", p.status)
	}
}

// wordsOf is what a page says.
func wordsOf(p page) string { return strings.Join(strings.Fields(p.Find("main").Text()), " ") }

// waitLeft is how long a page says is to be waited, which is another time a
// moment later.
var waitLeft = regexp.MustCompile(`again in [^,]*,`)

// Where a log-in leads is never another site.
func TestLogInLeadsToThisSite(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	for next, want := range map[string]string{
		"/a/acme/events?type=x":  "/a/acme/events?type=x",
		"https://evil.example/":  "/",
		"//evil.example":         "/",
		`/\evil.example`:         "/",
		"/\tevil":                "/",
		"javascript:alert(1)":    "/",
		"evil.example":           "/",
		"http:///evil.example":   "/",
		"/a//evil.example/%0d%0": "/",
	} {
		w.post("/logout", url.Values{})
		p := w.submit(w.get("/login?"+url.Values{"next": {next}}.Encode()), "form[action='/login']", url.Values{"email": {w.email}, "password": {passphrase}})
		if p.status != http.StatusSeeOther || p.location != want {
			t.Errorf("%q leads to %d %q", next, p.status, p.location)
		}
	}
}

// Whoever is first on an instance owns it. From elsewhere that takes the link
// that the server printed, and it works once.
func TestFirstSignUp(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages, closedSignUp)
	far := map[string]string{"X-Forwarded-For": "203.0.113.7"}
	w := b.newBrowser(t)
	fields := url.Values{"name": {"First"}, "email": {"first@example.com"}, "password": {passphrase}, "account": {"Acme"}}
	if p := w.send(http.MethodGet, "/signup", nil, far); p.Find("form[action='/signup']").Length() != 0 {
		t.Error("whoever comes first from elsewhere gets the form")
	}
	if p := w.send(http.MethodPost, "/signup", fields, far); p.status != http.StatusUnprocessableEntity {
		t.Errorf("without the link: %d", p.status)
	}
	token, err := b.account.SetupToken(t.Context())
	if err != nil || token == "" {
		t.Fatalf("SetupToken() = %q, %v", token, err)
	}
	form := w.send(http.MethodGet, "/signup?setup="+token, nil, far)
	if form.Find("form[action='/signup']").Length() != 1 {
		t.Fatalf("the link shows no form: %s", wordsOf(form))
	}
	fields.Set("setup", token)
	if p := w.send(http.MethodPost, "/signup", fields, far); p.status != http.StatusSeeOther {
		t.Fatalf("with the link: %d %s", p.status, wordsOf(p))
	}
	second := b.newBrowser(t)
	fields.Set("email", "second@example.com")
	if p := second.send(http.MethodPost, "/signup", fields, nil); p.status != http.StatusUnprocessableEntity {
		t.Errorf("the link again: %d", p.status)
	}
	if p := second.get("/signup"); p.Find("form[action='/signup']").Length() != 0 {
		t.Error("a closed instance shows the form")
	}
}

// closedSignUp closes sign-up.
func closedSignUp(d *server.Deps) {
	d.Accounts = account.NewService(account.Options{Store: d.Store, Passwords: cheapPasswords, Clock: clock.New(), Signup: config.SignupClosed})
}

// A proxy that does not say that it is one passes on what anybody asks: the
// common one speaks HTTP/1.0, and names the server as its host.
func TestAProxyIsNotLocal(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages, closedSignUp)
	at, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	fields := url.Values{"name": {"First"}, "email": {"first@example.com"}, "password": {passphrase}, "account": {"Acme"}}.Encode()
	for _, c := range []struct {
		proto string
		want  int
	}{{"HTTP/1.0", http.StatusUnprocessableEntity}, {"HTTP/1.1", http.StatusSeeOther}} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // what was to be read was
		_, err = fmt.Fprintf(conn, "POST /signup %s\r\nHost: %s\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s",
			c.proto, at.Host, len(fields), fields)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close() //nolint:errcheck // it is not read
		if answer.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", c.proto, answer.StatusCode, c.want)
		}
	}
}

// A secret that is shown once is shown by the page that it is for, whatever
// other pages of the person are read before.
func TestASecretIsShownByItsPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	p := w.post(w.home+"/settings/keys/new", url.Values{"name": {"CI"}, "scopes": {"publish"}, "ends": {"90"}})
	p.wantStatus(http.StatusSeeOther)
	key := regexp.MustCompile(`rk_[0-9a-z]{40}`)
	for _, other := range []string{w.home, w.home + "/settings", "/accounts", w.home + "/nothing"} {
		if seen := w.get(other); key.MatchString(seen.text) {
			t.Errorf("%s shows the key", other)
		}
	}
	if !key.MatchString(w.get(p.location).text) {
		t.Error("another page took the key away")
	}
	if key.MatchString(w.get(p.location).text) {
		t.Error("the key is shown twice")
	}
}
