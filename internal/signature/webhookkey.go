package signature

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// The prefixes of keys in Standard Webhooks.
const (
	prefixSymmetric = "whsec_" // HMAC key
	prefixPrivate   = "whsk_"  // Ed25519 private key, of the signer alone
	prefixPublic    = "whpk_"  // Ed25519 public key
)

// The length of an HMAC key in bytes, as Standard Webhooks sets it.
const (
	minKeySize = 24
	maxKeySize = 64
)

// Errors about a key in text form. None of them repeats it.
var (
	errKeyPrefix     = errors.New("the secret does not begin with " + prefixSymmetric + " (or " + prefixPrivate + ", to sign with Ed25519)")
	errKeyBase64     = errors.New("the secret is not base64 after its prefix")
	errKeySize       = fmt.Errorf("the secret is not %d to %d bytes long once decoded", minKeySize, maxKeySize)
	errPublicSize    = fmt.Errorf("the public key is not %d bytes long once decoded", ed25519.PublicKeySize)
	errPrivatePasted = errors.New("this is a private key, which only its sender may have; the public key begins with " + prefixPublic)
)

// webhookKey is a key of Standard Webhooks: one of the two is set.
type webhookKey struct {
	symmetric []byte
	public    ed25519.PublicKey
}

// parseWebhookKey reads a key with which to verify. Senders show HMAC keys
// with and without the prefix, and some with the version before it.
func parseWebhookKey(pasted string) (webhookKey, error) {
	text := trimPasted(pasted)
	text = strings.TrimPrefix(text, "v1,")
	text = strings.TrimPrefix(text, "v1a,")
	if text == "" {
		return webhookKey{}, errSecretEmpty
	}
	if strings.HasPrefix(text, prefixPrivate) {
		return webhookKey{}, errPrivatePasted
	}
	if encoded, ok := strings.CutPrefix(text, prefixPublic); ok {
		public, err := decodePublic(encoded)
		return webhookKey{public: public}, err
	}
	symmetric, err := decodeSymmetric(strings.TrimPrefix(text, prefixSymmetric))
	return webhookKey{symmetric: symmetric}, err
}

// String writes the key in its one canonical form.
func (k webhookKey) String() string {
	if k.public != nil {
		return prefixPublic + base64.StdEncoding.EncodeToString(k.public)
	}
	return prefixSymmetric + base64.StdEncoding.EncodeToString(k.symmetric)
}

func decodeSymmetric(encoded string) ([]byte, error) {
	key, err := decodeKey(encoded)
	if err != nil {
		return nil, err
	}
	if len(key) < minKeySize || len(key) > maxKeySize {
		return nil, errKeySize
	}
	return key, nil
}

func decodePublic(encoded string) (ed25519.PublicKey, error) {
	key, err := decodeKey(encoded)
	if err != nil {
		return nil, err
	}
	if len(key) != ed25519.PublicKeySize {
		return nil, errPublicSize
	}
	return key, nil
}

// decodeKey reads base64 with or without padding.
func decodeKey(encoded string) ([]byte, error) {
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil {
		return nil, errKeyBase64 // the decoder's error would quote the secret
	}
	return key, nil
}
