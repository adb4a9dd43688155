package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every setting that the API has can be chosen on the page, and a form that is
// sent as it came changes none.
func TestEverySettingOnThePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	url1, got := keeping(t)
	standby := idOf(w.addEndpoint(url.Values{"url": {somewhere}, "description": {"Standby"}}))
	p := w.addEndpoint(url.Values{
		"url": {url1}, "filter": {"body.amount > 100 &&\r\n  true\r\n"}, "rate_limit": {" 25 "}, "failover": {standby},
		"signature": {"v1a"}, "auth": {"basic"}, "auth_username": {"Aladdin"}, "auth_password": {"open sesame"}, "auth_token": {"left behind"},
	})
	p.wantToast("Give your receiver its public key.")
	public := p.Find("#secrets code").First().Text()
	n, at := w.tenant(), "/endpoints/"+idOf(p)
	made := n.must(200, http.MethodGet, at, nil)
	for field, want := range map[string]any{
		"filter": "body.amount > 100 &&\n  true", "rate_limit": object{"per_second": 25.0}, "failover": standby,
		"signature": "v1a", "auth": object{"type": "basic"}, "public_keys": []any{public},
	} {
		if diff := cmp.Diff(want, made[field]); diff != "" {
			t.Errorf("%s: %s", field, diff)
		}
	}
	edit := w.get(pathOf(p) + "/edit")
	if strings.Contains(edit.text, "open sesame") || strings.Contains(edit.text, "Aladdin") {
		t.Error("the form shows what is kept sealed")
	}
	w.follow(w.submit(edit, "form#endpoint", nil)).wantToast("Saved.")
	if diff := cmp.Diff(made, n.must(200, http.MethodGet, at, nil)); diff != "" {
		t.Errorf("a form that was sent as it came changed: %s", diff)
	}
	n.must(200, http.MethodPost, at+"/test", nil)
	if a := <-got; a.header.Get("Authorization") != "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==" || !a.signedWith(t, public) {
		t.Errorf("sent %v", a.header)
	}
	w.follow(w.submit(w.get(pathOf(p)+"/edit"), "form#endpoint", url.Values{
		"filter": {""}, "rate_limit": {""}, "failover": {""}, "auth": {"none"},
	}))
	now := n.must(200, http.MethodGet, at, nil)
	if now["filter"] != nil || now["rate_limit"] != nil || now["failover"] != nil || now["auth"] != nil || now["signature"] != "v1a" {
		t.Errorf("emptied fields became %v", now)
	}
	if want := []string{"endpoint.create", "endpoint.update filter, rate_limit, failover, auth"}; !cmp.Equal(w.audited(n.account, idOf(p)), want) {
		t.Errorf("the audit log says %q", w.audited(n.account, idOf(p)))
	}
}

// Another signature is told where the new secret is.
func TestChangeSignatureOnThePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.addEndpoint(url.Values{"url": {somewhere}})
	p = w.follow(w.submit(w.get(pathOf(p)+"/edit"), "form#endpoint", url.Values{"signature": {"v1a"}}))
	p.wantToast("Saved. A new secret signs from now on, and the one before beside it for 24 hours.")
	if got := p.Find("#secrets li"); got.Length() != 2 || !strings.HasPrefix(got.Find("code").First().Text(), "whpk_") {
		t.Errorf("the page shows %q", got.Text())
	}
	p = w.follow(w.submit(w.get(pathOf(p)+"/rotate"), `form[action$="/rotate"]`, url.Values{"overlap": {"1h"}}))
	p.wantToast("Rotated. A new key signs from now on. Give your receiver its public key.")
	if got := p.Find("#secrets code").Text(); strings.Count(got, "whpk_") != 2 {
		t.Errorf("the page shows %q", got)
	}
	// Whoever sees the endpoint sees the public keys.
	if got := w.newMember().get(pathOf(p)).Find("#secrets code").Text(); strings.Count(got, "whpk_") != 2 {
		t.Errorf("a member sees %q", got)
	}
}

func TestEndpointFormTellsMistakesOfItsChoices(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	stored := pathOf(w.addEndpoint(url.Values{"url": {somewhere}, "auth": {"basic"}, "auth_username": {"u"}, "auth_password": {"p"}}))
	for name, c := range map[string]struct {
		edit   bool
		values url.Values
		says   map[string]string
	}{
		"not among the choices": {
			false,
			url.Values{"rate_limit": {"0"}, "failover": {"ep_x"}, "signature": {"v2"}, "auth": {"digest"}, "filter": {strings.Repeat("x", 5000)}},
			map[string]string{
				"rate_limit": "from 1 to 10000", "failover": "one of the account’s", "signature": "one of the two", "auth": "one of the three", "filter": "at most 4096",
			},
		},
		"too many a second": {false, url.Values{"rate_limit": {"10001"}}, map[string]string{"rate_limit": "1 to 10000"}},
		"nothing entered":   {false, url.Values{"auth": {"bearer"}}, map[string]string{"auth_token": "missing"}},
		"no words":          {false, url.Values{"auth": {"basic"}}, map[string]string{"auth_username": "missing"}},
		"words that cannot be": {
			false,
			url.Values{"auth": {"basic"}, "auth_username": {"u:"}, "auth_password": {"hunter2"}},
			map[string]string{"auth_username": "colon", "auth_password": "never repeats"},
		},
		"a token with its scheme": {
			false, url.Values{"auth": {"bearer"}, "auth_token": {"Bearer hunter2"}}, map[string]string{"auth_token": "a space"},
		},
		"header and auth": {
			false,
			url.Values{"auth": {"bearer"}, "auth_token": {"hunter2"}, "header_name": {"authorization", "", ""}, "header_value": {"x", "", ""}},
			map[string]string{"auth": "keep one of the two", "auth_token": "never repeats"},
		},
		"a secret of the other kind": {
			false, url.Values{"signature": {"v1a"}, "secret": {"whsec_" + strings.Repeat("QUJD", 8)}}, map[string]string{"secret": "whsk_"},
		},
		"half of what is kept":       {true, url.Values{"auth_username": {"other"}}, map[string]string{"auth_password": "Enter both"}},
		"the other half of it":       {true, url.Values{"auth_password": {"hunter2"}}, map[string]string{"auth_username": "Enter both", "auth_password": "never repeats"}},
		"another kind without words": {true, url.Values{"auth": {"bearer"}}, map[string]string{"auth_token": "missing"}},
		"a header beside what is kept": {
			true, url.Values{"header_name": {"Authorization", "", ""}, "header_value": {"x", "", ""}}, map[string]string{"header-1": "beside auth"},
		},
	} {
		at := w.home + "/endpoints/new"
		if c.edit {
			at = stored + "/edit"
		} else {
			c.values.Set("url", somewhere)
		}
		p := w.submit(w.get(at), "form#endpoint", c.values)
		p.wantStatus(http.StatusUnprocessableEntity)
		for field, says := range c.says {
			if got := p.Find("#" + field + "-error").Text(); !strings.Contains(got, says) {
				t.Errorf("%s: beside %s stands %q, want %q", name, field, strings.TrimSpace(got), says)
			}
		}
		if wrong := p.Find("form#endpoint .err").Length(); wrong != len(c.says) {
			t.Errorf("%s: %d things are wrong, want %d", name, wrong, len(c.says))
		}
		if strings.Contains(p.text, "hunter2") {
			t.Errorf("%s: the page repeats what is secret", name)
		}
	}
}

// A form offers every other endpoint of the account to fail over to.
func TestEndpointFormOffersTheOthers(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	w.addEndpoint(url.Values{"url": {"https://b.example.com/x"}, "description": {"Twin"}})
	p := w.addEndpoint(url.Values{"url": {"https://a.example.com/x"}, "description": {"Twin"}})
	offered := w.get(w.home + "/endpoints/new").Find("#failover option").Text()
	for _, want := range []string{"Nobody", "Twin · a.example.com/x", "Twin · b.example.com/x"} {
		if !strings.Contains(offered, want) {
			t.Errorf("%q is not offered: %q", want, offered)
		}
	}
	if own := w.get(pathOf(p) + "/edit").Find("#failover option").Text(); strings.Contains(own, "a.example.com") {
		t.Errorf("it is offered to itself: %q", own)
	}
}
