package signature

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
)

// newKeySize is the length of the HMAC keys we make, in bytes: that of the
// hash, beyond which a key gains nothing.
const newKeySize = 32

// NewSecret makes a secret for an endpoint: "whsec_" and 32 random bytes in
// base64.
func NewSecret() string {
	key := make([]byte, newKeySize)
	_, _ = rand.Read(key) // never returns an error
	return webhookKey{symmetric: key}.String()
}

// ParseSecret returns the HMAC key of an endpoint's secret: "whsec_" and the
// base64 of 24 to 64 bytes, white space around it ignored. The error is a
// sentence for the person who typed it and does not repeat the secret.
func ParseSecret(text string) ([]byte, error) {
	text = trimPasted(text)
	if text == "" {
		return nil, errSecretEmpty
	}
	encoded, ok := strings.CutPrefix(text, prefixSymmetric)
	if !ok {
		return nil, errKeyPrefix
	}
	return decodeSymmetric(encoded)
}

// Sign returns the value of webhook-signature for a request: one "v1,BASE64"
// for each key, parted by spaces. unix is the value of webhook-timestamp, in
// seconds. The body is read, not copied. The id must not hold a full stop.
func Sign(keys [][]byte, id string, unix int64, body []byte) string {
	parts := signedParts(id, strconv.FormatInt(unix, 10), body)
	var out []byte
	for _, key := range keys {
		out = appendSignature(out, versionHMAC, computeHMAC(sha256.New, key, parts))
	}
	return string(out)
}

// signedParts is what a signature of Standard Webhooks covers, in order.
func signedParts(id, timestamp string, body []byte) [][]byte {
	return [][]byte{[]byte(id + "." + timestamp + "."), body}
}

func appendSignature(out []byte, label string, sig []byte) []byte {
	if len(out) > 0 {
		out = append(out, ' ')
	}
	out = append(append(out, label...), ',')
	return base64.StdEncoding.AppendEncode(out, sig)
}
