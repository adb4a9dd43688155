package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Signing with nothing of the package's own: what it verifies is not only what
// it signs itself.

var (
	ed25519A = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	ed25519B = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, ed25519.SeedSize))
)

func signGitHub(r *Request, secret string) {
	r.Header.Set("X-GitHub-Delivery", "guid-1")
	r.Header.Set("X-GitHub-Event", "push")
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(plainMAC(sha256.New, secret, string(r.Body))))
}

func signV1(r *Request, secret string) {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	text := setWebhookHeaders(r) + string(r.Body)
	r.Header.Set("webhook-signature", "v1,"+b64(plainMAC(sha256.New, string(key), text)))
}

func signV1a(r *Request, private string) {
	text := setWebhookHeaders(r) + string(r.Body)
	r.Header.Set("webhook-signature", "v1a,"+b64(ed25519.Sign(ed25519.PrivateKey(private), []byte(text))))
}

// setWebhookHeaders sets id and time and returns what of them is signed.
func setWebhookHeaders(r *Request) string {
	r.Header.Set("webhook-id", "msg_1")
	r.Header.Set("webhook-timestamp", unixText(r.Now))
	return "msg_1." + unixText(r.Now) + "."
}

func plainMAC(newHash func() hash.Hash, key, text string) []byte {
	mac := hmac.New(newHash, []byte(key))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func unixText(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// publicOf is the text of a private key's public half.
func publicOf(private ed25519.PrivateKey) string { return SigningKey{private: private}.Public() }

// senderOf finds a sender by its name.
func senderOf(t testing.TB, name string) sender {
	t.Helper()
	for _, s := range senders(t) {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("no sender %s", name)
	return sender{}
}
