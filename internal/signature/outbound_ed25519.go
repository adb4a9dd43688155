package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Errors about a private key in text form. None of them repeats it.
var (
	errPrivatePrefix = errors.New("the private key does not begin with " + prefixPrivate)
	errPrivateSize   = fmt.Errorf("the private key is not %d bytes long once decoded", ed25519.PrivateKeySize)
	errPrivatePair   = errors.New("the two halves of the private key do not belong together")
)

// NewPrivateKey makes an Ed25519 key for an endpoint: "whsk_" and the base64
// of seed and public key.
func NewPrivateKey() string {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // never returns an error
	return prefixPrivate + base64.StdEncoding.EncodeToString(ed25519.NewKeyFromSeed(seed))
}

// ParsePrivateKey reads what NewPrivateKey makes, white space around it
// ignored. The error is a sentence for people and does not repeat the key.
func ParsePrivateKey(text string) (ed25519.PrivateKey, error) {
	encoded, ok := strings.CutPrefix(trimPasted(text), prefixPrivate)
	if !ok {
		return nil, errPrivatePrefix
	}
	raw, err := decodeKey(encoded)
	if err != nil {
		return nil, err
	}
	if len(raw) != ed25519.PrivateKeySize {
		return nil, errPrivateSize
	}
	// A foreign public half would put the private key into the signatures.
	key := ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize])
	if !bytes.Equal(key, raw) {
		return nil, errPrivatePair
	}
	return key, nil
}

// PublicKey returns the "whpk_" form of a private key's public half, which is
// what a receiver needs.
func PublicKey(key ed25519.PrivateKey) string {
	return webhookKey{public: ed25519.PublicKey(key[ed25519.SeedSize:])}.String()
}

// SignEd25519 is Sign for endpoints that chose Ed25519: one "v1a,BASE64" for
// each key. The body is copied once, since Ed25519 reads its message twice.
func SignEd25519(keys []ed25519.PrivateKey, id string, unix int64, body []byte) string {
	message := bytes.Join(signedParts(id, strconv.FormatInt(unix, 10), body), nil)
	var out []byte
	for _, key := range keys {
		out = appendSignature(out, versionEd25519, ed25519.Sign(key, message))
	}
	return string(out)
}
