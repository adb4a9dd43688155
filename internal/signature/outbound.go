package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
)

// Sign returns the value of webhook-signature for a request: for each key, in
// order, one "v1,BASE64" (HMAC-SHA256) or "v1a,BASE64" (Ed25519), parted by
// spaces. unix is the value of webhook-timestamp, in seconds. The id must not
// hold a full stop. The body is read, and copied for Ed25519 alone, which reads
// its message twice.
func Sign(keys []SigningKey, id string, unix int64, body []byte) string {
	parts := signedParts(id, strconv.FormatInt(unix, 10), body)
	var out, message []byte
	for _, key := range keys {
		if key.private == nil {
			out = appendSignature(out, versionHMAC, computeHMAC(sha256.New, key.symmetric, parts))
			continue
		}
		if message == nil {
			message = bytes.Join(parts, nil)
		}
		out = appendSignature(out, versionEd25519, ed25519.Sign(key.private, message))
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
