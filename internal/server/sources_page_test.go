package server_test

import (
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// addSource makes a source with the form of its kind and returns its page.
func (w *browser) addSource(kind string, values url.Values) page {
	w.t.Helper()
	p := w.get(w.home + "/sources/new?kind=" + kind)
	return w.follow(w.submit(p, "#source-form", values))
}

// ingestURL is where the source of a page is sent to.
func (p page) ingestURL() string {
	p.t.Helper()
	address := p.Find(".secret [data-copy]").First().AttrOr("data-copy", "")
	if !strings.Contains(address, gateway.IngestPath) {
		p.t.Fatalf("%s shows no ingest URL but %q", p.path, address)
	}
	return address
}

// errorBeside is what stands beside a field as wrong.
func (p page) errorBeside(field string) string {
	return strings.Join(strings.Fields(p.Find("#"+field+"-error").Text()), " ")
}

func TestSourceFromFormToFirstEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	if n := w.get(w.home + "/sources/new").Find(".kinds a").Length(); n < 5 {
		t.Errorf("%d kinds to choose from", n)
	}
	p := w.addSource("github", url.Values{"name": {"Deploys"}, "secret": {"hush"}})
	p.wantToast("Source added")
	if p.Find("#waiting").Length() != 1 || p.Find("#source").AttrOr("data-live-refresh", "") != "events" {
		t.Error("the page does not wait for the first request")
	}
	address, body := p.ingestURL(), `{"zen":"x"}`
	got := b.send(t, http.MethodPost, address, body, "X-Github-Event", "ping")
	if got.StatusCode != http.StatusUnauthorized {
		t.Fatalf("unsigned: %d", got.StatusCode)
	}
	for range 2 {
		got = b.send(t, http.MethodPost, address, body, "X-Github-Event", "ping", "X-Github-Delivery", "1", "X-Hub-Signature-256", sign("hush", body))
		if got.StatusCode != http.StatusOK {
			t.Fatalf("signed: %d %s", got.StatusCode, got.text)
		}
	}
	p = w.get(p.path)
	if p.Find("#waiting").Length() != 0 || p.Find("#requests tbody tr").Length() != 2 {
		t.Errorf("after an event and two others, %d requests are listed", p.Find("#requests tbody tr").Length())
	}
	if n := w.get(p.path + "?cause=signature_missing").Find("#requests tbody tr").Length(); n != 1 {
		t.Errorf("%d requests without a signature", n)
	}
	r := w.get(w.get(p.path+"?cause=duplicate").Find("#requests tbody a").AttrOr("href", ""))
	r.wantStatus(http.StatusOK)
	if !strings.Contains(r.Find("#why").Text(), "repeat") || !strings.Contains(r.Find("#body").Text(), "zen") || !strings.Contains(r.Find("#headers").Text(), "X-Github-Delivery") {
		t.Errorf("the request's page: %s", r.Find("main").Text())
	}
	list := w.get(w.home + "/sources")
	if list.Find("#sources tbody tr").Length() != 2 || !strings.Contains(list.Find("#sources").Text(), "1 no signature") {
		t.Errorf("the list: %s", list.Find("#sources").Text())
	}
}

// A form that failed keeps what was entered, says beside each field what is
// wrong, and never repeats a secret.
func TestSourceFormKeepsItsFields(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	entered := url.Values{
		"name": {""}, "uid": {"not one!"}, "secret": {"hunter2"}, "header": {"X-Sig"}, "algorithm": {"sha512"}, "encoding": {"base64"},
		"prefix": {"v0="}, "signed": {"v0:{timestamp}:{body}"}, "id_header": {"X-Id"}, "type_header": {"X-Type"}, "tolerance": {"10m"},
	}
	p := w.submit(w.get(w.home+"/sources/new?kind=hmac"), "#source-form", entered)
	p.wantStatus(http.StatusUnprocessableEntity)
	for _, field := range []string{"name", "uid", "timestamp_header"} {
		if p.errorBeside(field) == "" || p.Find("#"+field).AttrOr("aria-invalid", "") != "true" {
			t.Errorf("%s has no message beside it", field)
		}
	}
	for field, values := range entered {
		got := p.Find("#"+field).AttrOr("value", "")
		if chosen := p.Find("#" + field + " option[selected]"); chosen.Length() > 0 {
			got = chosen.AttrOr("value", "")
		}
		if field != "secret" && got != values[0] {
			t.Errorf("%s became %q", field, got)
		}
	}
	if strings.Contains(p.text, "hunter2") || !strings.Contains(p.Find("#secret-hint").Text(), "again") {
		t.Error("the secret is shown, or nothing says that it is gone")
	}
	for field, value := range map[string]string{"header": "", "signed": "{bdy}", "tolerance": "long", "prefix": strings.Repeat("x", 100), "algorithm": "md5"} {
		changed := url.Values{"name": {"x"}, "secret": {"s"}, "header": {"X-Sig"}, field: {value}}
		p := w.submit(w.get(w.home+"/sources/new?kind=hmac"), "#source-form", changed)
		if p.status != http.StatusUnprocessableEntity || p.errorBeside(field) == "" {
			t.Errorf("%s %q: %d %q", field, value, p.status, p.errorBeside(field))
		}
	}
}

// All that is wrong is told at once, however much that is.
func TestSourceFormTellsAllAtOnce(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.submit(w.get(w.home+"/sources/new?kind=hmac"), "#source-form", url.Values{
		"name": {""}, "secret": {""}, "uid": {"not one!"}, "header": {""}, "prefix": {strings.Repeat("x", 100)}, "signed": {"{bdy}"}, "id_header": {"a b"},
		"tolerance": {"long"}, "rate_limit": {"many"}, "public_url": {"here"}, "allowed_ips": {"there"}, "replay_guard": {"1"},
	})
	p.wantStatus(http.StatusUnprocessableEntity)
	for _, field := range []string{
		"name", "secret", "uid", "header", "prefix", "signed", "id_header", "tolerance", "rate_limit", "public_url", "allowed_ips", "replay_guard",
	} {
		if p.errorBeside(field) == "" {
			t.Errorf("nothing is told beside %s", field)
		}
	}
}

// Some providers show the secret only to who has given them an address.
func TestSourceWhoseSecretComesLater(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	p := w.submit(w.get(w.home+"/sources/new?kind=stripe"), "#source-form", url.Values{})
	p.wantStatus(http.StatusUnprocessableEntity)
	p = w.addSource("stripe", url.Values{"later": {"1"}})
	w.get(w.home+"/sources").wantText("#sources", "Secret missing")
	rotated := w.submit(w.get(p.path+"/rotate"), "form.dialog", url.Values{"secret": {"sk_live_1"}})
	rotated.wantStatus(http.StatusUnprocessableEntity)
	if rotated.errorBeside("secret") == "" || strings.Contains(rotated.text, "sk_live_1") {
		t.Error("a key of the Stripe API was taken, or is repeated")
	}
	rotated = w.follow(w.submit(rotated, "form.dialog", url.Values{"secret": {"whsec_late"}}))
	rotated.wantToast("Secret changed")
	if n := rotated.Find("#secrets [data-s='current']").Length(); n != 1 {
		t.Errorf("%d current secrets", n)
	}
	if n := rotated.Find("#secrets [data-s='previous']").Length(); n != 0 {
		t.Errorf("%d secrets outlived the change", n)
	}
	if rotated.Find("#bereft").Length() != 0 || strings.Contains(w.get(w.home+"/sources").Find("#sources").Text(), "Secret missing") {
		t.Error("the secret is still missing")
	}
	if strings.Contains(rotated.text, "whsec_late") {
		t.Error("the page shows the secret")
	}
}

func TestSourceIsPausedEditedAndDeleted(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	p := w.addSource("hmac", url.Values{"name": {"Partner"}, "secret": {"s"}, "header": {"X-Sig"}})
	address := p.ingestURL()
	ask := w.fragment(p.path + "/pause")
	if ask.Find("form.dialog").Length() != 1 || ask.Find("main").Length() != 0 {
		t.Error("a script is asked with a whole page")
	}
	w.follow(w.submit(w.get(p.path+"/pause"), "form.dialog", nil)).wantToast("paused")
	paused := w.get(p.path)
	if paused.Find("[data-s='paused']").Length() == 0 {
		t.Error("nothing says that it is paused")
	}
	w.follow(w.submit(paused, ".callout form", nil)).wantToast("resumed")

	p = w.follow(w.submit(w.get(p.path+"/edit"), "#source-form", url.Values{"name": {"Other partner"}, "header": {"X-Other"}, "uid": {"partner"}}))
	if facts := p.Find("#facts").Text(); !strings.Contains(facts, "X-Other") || !strings.Contains(facts, "partner") || p.Find("h1").Text() == "Partner" {
		t.Errorf("after the edit: %s", facts)
	}
	refused := w.submit(w.get(p.path+"/delete"), "form.dialog", url.Values{"name": {"Partner"}})
	if refused.status != http.StatusUnprocessableEntity || refused.errorBeside("name") == "" {
		t.Errorf("the wrong name: %d", refused.status)
	}
	w.follow(w.submit(refused, "form.dialog", url.Values{"name": {"Other partner"}})).wantToast("deleted")
	w.get(p.path).wantStatus(http.StatusNotFound)
	if got := b.send(t, http.MethodPost, address, "{}"); got.StatusCode != http.StatusNotFound {
		t.Errorf("its address answers %d", got.StatusCode)
	}
}

func TestBuiltInSourceCannotBeChanged(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	at := w.get(w.home+"/sources").Find("#sources tbody a").AttrOr("href", "")
	p := w.get(at)
	p.wantStatus(http.StatusOK)
	if p.Find("a[href$='/edit'], a[href$='/delete'], a[href$='/rotate']").Length() != 0 {
		t.Error("the built-in source offers to change it")
	}
	for _, action := range []string{"edit", "pause", "resume", "rotate", "delete"} {
		w.post(at+"/"+action, url.Values{"name": {"API"}}).wantStatus(http.StatusConflict)
	}
}

// Who may only look sees no ingest address, which is a secret where nothing is
// signed, and no button that changes something.
func TestMembersSeeSourcesWithoutSecrets(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.addSource("none", url.Values{"name": {"Doorbell"}})
	token := p.ingestURL()[strings.LastIndex(p.ingestURL(), "/")+1:]
	watcher := w.newMember()
	for _, path := range []string{p.path, w.home + "/sources"} {
		seen := watcher.get(path)
		seen.wantStatus(http.StatusOK)
		if strings.Contains(seen.text, token) || seen.Find("main form, a[href$='/edit'], a[href$='/sources/new']").Length() != 0 {
			t.Errorf("%s shows a member what it should not", path)
		}
	}
	for _, path := range []string{w.home + "/sources/new", p.path + "/edit", p.path + "/rotate", p.path + "/delete", p.path + "/pause"} {
		watcher.get(path).wantStatus(http.StatusForbidden)
		watcher.post(path, url.Values{}).wantStatus(http.StatusForbidden)
	}
}

// The lines that a source's page gives to try it with do what they say.
func TestTryLinesSendAnEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	for name, c := range map[string]struct {
		kind   string
		values url.Values
	}{
		"none": {"none", url.Values{"name": {"x"}}},
	} {
		p := w.addSource(c.kind, c.values)
		script := p.Find("#try [data-copy]").AttrOr("data-copy", "")
		if !strings.Contains(script, p.ingestURL()) {
			t.Errorf("%s: the lines send nowhere: %q", name, script)
			continue
		}
		b.runTry(t, name, strings.ReplaceAll(script, "paste the secret here", strings.ReplaceAll(c.values.Get("secret"), "'", `'\''`)))
	}
	n := w.tenant()
	api := w.get(w.get(w.home+"/sources").Find("#sources tbody tr:last-child a").AttrOr("href", ""))
	b.runTry(t, "api", strings.ReplaceAll(api.Find("#try [data-copy]").AttrOr("data-copy", ""), "paste an API key here", n.key))
}

// runTry runs lines where there is what they need: it is on most machines.
func (b *bundle) runTry(t *testing.T, name, script string) {
	t.Helper()
	for _, program := range []string{"sh", "curl", "openssl", "od"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Logf("%s: there is no %s to run the lines with", name, program)
			return
		}
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", script).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"id":"evt_`) || !strings.Contains(string(out), `"duplicate":false`) {
		t.Errorf("%s: %v %s\n%s", name, err, out, script)
	}
}
