package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
)

// newKeySize is the length of the HMAC keys we make, in bytes: that of the
// hash, beyond which a key gains nothing.
const newKeySize = 32

// Errors about a private key in text form. None of them repeats it.
var (
	errPrivateSize = fmt.Errorf("the private key is not %d or %d bytes long once decoded", ed25519.SeedSize, ed25519.PrivateKeySize)
	errPrivatePair = errors.New("the two halves of the private key do not belong together")
)

// SigningKey is one secret of an endpoint, ready to sign: an HMAC key, which
// the receiver has too, or an Ed25519 key, whose public half is all that the
// receiver needs. The zero value signs nothing.
type SigningKey struct {
	symmetric []byte
	private   ed25519.PrivateKey
}

// NewSigningKey makes a random key for the version, which is SignatureHMAC or
// SignatureEd25519.
func NewSigningKey(version gateway.SignatureVersion) SigningKey {
	if version == gateway.SignatureEd25519 {
		seed := make([]byte, ed25519.SeedSize)
		_, _ = rand.Read(seed) // never returns an error
		return SigningKey{private: ed25519.NewKeyFromSeed(seed)}
	}
	key := make([]byte, newKeySize)
	_, _ = rand.Read(key) // never returns an error
	return SigningKey{symmetric: key}
}

// NewSecret makes a secret that two sides share: "whsec_" and 32 random bytes
// in base64.
func NewSecret() string { return NewSigningKey(gateway.SignatureHMAC).Secret() }

// ParseSigningKey reads the text of an endpoint's secret, white space around it
// ignored: "whsec_" and the base64 of 24 to 64 bytes, or "whsk_" and that of
// an Ed25519 seed, with or without the public key behind it. The error is a
// sentence for the person who typed it and does not repeat the secret.
func ParseSigningKey(pasted string) (key SigningKey, err error) {
	text := trimPasted(pasted)
	if text == "" {
		return key, errSecretEmpty
	}
	if encoded, ok := strings.CutPrefix(text, prefixPrivate); ok {
		key.private, err = decodePrivate(encoded)
		return key, err
	}
	encoded, ok := strings.CutPrefix(text, prefixSymmetric)
	if !ok {
		return key, errKeyPrefix
	}
	key.symmetric, err = decodeSymmetric(encoded)
	return key, err
}

// decodePrivate takes both forms that are in use: seed and public key, and the
// seed alone.
func decodePrivate(encoded string) (ed25519.PrivateKey, error) {
	raw, err := decodeKey(encoded)
	if err != nil {
		return nil, err
	}
	if len(raw) != ed25519.SeedSize && len(raw) != ed25519.PrivateKeySize {
		return nil, errPrivateSize
	}
	// A foreign public half would put the private key into the signatures.
	key := ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize])
	if len(raw) == ed25519.PrivateKeySize && !bytes.Equal(key, raw) {
		return nil, errPrivatePair
	}
	return key, nil
}

// Secret is the key in its one canonical text form, which signs: "whsec_" and
// the base64 of the key, or "whsk_" and that of seed and public key.
func (k SigningKey) Secret() string {
	if k.private != nil {
		return prefixPrivate + base64.StdEncoding.EncodeToString(k.private)
	}
	return webhookKey{symmetric: k.symmetric}.String()
}

// Public is what a receiver of Ed25519 signatures needs: "whpk_" and the
// base64 of the public key. It is no secret; an HMAC key has none.
func (k SigningKey) Public() string {
	if k.private == nil {
		return ""
	}
	return webhookKey{public: ed25519.PublicKey(k.private[ed25519.SeedSize:])}.String()
}

// Version is how the key signs.
func (k SigningKey) Version() gateway.SignatureVersion {
	if k.private != nil {
		return gateway.SignatureEd25519
	}
	return gateway.SignatureHMAC
}
