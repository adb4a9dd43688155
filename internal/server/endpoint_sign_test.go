package server_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

// arrived is a request as a receiver got it.
type arrived struct {
	header http.Header
	body   string
}

// keeping is a receiver that keeps what it gets.
func keeping(t *testing.T) (url string, got <-chan arrived) {
	t.Helper()
	requests := make(chan arrived, 10)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- arrived{r.Header, string(body)}
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// signedWith tells that a signature of a request is by the key of this public
// one.
func (a arrived) signedWith(t *testing.T, public string) bool {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(public, "whpk_"))
	if err != nil || len(key) != ed25519.PublicKeySize {
		t.Fatalf("%q is no public key", public)
	}
	message := a.header.Get("Webhook-Id") + "." + a.header.Get("Webhook-Timestamp") + "." + a.body
	for one := range strings.FieldsSeq(a.header.Get("Webhook-Signature")) {
		sig, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(one, "v1a,"))
		if err == nil && ed25519.Verify(key, []byte(message), sig) {
			return true
		}
	}
	return false
}

// publicKeys are those that an answer shows.
func publicKeys(o object) []string {
	var keys []string
	list, _ := o["public_keys"].([]any)
	for _, key := range list {
		keys = append(keys, key.(string))
	}
	return keys
}

// An endpoint with a key pair shows the public key to everybody, the private
// one to nobody, and what it gets is signed with it.
func TestEndpointWithKeyPair(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	url, got := keeping(t)
	made := n.must(201, http.MethodPost, "/endpoints", object{"url": url, "uid": "e", "signature": "v1a"})
	keys := publicKeys(made)
	if len(keys) != 1 || made["secret"] != nil || made["signature"] != "v1a" {
		t.Fatalf("%v", made)
	}
	reader := n.keyWith(gateway.ScopeRead)
	for name, shown := range map[string]object{
		"endpoint": reader.must(200, http.MethodGet, "/endpoints/e", nil), "list": entries(reader.must(200, http.MethodGet, "/endpoints", nil))[0],
	} {
		if diff := cmp.Diff(keys, publicKeys(shown)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	rotated := n.must(200, http.MethodPost, "/endpoints/e/secrets/rotate", `{}`)
	if rotated["secret"] != nil || text(rotated, "public_key") == keys[0] {
		t.Errorf("rotated: %v", rotated)
	}
	keys = append([]string{text(rotated, "public_key")}, keys...)
	for i, s := range entries(n.must(200, http.MethodGet, "/endpoints/e/secrets", nil)) {
		if s["secret"] != nil || s["public_key"] != keys[i] {
			t.Errorf("secret %d: %v", i, s)
		}
	}
	n.must(200, http.MethodPost, "/endpoints/e/test", nil)
	if a := <-got; !a.signedWith(t, keys[0]) || !a.signedWith(t, keys[1]) {
		t.Errorf("signed %q", a.header.Get("Webhook-Signature"))
	}
	changed := n.must(200, http.MethodPatch, "/endpoints/e", `{"signature":"v1"}`)
	if diff := cmp.Diff(keys, publicKeys(changed)); diff != "" || changed["signature"] != "v1" {
		t.Errorf("changed to a shared secret: %s %v", diff, changed)
	}
	if newest := entries(n.must(200, http.MethodGet, "/endpoints/e/secrets", nil))[0]; !strings.HasPrefix(text(newest, "secret"), "whsec_") || newest["public_key"] != nil {
		t.Errorf("the newest is %v", newest)
	}
	n.must(200, http.MethodPost, "/endpoints/e/test", nil)
	if a := <-got; !a.signedWith(t, keys[0]) || !strings.HasPrefix(a.header.Get("Webhook-Signature"), "v1,") {
		t.Errorf("signed %q", a.header.Get("Webhook-Signature"))
	}
}

func TestEndpointWithOwnKeyPair(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	const own = "whsk_VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk="
	url, got := keeping(t)
	made := n.must(201, http.MethodPost, "/endpoints", object{"url": url, "uid": "e", "signature": "v1a", "secret": own})
	n.must(200, http.MethodPost, "/endpoints/e/test", nil)
	if a := <-got; !a.signedWith(t, publicKeys(made)[0]) {
		t.Error("what was sent is not signed with the key that was given")
	}
	for _, c := range []struct{ path, body string }{
		{"/endpoints", `{"url":"` + url + `","secret":"` + own + `"}`},
		{"/endpoints", `{"url":"` + url + `","signature":"v1a","secret":"whsec_QUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJD"}`},
		{"/endpoints/e/secrets/rotate", `{"secret":"whsec_QUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJD"}`},
	} {
		p := n.refused(422, "invalid", http.MethodPost, c.path, c.body)
		if detail := text(p, "detail"); !strings.HasPrefix(detail, "body.secret:") || strings.Contains(detail, "QUJD") {
			t.Errorf("%s: %v", c.body, p)
		}
	}
	p := n.refused(422, "invalid", http.MethodPatch, "/endpoints/e", `{"signature":"v2"}`)
	if detail := text(p, "detail"); !strings.HasPrefix(detail, "body.signature:") {
		t.Errorf("%v", p)
	}
}

// What is sent in the Authorization header arrives, and is shown to nobody.
func TestEndpointAuth(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	url, got := keeping(t)
	made := n.must(201, http.MethodPost, "/endpoints", object{
		"url": url, "uid": "e", "auth": object{"type": "basic", "username": "Aladdin", "password": "hunter2"},
	})
	if diff := cmp.Diff(object{"type": "basic"}, made["auth"]); diff != "" {
		t.Error(diff)
	}
	send := func(want string) {
		t.Helper()
		attempt := n.call(http.MethodPost, "/endpoints/e/test", nil)
		if a := <-got; a.header.Get("Authorization") != want {
			t.Errorf("sent %q, want %q", a.header.Get("Authorization"), want)
		}
		if strings.Contains(string(attempt.text), "QWxhZGRpbjpodW50ZXIy") || strings.Contains(string(attempt.text), "hunter2") {
			t.Errorf("the attempt shows it: %s", attempt.text)
		}
	}
	send("Basic QWxhZGRpbjpodW50ZXIy")
	if changed := n.must(200, http.MethodPatch, "/endpoints/e", `{"description":"x"}`); !cmp.Equal(changed["auth"], any(object{"type": "basic"})) {
		t.Errorf("another change: %v", changed["auth"])
	}
	changed := n.must(200, http.MethodPatch, "/endpoints/e", `{"auth":{"type":"bearer","token":"hunter2"}}`)
	if !cmp.Equal(changed["auth"], any(object{"type": "bearer"})) {
		t.Errorf("changed: %v", changed["auth"])
	}
	send("Bearer hunter2")
	if changed := n.must(200, http.MethodPatch, "/endpoints/e", `{"auth":null}`); changed["auth"] != nil {
		t.Errorf("taken away: %v", changed["auth"])
	}
	send("")
}

func TestEndpointAuthRefuses(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	for body, at := range map[string]string{
		`"auth":{}`:                                "body.auth.type",
		`"auth":{"type":""}`:                       "body.auth.type",
		`"auth":{"type":"digest"}`:                 "body.auth.type",
		`"auth":{"type":null,"token":"hunter2"}`:   "body.auth.type",
		`"auth":{"type":"basic"}`:                  "body.auth.username",
		`"auth":{"type":"basic","token":"t"}`:      "body.auth.token",
		`"auth":{"type":"bearer","password":"p"}`:  "body.auth.password",
		`"auth":{"type":"bearer","token":""}`:      "body.auth.token",
		`"auth":{"type":"bearer","token":7}`:       "body.auth.token",
		`"auth":{"type":"bearer","secret":"t"}`:    "body.auth.secret",
		`"auth":{"type":"bearer","token":"a\nb"}`:  "body.auth.token",
		`"auth":{"type":"basic","username":"a:b"}`: "body.auth.username",
		`"auth":{"type":"basic","username":"hunter2","password":"\r\nX-Evil: hunter2"}`: "body.auth.password",
		`"auth":"hunter2"`: "body.auth",
		`"auth":{"type":"bearer","token":"` + strings.Repeat("hunter2", 600) + `"}`:        "body.auth.token",
		`"auth":{"type":"bearer","token":"hunter2"},"headers":{"authorization":"hunter2"}`: "body.auth",
	} {
		p := n.refused(422, "invalid", http.MethodPost, "/endpoints", `{"url":"`+somewhere+`",`+body+`}`)
		faults, _ := p["errors"].([]any)
		if len(faults) == 0 || faults[0].(object)["location"] != at {
			t.Errorf("%.90s: %v, want a fault at %s", body, p, at)
		}
		if strings.Contains(text(p, "detail"), "hunter2") {
			t.Errorf("%.90s: repeats what was sent: %v", body, p)
		}
	}
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "e", "auth": object{"type": "bearer", "token": "t"}})
	p := n.refused(422, "invalid", http.MethodPatch, "/endpoints/e", `{"headers":{"AUTHORIZATION":"x"}}`)
	if !strings.HasPrefix(text(p, "detail"), "body.headers.AUTHORIZATION:") {
		t.Errorf("%v", p)
	}
}
