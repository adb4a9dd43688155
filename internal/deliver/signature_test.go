package deliver_test

import (
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// verifyPublic checks an Ed25519 signature with nothing but the standard
// library, as a receiver would that has one of the public keys.
func verifyPublic(t *testing.T, r request, public string) bool {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(public, "whpk_"))
	if err != nil || len(key) != ed25519.PublicKeySize {
		t.Fatalf("%q is no public key: %v", public, err)
	}
	message := []byte(r.header.Get("Webhook-Id") + "." + r.header.Get("Webhook-Timestamp") + "." + string(r.body))
	return slices.ContainsFunc(strings.Fields(r.header.Get("Webhook-Signature")), func(one string) bool {
		version, text, _ := strings.Cut(one, ",")
		sig, err := base64.StdEncoding.DecodeString(text)
		return version == "v1a" && err == nil && ed25519.Verify(key, message, sig)
	})
}

// versions are the kinds of the signatures that came, in order.
func versions(r request) string {
	var kinds []string
	for one := range strings.FieldsSeq(r.header.Get("Webhook-Signature")) {
		kind, _, _ := strings.Cut(one, ",")
		kinds = append(kinds, kind)
	}
	return strings.Join(kinds, " ")
}

// Each live secret signs by its own kind, whatever the endpoint's is now.
func TestEachSecretSignsByItsOwnKind(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.Signature = gateway.SignatureEd25519 })
	public := func(n int) string {
		live, err := b.store.EndpointSecrets(t.Context(), e.AccountID, e.ID)
		if err != nil || len(live) <= n {
			t.Fatalf("%d secrets, %v", len(live), err)
		}
		return live[n].Public
	}
	b.untilStatus(t, b.publish(t, e, 1)[0], gateway.DeliveryDelivered)
	if got := r.requests()[0]; versions(got) != "v1a" || !verifyPublic(t, got, public(0)) {
		t.Errorf("signed %q", got.header.Get("Webhook-Signature"))
	}
	e.Signature = gateway.SignatureHMAC
	shared := b.addSecret(t, e)
	b.untilStatus(t, b.publish(t, e, 1)[0], gateway.DeliveryDelivered)
	if got := r.requests()[1]; versions(got) != "v1 v1a" || !verify(t, got, shared) || !verifyPublic(t, got, public(1)) {
		t.Errorf("while both are live, signed %q", got.header.Get("Webhook-Signature"))
	}
	a, err := b.Test(t.Context(), b.account, actor, e.ID, "")
	if got := r.requests()[2]; err != nil || a.Outcome != gateway.OutcomeSucceeded || versions(got) != "v1 v1a" || !verifyPublic(t, got, public(1)) {
		t.Errorf("a test is signed %q, %v", got.header.Get("Webhook-Signature"), err)
	}
}

// What we send, our own sources take.
func TestOurOwnSourcesTakeIt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	scheme, _ := signature.Lookup("standard_webhooks")
	for n, version := range []gateway.SignatureVersion{gateway.SignatureHMAC, gateway.SignatureEd25519} {
		e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.Signature = version })
		b.untilStatus(t, b.publish(t, e, 1)[0], gateway.DeliveryDelivered)
		live, err := b.store.EndpointSecrets(t.Context(), e.AccountID, e.ID)
		if err != nil {
			t.Fatal(err)
		}
		verifies, err := scheme.CheckSecret(cmp.Or(live[0].Public, live[0].Value))
		if err != nil {
			t.Fatal(err)
		}
		got := r.requests()[n]
		verified, err := scheme.Verify(signature.Request{Header: got.header, Body: got.body, Now: b.clock.Now()}, signature.Settings{},
			[]signature.Secret{{ID: live[0].ID, Value: []byte(verifies)}})
		if err != nil || verified.Events[0].Key != got.header.Get("Webhook-Id") {
			t.Errorf("%s: %+v, %v", version, verified, err)
		}
	}
}

func (b *bundle) setAuth(t *testing.T, e gateway.Endpoint, auth gateway.Auth, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.SetEndpointAuth(t.Context(), e.AccountID, e.ID, auth)
		return err
	})
}

// What the endpoint asks for at its door is sent with every request, and kept
// nowhere.
func TestAuthorizationIsSentAndNotKept(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL)
	basic, err := gateway.NewBasicAuth("user", "hunter2")
	b.setAuth(t, e, basic, err)
	id := b.publish(t, e, 1)[0]
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	bearer, err := gateway.NewBearerAuth("hunter3")
	b.setAuth(t, e, bearer, err)
	tested, err := b.Test(t.Context(), b.account, actor, e.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{basic.Header, bearer.Header} {
		if got := r.requests()[n].header.Get("Authorization"); got != want {
			t.Errorf("request %d came with %d bytes, want %d", n, len(got), len(want))
		}
	}
	for _, a := range []gateway.Attempt{b.attempts(t, id)[0], tested} {
		if shown := string(a.RequestHeaders); !strings.Contains(shown, "Authorization: "+gateway.Redacted) || strings.Contains(shown, "Basic") || strings.Contains(shown, "Bearer") {
			t.Errorf("shown headers:\n%s", shown)
		}
	}
	for _, word := range []string{"hunter3", basic.Header, bearer.Header} {
		if n := b.count(t, `SELECT count(*) FROM attempts a WHERE position($1 IN a::text) > 0 OR position(encode($1::text::bytea, 'hex') IN a::text) > 0`, word); n != 0 {
			t.Error("an attempt keeps what was sent in Authorization")
		}
	}
}

// What cannot be opened is told by the attempt, and nothing is sent.
func TestUnsealableIsToldByTheAttempt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	for _, c := range []struct{ spoil, says string }{
		{`UPDATE endpoints SET auth_sealed = 'x' WHERE id = $1`, "Authorization header cannot be opened: set it again"},
		{`UPDATE endpoint_secrets SET sealed = 'x' WHERE endpoint_id = $1`, "signing secret cannot be opened: rotate it"},
	} {
		e := b.endpoint(t, r.URL)
		bearer, err := gateway.NewBearerAuth("hunter2")
		b.setAuth(t, e, bearer, err)
		b.exec(t, c.spoil, e.ID)
		a, err := b.Test(t.Context(), b.account, actor, e.ID, "")
		if err != nil || a.Outcome != gateway.OutcomeUnreachable || a.ErrorKind != gateway.ErrorBlocked || !strings.Contains(a.Detail, c.says) {
			t.Errorf("a test says %q, %v", a.Detail, err)
		}
		id := b.publish(t, e, 1)[0]
		b.untilAttempts(t, id, 1)
		if a := b.attempts(t, id)[0]; a.ErrorKind != gateway.ErrorBlocked || !strings.Contains(a.Detail, c.says) {
			t.Errorf("an attempt says %q", a.Detail)
		}
	}
	if n := len(r.requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
