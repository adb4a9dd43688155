package signature

import (
	"crypto/hmac"
	"hash"

	"github.com/rowlock/rowlock/internal/gateway"
)

// matchHMAC returns the first secret with which one of the sent MACs covers
// the signed parts. Secrets are used as text, an empty one never.
func matchHMAC(newHash func() hash.Hash, secrets []Secret, signed, sent [][]byte) (gateway.SecretID, bool) {
	for _, secret := range secrets {
		if len(secret.Value) == 0 {
			continue
		}
		if equalsAny(computeHMAC(newHash, secret.Value, signed), sent) {
			return secret.ID, true
		}
	}
	return gateway.SecretID{}, false
}

// computeHMAC signs the parts one after the other, so that nobody has to join
// them: a part may be a body of a mebibyte.
func computeHMAC(newHash func() hash.Hash, key []byte, parts [][]byte) []byte {
	mac := hmac.New(newHash, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// equalsAny compares in constant time for each candidate.
func equalsAny(want []byte, sent [][]byte) bool {
	for _, got := range sent {
		if hmac.Equal(want, got) {
			return true
		}
	}
	return false
}
