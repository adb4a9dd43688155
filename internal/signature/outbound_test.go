package signature

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestSignVectors signs what Standard Webhooks and Svix publish.
func TestSignVectors(t *testing.T) {
	t.Parallel()
	const id, unix = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330
	body := []byte(`{"test": 2432232314}`)
	key, err := ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got := Sign([][]byte{key}, id, unix, body); got != want {
		t.Errorf("signed %s, want %s", got, want)
	}
	if got := Sign([][]byte{key, key}, id, unix, body); got != want+" "+want {
		t.Errorf("two keys signed %s", got)
	}
	if got := Sign(nil, id, unix, body); got != "" {
		t.Errorf("no key signed %q", got)
	}
}

// TestSignedIsVerified: what we send, any verifier of Standard Webhooks takes,
// ours included, with each of the secrets that are live.
func TestSignedIsVerified(t *testing.T) {
	t.Parallel()
	secrets := []string{NewSecret(), NewSecret()}
	var keys [][]byte
	for _, secret := range secrets {
		key, err := ParseSecret(secret)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	for _, body := range []string{"", `{"type":"order.created"}`, "a\nb\n", "\xff\x00", strings.Repeat("x", 1<<20)} {
		r := outboundRequest(body)
		r.Header.Set(webhookSignature, Sign(keys, "evt_1", testNow.Unix(), r.Body))
		wantVerified(t, r, secrets)
	}
}

func TestSignedEd25519IsVerified(t *testing.T) {
	t.Parallel()
	var keys []ed25519.PrivateKey
	var public []string
	for range 2 {
		key, err := ParsePrivateKey(NewPrivateKey())
		if err != nil {
			t.Fatal(err)
		}
		keys, public = append(keys, key), append(public, PublicKey(key))
	}
	for _, body := range []string{"", `{"type":"order.created"}`, "\xff\x00"} {
		r := outboundRequest(body)
		r.Header.Set(webhookSignature, SignEd25519(keys, "evt_1", testNow.Unix(), r.Body))
		wantVerified(t, r, public)
	}
}

func outboundRequest(body string) Request {
	return Request{
		Header: http.Header{webhookID: {"evt_1"}, webhookTimestamp: {strconv.FormatInt(testNow.Unix(), 10)}},
		Body:   []byte(body),
		Now:    testNow,
	}
}

// wantVerified fails unless each secret alone verifies the request, and none
// does after a change.
func wantVerified(t *testing.T, r Request, secrets []string) {
	t.Helper()
	for _, secret := range secrets {
		verified, err := standardWebhooks{}.Verify(r, Settings{}, liveSecrets(secret))
		if err != nil || verified.Events[0].Key != "evt_1" {
			t.Errorf("verified %+v, error %v", verified, err)
		}
	}
	altered := r
	altered.Body = append(bytes.Clone(r.Body), ' ')
	_, err := standardWebhooks{}.Verify(altered, Settings{}, liveSecrets(secrets...))
	_ = wantRefusal(t, err, CodeMismatch, secrets...)
}

func TestNewSecrets(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		secret, private := NewSecret(), NewPrivateKey()
		if seen[secret] || seen[private] {
			t.Fatal("the same key twice")
		}
		seen[secret], seen[private] = true, true
		if key, err := ParseSecret(secret); err != nil || len(key) != newKeySize {
			t.Fatalf("%d bytes, error %v", len(key), err)
		}
		if _, err := ParsePrivateKey(private); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParseSecret(t *testing.T) {
	t.Parallel()
	key := func(size int) string { return prefixSymmetric + b64(make([]byte, size)) }
	cases := map[string]struct {
		text string
		size int
		err  error
	}{
		"ours":             {NewSecret(), 32, nil},
		"white space":      {"\t" + keyA + " \r\n", 24, nil},
		"no padding":       {strings.TrimRight(key(32), "="), 32, nil},
		"longest":          {key(64), 64, nil},
		"too short":        {key(23), 0, errKeySize},
		"too long":         {key(65), 0, errKeySize},
		"empty":            {"", 0, errSecretEmpty},
		"white space only": {"\n", 0, errSecretEmpty},
		"no prefix":        {strings.TrimPrefix(keyA, prefixSymmetric), 0, errKeyPrefix},
		"public":           {PublicKey(ed25519A), 0, errKeyPrefix},
		"not base64":       {"whsec_über", 0, errKeyBase64},
		"space inside":     {keyA[:12] + " " + keyA[12:], 0, errKeyBase64},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseSecret(c.text)
			if len(got) != c.size || !errors.Is(err, c.err) {
				t.Fatalf("%d bytes, %v; want %d, %v", len(got), err, c.size, c.err)
			}
			wantNoEcho(t, err, c.text)
		})
	}
}

func TestParsePrivateKey(t *testing.T) {
	t.Parallel()
	private := prefixPrivate + b64(ed25519A)
	mixed := append(bytes.Clone(ed25519A[:32]), ed25519B[32:]...)
	cases := map[string]struct {
		text string
		err  error
	}{
		"ours":        {private, nil},
		"white space": {" " + private + "\n", nil},
		"no padding":  {strings.TrimRight(private, "="), nil},
		"seed alone":  {prefixPrivate + b64(ed25519A[:32]), errPrivateSize},
		"mixed pair":  {prefixPrivate + b64(mixed), errPrivatePair},
		"public":      {PublicKey(ed25519A), errPrivatePrefix},
		"HMAC":        {keyA, errPrivatePrefix},
		"empty":       {"", errPrivatePrefix},
		"not base64":  {"whsk_***", errKeyBase64},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParsePrivateKey(c.text)
			if !errors.Is(err, c.err) || (err == nil) != bytes.Equal(got, ed25519A) {
				t.Fatalf("got %d bytes, %v; want %v", len(got), err, c.err)
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
