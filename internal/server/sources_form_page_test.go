package server_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

func TestCatalogueOfSources(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	all := len(signature.Kinds())
	for search, want := range map[string]struct {
		least, most int
		kind        string
	}{
		"":               {all, all, "sendgrid"},
		" ":              {all, all, "none"},
		"StRiPe":         {1, 1, "stripe"},
		"payment":        {3, 15, "stripe"},
		"whatsapp":       {1, 4, "meta"},
		"sha256 custom":  {1, 4, "hmac"},
		"any sender":     {6, 12, "bearer"},
		"no such sender": {0, 0, ""},
		"\x00<script>":   {0, 0, ""},
		"\xff":           {all, all, "github"},
	} {
		p := w.get(w.home + "/sources/new?q=" + url.QueryEscape(search))
		p.wantStatus(http.StatusOK)
		if n := p.Find("#catalogue .kinds a").Length(); n < want.least || n > want.most {
			t.Errorf("%q finds %d kinds", search, n)
		}
		if want.kind != "" && p.Find(".kinds a[href$='?kind="+want.kind+"']").Length() != 1 {
			t.Errorf("%q does not find %s", search, want.kind)
		}
		if found := p.Find("#none-found a[href$='?kind=hmac']").Length(); (found == 1) != (want.most == 0) {
			t.Errorf("%q: a way on is offered %d times", search, found)
		}
	}
	if p := w.get(w.home + "/sources/new?kind=unheard_of"); p.Find("#catalogue .kinds a").Length() != all {
		t.Error("an unknown kind does not lead back to the catalogue")
	}
	p := w.get(w.home + "/sources")
	if tiles := p.Find(".kinds a"); tiles.Length() > 10 || tiles.Last().AttrOr("href", "") != w.home+"/sources/new" {
		t.Errorf("%d tiles on the page of sources, the last to %s", tiles.Length(), tiles.Last().AttrOr("href", ""))
	}
}

// secretTaken is a secret that the kind takes.
func secretTaken(t *testing.T, scheme signature.Scheme) string {
	t.Helper()
	public, _ := scheme.NewPair()
	for _, secret := range []string{public, signature.NewSecret(), "hooks:correct-horse", strings.Repeat("0af9", 16)} {
		if checked, err := scheme.CheckSecret(secret); err == nil && checked != "" {
			return secret
		}
	}
	t.Fatalf("no secret for the kind %s", scheme.Info().Kind)
	return ""
}

// Each kind has a form from which a source can be made, and which tells what is
// missing.
func TestSourceFormOfEveryKind(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	for _, kind := range signature.Kinds() {
		scheme, _ := signature.Lookup(kind)
		info := scheme.Info()
		p := w.get(w.home + "/sources/new?kind=" + kind)
		p.wantStatus(http.StatusOK)
		if n := p.Find("#steps li").Length(); n != len(info.Steps) {
			t.Errorf("%s: %d steps of %d", kind, n, len(info.Steps))
		}
		if p.Find("#steps a").AttrOr("href", "") != info.Docs || (p.Find("#secret").Length() == 1) != (info.Secret.Name != "") {
			t.Errorf("%s: the way to its documentation or the field of its secret", kind)
		}
		if folded := p.Find("details #public_url").Length() == 1; folded == info.URLSigned {
			t.Errorf("%s: the public URL is folded away: %v", kind, folded)
		}
		empty := w.submit(p, "#source-form", url.Values{"name": {""}})
		empty.wantStatus(http.StatusUnprocessableEntity)
		if empty.errorBeside("name") == "" || info.NeedsSecret() && empty.errorBeside("secret") == "" {
			t.Errorf("%s: an empty form is not told what is missing", kind)
		}
		filled := url.Values{"name": {"S " + kind}}
		if info.NeedsSecret() {
			filled.Set("secret", secretTaken(t, scheme))
		}
		for _, s := range info.Settings {
			if s.Required {
				filled.Set(s.Name, s.Example)
			}
		}
		made := w.submit(empty, "#source-form", filled)
		if made.status != http.StatusSeeOther {
			t.Errorf("%s: a good form is answered with %d: %s", kind, made.status, made.Find("[role='alert'], .err").Text())
			continue
		}
		edit := w.get(made.location + "/edit")
		edit.wantStatus(http.StatusOK)
		w.submit(edit, "#source-form", nil).wantStatus(http.StatusSeeOther)
	}
}

// Who does not have the secret yet gets a source that refuses everything.
func TestEveryKindWhoseSecretComesLater(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	for _, kind := range signature.Kinds() {
		scheme, _ := signature.Lookup(kind)
		if !scheme.Info().Secret.After {
			continue
		}
		p := w.addSource(kind, url.Values{"later": {"1"}, "name": {kind}})
		if p.Find("#secrets [data-s='current']").Length() != 0 || p.Find("#bereft a[href$='/rotate']").Length() != 1 || p.Find("h1 [data-s='failing']").Length() != 1 {
			t.Errorf("%s: the page does not say that there is no secret", kind)
		}
		if w.get(p.path+"/test").Find("button[name='send']").Length() != 0 {
			t.Errorf("%s: something that nobody could have signed can be sent in", kind)
		}
		if got := b.send(t, http.MethodPost, p.ingestURL(), `{"id":"1"}`); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d", kind, got.StatusCode)
		}
	}
}

// Where the operator makes up the secret, the form does, for every kind.
func TestSourceFormGeneratesSecrets(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	for _, kind := range signature.Kinds() {
		scheme, _ := signature.Lookup(kind)
		form := w.get(w.home + "/sources/new?kind=" + kind)
		if offered := form.Find("button[name='generate']").Length() == 1; offered != scheme.Info().Secret.MadeUp {
			t.Errorf("%s: a secret is offered: %v", kind, offered)
		}
		if !scheme.Info().Secret.MadeUp {
			continue
		}
		entered := url.Values{"name": {"My " + kind}, "generate": {"1"}}
		for _, s := range scheme.Info().Settings {
			if s.Required {
				entered.Set(s.Name, s.Example)
			}
		}
		p := w.submit(form, "#source-form", entered).answered(http.StatusOK)
		made := p.Find("#secret").AttrOr("value", "")
		if len(made) < 40 || p.Find("#secret[type='text']").Length() != 1 || p.Find("[data-copy='"+made+"']").Length() != 1 || p.Find("#name").AttrOr("value", "") != "My "+kind {
			t.Errorf("%s: made %q, beside the name %q", kind, made, p.Find("#name").AttrOr("value", ""))
		}
		entered.Del("generate")
		entered.Set("secret", made)
		if added := w.submit(p, "#source-form", entered); added.status != http.StatusSeeOther {
			t.Errorf("%s: the secret is answered with %d %q", kind, added.status, added.errorBeside("secret"))
		}
	}
}

// What is entered under "More settings" is stored, shown again, and can be
// taken back.
func TestSettingsOfEverySource(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	entered := url.Values{
		"name": {"Crm"}, "secret": {"s3cret"}, "allow_versions": {"v2"}, "tolerance": {"90s"}, "rate_limit": {" 25 "},
		"public_url": {"https://hooks.example.com/hub"}, "allowed_ips": {"203.0.113.0/24\r\n 2001:db8::1 "}, "replay_guard": {"10m"},
	}
	p := w.addSource("hubspot", entered)
	facts := p.Find("#facts").Text()
	for _, want := range []string{"v2", "90s", "25 a second", "https://hooks.example.com/hub", "203.0.113.0/24, 2001:db8::1", "10m"} {
		if !strings.Contains(facts, want) {
			t.Errorf("the page does not show %q: %s", want, facts)
		}
	}
	edit := w.get(p.path + "/edit")
	if w.get(w.addSource("stripe", url.Values{"name": {"x"}, "secret": {"whsec_x"}}).path+"/edit?field=tolerance").Find("details[open] #tolerance").Length() != 1 {
		t.Error("the field that a page leads to is folded away")
	}
	if edit.Find("details[open]").Length() == 0 || edit.Find("[name='allow_versions'][value='v2'][checked]").Length() != 1 || edit.Find("[name='allow_versions'][checked]").Length() != 1 {
		t.Error("what was chosen is hidden or lost")
	}
	for field, want := range map[string]string{"tolerance": "90s", "rate_limit": "25", "public_url": entered.Get("public_url"), "replay_guard": "10m"} {
		if got := edit.Find("#"+field).AttrOr("value", ""); got != want {
			t.Errorf("%s became %q", field, got)
		}
	}
	if got := strings.Fields(edit.Find("#allowed_ips").Text()); len(got) != 2 || got[1] != "2001:db8::1" {
		t.Errorf("the addresses became %q", got)
	}
	for field, wrong := range map[string]string{
		"tolerance": "25h", "rate_limit": "many", "public_url": "hooks.example.com", "allowed_ips": "here\nthere", "replay_guard": "1", "allow_versions": "v9",
	} {
		again := w.submit(edit, "#source-form", url.Values{field: {wrong}})
		again.wantStatus(http.StatusUnprocessableEntity)
		if told := again.errorBeside(field); told == "" || strings.ContainsAny(told, "{}") || strings.Contains(told, "0m0s") {
			t.Errorf("%s %q: %q beside it, %q above", field, wrong, told, again.Find("#source-form [role='alert']").Text())
		}
	}
	w.submit(edit, "#source-form", url.Values{
		"tolerance": {""}, "rate_limit": {""}, "public_url": {""}, "allowed_ips": {""}, "replay_guard": {""}, "allow_versions": nil,
	}).wantStatus(http.StatusSeeOther)
	if facts := strings.ReplaceAll(w.get(p.path).Find("#facts").Text(), idOf(p), ""); strings.Contains(facts, "a second") || strings.Contains(facts, "v2") || !strings.Contains(facts, "5m") {
		t.Errorf("what was taken back: %s", facts)
	}
}

// A public key is pasted as it comes, over several lines, and is no secret; one
// that cannot be read is told beside its field.
func TestSourceWithAPublicKey(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	scheme, _ := signature.Lookup("ed25519")
	public, private := scheme.NewPair()
	form := w.get(w.home + "/sources/new?kind=ed25519")
	if form.Find("textarea#secret").Length() != 1 {
		t.Error("there is one line for a key that may have several")
	}
	p := w.submit(form, "#source-form", url.Values{"name": {"Partner"}, "header": {"X-Signature"}, "secret": {"no key"}})
	p.wantStatus(http.StatusUnprocessableEntity)
	if p.errorBeside("secret") == "" {
		t.Error("a key that is none was taken")
	}
	raw, err := base64.StdEncoding.DecodeString(public)
	if err != nil {
		t.Fatal(err)
	}
	spki := append([]byte("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"), raw...)
	text := base64.StdEncoding.EncodeToString(spki)
	pem := "-----BEGIN PUBLIC KEY-----\r\n" + text[:40] + "\r\n" + text[40:] + "\r\n-----END PUBLIC KEY-----\r\n"
	p = w.follow(w.submit(form, "#source-form", url.Values{"name": {"Partner"}, "header": {"X-Signature"}, "secret": {pem}}))
	request := scheme.Sample(p.ingestURL(), "1", b.clock.Now())
	settings := signature.Settings{Raw: []byte(`{"header":"X-Signature"}`)}
	if err := scheme.Sign(&request, settings, private); err != nil {
		t.Fatal(err)
	}
	got := b.send(t, http.MethodPost, p.ingestURL(), string(request.Body), "X-Signature", request.Header.Get("X-Signature"))
	if got.StatusCode != http.StatusOK {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
	if w.get(p.path+"/rotate").Find("textarea#secret").Length() != 1 {
		t.Error("another key has to fit into one line")
	}
}

// Asana and Notion send their secret: the form asks for none.
func TestSourceWhoseSecretIsSent(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	for _, kind := range []string{"asana", "notion"} {
		form := w.get(w.home + "/sources/new?kind=" + kind)
		if form.Find("#secret[required]").Length() != 0 || !strings.Contains(form.Find("#secret-hint").Text(), "Leave this empty") {
			t.Errorf("%s asks for its secret", kind)
		}
		p := w.follow(w.submit(form, "#source-form", url.Values{"secret": {""}}))
		if !strings.Contains(p.ingestURL(), gateway.IngestPath) || p.Find("#secrets [data-s='current']").Length() != 0 {
			t.Errorf("%s has a secret before one was sent", kind)
		}
	}
}
