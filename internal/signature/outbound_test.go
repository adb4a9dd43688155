package signature

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// TestSignVectors signs what Standard Webhooks and its libraries publish.
func TestSignVectors(t *testing.T) {
	t.Parallel()
	const id, unix = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330
	body := []byte(`{"test": 2432232314}`)
	const (
		hmac    = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
		ed25519 = "v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag=="
	)
	shared := wantKey(t, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	private := wantKey(t, "whsk_VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=")
	for want, keys := range map[string][]SigningKey{
		"":                                {},
		hmac:                              {shared},
		ed25519:                           {private},
		hmac + " " + hmac:                 {shared, shared},
		ed25519 + " " + hmac + " " + hmac: {private, shared, shared},
	} {
		if got := Sign(keys, id, unix, body); got != want {
			t.Errorf("signed %s, want %s", got, want)
		}
	}
}

// TestSignedIsVerified: what we send, any verifier of Standard Webhooks takes,
// ours included, with each of the secrets that are live, whichever kind each
// of them is.
func TestSignedIsVerified(t *testing.T) {
	t.Parallel()
	var keys []SigningKey
	var verifies []string
	for _, version := range []gateway.SignatureVersion{gateway.SignatureEd25519, gateway.SignatureHMAC, gateway.SignatureHMAC, gateway.SignatureEd25519} {
		key := NewSigningKey(version)
		keys = append(keys, key)
		verifies = append(verifies, cmp.Or(key.Public(), key.Secret()))
	}
	for _, body := range []string{"", `{"type":"order.created"}`, "a\nb\n", "\xff\x00", strings.Repeat("x", 1<<20)} {
		r := outboundRequest(body)
		r.Header.Set(headersWebhook.signature, Sign(keys, "evt_1", testNow.Unix(), r.Body))
		wantVerified(t, r, verifies)
	}
}

// A public key proves nothing by the signatures of the other kind.
func TestSignedIsVerifiedByItsOwnKind(t *testing.T) {
	t.Parallel()
	shared, private := NewSigningKey(gateway.SignatureHMAC), NewSigningKey(gateway.SignatureEd25519)
	for signs, verifies := range map[string]string{
		shared.Secret():  private.Public(),
		private.Secret(): shared.Secret(),
	} {
		r := outboundRequest("{}")
		r.Header.Set(headersWebhook.signature, Sign([]SigningKey{wantKey(t, signs)}, "evt_1", testNow.Unix(), r.Body))
		_, err := standardWebhooks.Verify(r, Settings{}, liveSecrets(verifies))
		_ = wantRefusal(t, err, CodeMismatch, verifies)
	}
}

// wantKey reads a key that is one.
func wantKey(t *testing.T, text string) SigningKey {
	t.Helper()
	key, err := ParseSigningKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func outboundRequest(body string) Request {
	return Request{
		Header: http.Header{headersWebhook.id: {"evt_1"}, headersWebhook.timestamp: {strconv.FormatInt(testNow.Unix(), 10)}},
		Body:   []byte(body),
		Now:    testNow,
	}
}

// wantVerified fails unless each secret alone verifies the request, and none
// does after a change.
func wantVerified(t *testing.T, r Request, secrets []string) {
	t.Helper()
	for _, secret := range secrets {
		verified, err := standardWebhooks.Verify(r, Settings{}, liveSecrets(secret))
		if err != nil || verified.Events[0].Key != "evt_1" {
			t.Errorf("verified %+v, error %v", verified, err)
		}
	}
	altered := r
	altered.Body = append(bytes.Clone(r.Body), ' ')
	_, err := standardWebhooks.Verify(altered, Settings{}, liveSecrets(secrets...))
	_ = wantRefusal(t, err, CodeMismatch, secrets...)
}

func TestNewSigningKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		shared, private := NewSigningKey(gateway.SignatureHMAC), NewSigningKey(gateway.SignatureEd25519)
		if seen[shared.Secret()] || seen[private.Secret()] || seen[private.Public()] {
			t.Fatal("the same key twice")
		}
		seen[shared.Secret()], seen[private.Secret()], seen[private.Public()] = true, true, true
		if len(shared.symmetric) != newKeySize || shared.Public() != "" || shared.Version() != gateway.SignatureHMAC ||
			!strings.HasPrefix(shared.Secret(), prefixSymmetric) {
			t.Errorf("a shared key of %d bytes is %s", len(shared.symmetric), shared.Version())
		}
		if private.Version() != gateway.SignatureEd25519 || !strings.HasPrefix(private.Secret(), prefixPrivate) || !strings.HasPrefix(private.Public(), prefixPublic) {
			t.Errorf("a private key is %s", private.Version())
		}
		for _, key := range []SigningKey{shared, private} {
			if again := wantKey(t, key.Secret()); again.Secret() != key.Secret() {
				t.Error("a key that was written and read is another one")
			}
		}
	}
	if !strings.HasPrefix(NewSecret(), prefixSymmetric) {
		t.Error("a secret that two sides share has another form")
	}
}

func TestParseSigningKey(t *testing.T) {
	t.Parallel()
	shared := func(size int) string { return prefixSymmetric + b64(make([]byte, size)) }
	private := prefixPrivate + b64(ed25519A)
	mixed := append(bytes.Clone(ed25519A[:32]), ed25519B[32:]...)
	cases := map[string]struct {
		text string
		want string
		err  error
	}{
		"shared":           {keyA, keyA, nil},
		"white space":      {"\t" + keyA + " \r\n", keyA, nil},
		"no padding":       {strings.TrimRight(shared(32), "="), shared(32), nil},
		"longest":          {shared(64), shared(64), nil},
		"too short":        {shared(23), "", errKeySize},
		"too long":         {shared(65), "", errKeySize},
		"empty":            {"", "", errSecretEmpty},
		"white space only": {"\n", "", errSecretEmpty},
		"no prefix":        {strings.TrimPrefix(keyA, prefixSymmetric), "", errKeyPrefix},
		"public":           {publicOf(ed25519A), "", errKeyPrefix},
		"not base64":       {"whsec_über", "", errKeyBase64},
		"space inside":     {keyA[:12] + " " + keyA[12:], "", errKeyBase64},

		"private":                     {private, private, nil},
		"private, white space":        {" " + private + "\n", private, nil},
		"private, no padding":         {strings.TrimRight(private, "="), private, nil},
		"private, its seed alone":     {prefixPrivate + b64(ed25519A[:32]), private, nil},
		"private, too short":          {prefixPrivate + b64(ed25519A[:31]), "", errPrivateSize},
		"private, of a mixed pair":    {prefixPrivate + b64(mixed), "", errPrivatePair},
		"private, not base64":         {"whsk_***", "", errKeyBase64},
		"private, with nothing in it": {"whsk_", "", errPrivateSize},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseSigningKey(c.text)
			if !errors.Is(err, c.err) || err == nil && got.Secret() != c.want {
				t.Fatalf("got %v; want %v", err, c.err)
			}
			wantNoEcho(t, err, c.text)
		})
	}
}

// wantNoEcho fails when an error repeats what was typed after the prefix.
func wantNoEcho(t *testing.T, err error, typed string) {
	t.Helper()
	_, rest, _ := strings.Cut(strings.TrimSpace(typed), "_")
	if err != nil && len(rest) > 4 && strings.Contains(err.Error(), rest) {
		t.Errorf("the error repeats the secret: %v", err)
	}
}

// TestSignDoesNotCopyTheBody: what is hashed is the caller's own bytes.
func TestSignDoesNotCopyTheBody(t *testing.T) {
	t.Parallel()
	body := []byte("{}")
	parts := signedParts("evt_1", "1760000000", body)
	if got := string(bytes.Join(parts, nil)); got != "evt_1.1760000000.{}" {
		t.Errorf("signed text is %q", got)
	}
	if last := parts[len(parts)-1]; &last[0] != &body[0] {
		t.Error("the body was copied")
	}
}
