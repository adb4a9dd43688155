package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/rowlock/rowlock/internal/gateway"
)

// code is the code of a key after a number of steps.
func (b *bundle) code(t testing.TB, key string, steps int) string {
	t.Helper()
	code, err := totp.GenerateCode(key, b.clock.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// beginTwoStep has a key made and returns the page that shows it, once.
func (w *browser) beginTwoStep() (p page, key string) {
	w.t.Helper()
	p = w.follow(w.submit(w.get("/me/two-step/new"), "form.dialog", url.Values{"password": {passphrase}}))
	return p, p.Find("#key [data-copy]").AttrOr("data-copy", "")
}

// turnTwoStepOn turns it on with the code of this step, and returns the key and
// the recovery codes.
func (w *browser) turnTwoStepOn() (key string, codes []string) {
	w.t.Helper()
	p, key := w.beginTwoStep()
	p = w.follow(w.submit(p, "#first-code", url.Values{"code": {w.code(w.t, key, 0)}}))
	p.wantToast("Two-step log-in is on")
	for _, code := range p.Find("#fresh-codes li").EachIter() {
		codes = append(codes, code.Text())
	}
	return key, codes
}

// logInHalf logs in with the password, and is asked for a code.
func (w *browser) logInHalf(email string) page {
	w.t.Helper()
	p := w.logIn(email, passphrase)
	p.wantStatus(http.StatusSeeOther)
	if !strings.HasPrefix(p.location, "/login/code?") {
		w.t.Fatalf("the password leads to %s", p.location)
	}
	return w.get(p.location)
}

// showCode sends the form that asks for a code.
func (w *browser) showCode(p page, code string) page {
	w.t.Helper()
	return w.submit(p, "form[action='/login/code']", url.Values{"code": {code}})
}

func TestTwoStepPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w, elsewhere := b.signedUp(t, "Acme"), b.newBrowser(t)
	elsewhere.logIn(w.email, passphrase).wantStatus(http.StatusSeeOther)
	if p := w.get("/me/two-step"); p.Find("#two-step").Length() != 1 || !strings.Contains(wordsOf(p), "Off") || p.Find("#first-code").Length() != 0 {
		t.Errorf("before: %s", wordsOf(p))
	}
	for _, wrong := range []string{"", "not the passphrase"} {
		if p := w.submit(w.get("/me/two-step/new"), "form.dialog", url.Values{"password": {wrong}}); p.status != http.StatusUnprocessableEntity || p.errorBeside("password") == "" {
			t.Errorf("with the password %q: %d", wrong, p.status)
		}
	}
	p, key := w.beginTwoStep()
	if len(key) != 32 || p.Find("#key svg path").AttrOr("d", "") == "" || !strings.HasPrefix(p.Find("#key a.link").AttrOr("href", ""), "otpauth://totp/Rowlock") {
		t.Fatalf("the key is shown as %q", p.Find("#key").Text())
	}
	if again := w.get("/me/two-step"); strings.Contains(again.text, key) || again.Find("#first-code").Length() != 1 {
		t.Error("the key is shown twice, or no code is asked for")
	}
	p = w.submit(p, "#first-code", url.Values{"code": {w.code(t, key, 9)}})
	if p.status != http.StatusUnprocessableEntity || p.errorBeside("code") == "" || strings.Contains(p.text, key) {
		t.Errorf("with a wrong code: %d %q", p.status, p.errorBeside("code"))
	}
	if row := w.get(w.home + "/settings/members").Find("#members tbody tr").Text(); !strings.Contains(row, "Off") {
		t.Errorf("the member is %q before", row)
	}
	p = w.follow(w.submit(p, "#first-code", url.Values{"code": {w.code(t, key, 0)}}))
	if n := p.Find("#fresh-codes li").Length(); n != 10 || !strings.Contains(p.Find("#codes-left").Text(), "10 codes are left") {
		t.Errorf("%d codes are shown, and %q", n, p.Find("#codes-left").Text())
	}
	code := p.Find("#fresh-codes li").First().Text()
	if again := w.get("/me/two-step"); strings.Contains(again.text, code) || strings.Contains(again.text, key) {
		t.Error("a secret is shown twice")
	}
	if p := elsewhere.get(w.home); p.status != http.StatusSeeOther {
		t.Errorf("a session from before is still good: %d", p.status)
	}
	if row := w.get(w.home + "/settings/members").Find("#members tbody tr").Text(); !strings.Contains(row, "On") {
		t.Errorf("the member is %q", row)
	}
	w.follow(w.submit(w.get("/me/two-step/new"), "form.dialog", url.Values{"password": {passphrase}})).wantToast("on already")

	fresh := w.follow(w.submit(w.get("/me/two-step/codes"), "form.dialog", url.Values{"password": {passphrase}}))
	if got := fresh.Find("#fresh-codes li").First().Text(); got == "" || got == code {
		t.Errorf("the new codes begin with %q", got)
	}
	off := w.get("/me/two-step/off")
	if p := w.submit(off, "form.dialog", url.Values{"password": {"not the passphrase"}}); p.status != http.StatusUnprocessableEntity {
		t.Errorf("off with a wrong password: %d", p.status)
	}
	w.follow(w.submit(off, "form.dialog", url.Values{"password": {passphrase}})).wantToast("Two-step log-in is off")
	w.follow(w.submit(off, "form.dialog", url.Values{"password": {passphrase}})).wantToast("off already")
	b.newBrowser(t).logIn(w.email, passphrase).wantStatus(http.StatusSeeOther)
}

func TestLogInWithACode(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	key, codes := owner.turnTwoStepOn()
	w := b.newBrowser(t)
	// Half a log-in opens nothing.
	asked := w.logInHalf(owner.email)
	if asked.status != http.StatusOK || asked.Find("#code").AttrOr("autocomplete", "") != "one-time-code" {
		t.Fatalf("a code is asked for with %d", asked.status)
	}
	half := w.token()
	for _, path := range []string{owner.home, "/accounts", "/me/two-step", "/instance/mail"} {
		if p := w.get(path); p.status != http.StatusSeeOther || !strings.HasPrefix(p.location, "/login") {
			t.Errorf("%s opens for half a log-in: %d %s", path, p.status, p.location)
		}
	}
	for _, wrong := range []string{"", "12", owner.code(t, key, 7)} {
		if p := w.showCode(asked, wrong); p.status != http.StatusUnprocessableEntity || p.errorBeside("code") == "" {
			t.Errorf("with %q: %d", wrong, p.status)
		}
	}
	// In another browser it is worth nothing.
	if p := b.newBrowser(t).post("/login/code", url.Values{"code": {codes[0]}}); p.location != "/login?notice=late" {
		t.Errorf("without the cookie a code leads to %d %s", p.status, p.location)
	}
	code := owner.code(t, key, 1)
	w.showCode(asked, code).wantStatus(http.StatusSeeOther)
	if w.token() == half || w.get(owner.home).status != http.StatusOK {
		t.Error("the session is not open, or its token is the half one's")
	}
	thief := b.newBrowser(t)
	thief.plant(half)
	if p := thief.post("/login/code", url.Values{"code": {codes[1]}}); p.location != "/login?notice=late" {
		t.Errorf("half a log-in that was used leads to %d %s", p.status, p.location)
	}
	// The same code does not let in twice.
	second := b.newBrowser(t)
	asked = second.logInHalf(owner.email)
	if p := second.showCode(asked, code); p.status != http.StatusUnprocessableEntity || !strings.Contains(p.errorBeside("code"), "let you in once") {
		t.Errorf("the code again: %d %q", p.status, p.errorBeside("code"))
	}
	// A recovery code does, once.
	recovery := second.get(asked.Find("a[href*='recovery=1']").AttrOr("href", ""))
	second.follow(second.showCode(recovery, codes[0])).wantToast("You have 9 codes left")
	third := b.newBrowser(t)
	asked = third.logInHalf(owner.email)
	if p := third.showCode(third.get(asked.Find("a[href*='recovery=1']").AttrOr("href", "")), codes[0]); p.status != http.StatusUnprocessableEntity || !strings.Contains(p.errorBeside("code"), "none of your recovery codes") {
		t.Errorf("a recovery code again: %d %q", p.status, p.errorBeside("code"))
	}
}

// Half a log-in keeps where it leads, and whether to stay logged in; and nothing
// leads to another site.
func TestWhereACodeLeads(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	_, codes := owner.turnTwoStepOn()
	for i, c := range []struct{ next, want string }{{"/a/acme/events?type=x", "/a/acme/events?type=x"}, {"https://evil.example/", "/"}, {`/\evil.example`, "/"}} {
		w := b.newBrowser(t)
		p := w.submit(w.get("/login?"+url.Values{"next": {c.next}}.Encode()), "form[action='/login']", url.Values{"email": {owner.email}, "password": {passphrase}, "keep": {"1"}})
		asked := w.get(p.location)
		p = w.showCode(asked, codes[i])
		cookie, err := http.ParseSetCookie(p.header.Get("Set-Cookie"))
		if err != nil || cookie.MaxAge <= 0 {
			t.Errorf("the session is not kept: %v, %v", cookie, err)
		}
		if p.location != "/me/two-step" { // who used a recovery code sees how many are left
			t.Errorf("a recovery code leads to %s", p.location)
		}
		if got := asked.Find("input[name=next]").AttrOr("value", ""); got != c.want {
			t.Errorf("%q is kept as %q", c.next, got)
		}
	}
}

func TestCodesAreBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	key, _ := owner.turnTwoStepOn()
	w := b.newBrowser(t)
	asked := w.logInHalf(owner.email)
	for range 5 {
		w.showCode(asked, owner.code(t, key, 7)).wantStatus(http.StatusUnprocessableEntity)
	}
	p := w.showCode(asked, owner.code(t, key, 1))
	p.wantStatus(http.StatusTooManyRequests)
	if p.header.Get("Retry-After") == "" || !strings.Contains(p.errorBeside("code"), "Too many tries") {
		t.Errorf("the answer says %q", wordsOf(p))
	}
}

// An account that asks for it opens to who has turned it on, from the next
// request on.
func TestAnAccountRequiresTwoStep(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	viewer := owner.newMemberAs(gateway.RoleViewer)
	at := owner.home + "/settings/members"
	require := func(w *browser) page { return w.submit(w.get(at+"/two-step"), "form.dialog", nil) }
	owner.follow(require(owner)).wantToast("for yourself first")
	owner.turnTwoStepOn()
	viewer.get(at + "/two-step").wantStatus(http.StatusForbidden)
	owner.follow(require(owner)).wantToast("required from every member")
	if p := owner.get(at); p.Find("#two-step-required").Length() != 1 {
		t.Error("the page does not say so")
	}
	for _, path := range []string{owner.home, owner.home + "/events", owner.home + "/settings/members"} {
		p := viewer.get(path)
		if p.status != http.StatusSeeOther || p.location != "/me/two-step" {
			t.Errorf("%s opens without: %d %s", path, p.status, p.location)
		}
	}
	if p := viewer.send(http.MethodGet, owner.home+"/events", nil, map[string]string{"HX-Request": "true"}); p.status != http.StatusForbidden || p.header.Get("HX-Redirect") != "/me/two-step" {
		t.Errorf("a script is answered %d", p.status)
	}
	if p := viewer.get(owner.home + "/nowhere"); strings.Contains(p.text, "Go to the overview") {
		t.Error("a failure leads into the account")
	}
	viewer.follow(viewer.get(owner.home)).wantToast("“Acme” asks its members for two-step log-in")
	viewer.turnTwoStepOn()
	viewer.get(owner.home).wantStatus(http.StatusOK)
	owner.follow(require(owner)).wantToast("up to each member")
	owner.tenant().must(200, http.MethodGet, "/members", nil)
}

// The API tells which members have turned it on.
func TestMembersTwoStepInTheAPI(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	for _, want := range []bool{false, true} {
		if got := entries(n.must(200, http.MethodGet, "/members", nil))[0]["two_step"]; got != want {
			t.Errorf("two_step is %v, want %t", got, want)
		}
		if !want {
			w.turnTwoStepOn()
		}
	}
}

// Who guesses the first code is stopped, and told for how long.
func TestTheFirstCodeIsNotGuessedOnThePage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	p, key := w.beginTwoStep()
	for i := range 5 {
		w.submit(p, "#first-code", url.Values{"code": {w.code(t, key, 9+i)}}).wantStatus(http.StatusUnprocessableEntity)
	}
	stopped := w.submit(p, "#first-code", url.Values{"code": {w.code(t, key, 0)}})
	stopped.wantStatus(http.StatusTooManyRequests)
	if got := stopped.errorBeside("code"); !strings.Contains(got, "Too many tries. You can try again in 1") {
		t.Errorf("it says %q", got)
	}
}
