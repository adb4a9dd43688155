package signature

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // some providers sign with it; HMAC-SHA1 is not broken
	"crypto/sha256"
	"crypto/sha512"
	"hash"
)

// algorithm is a hash to make MACs with.
type algorithm struct {
	name    string
	newHash func() hash.Hash
	size    int // bytes
}

var (
	hashSHA1   = algorithm{"sha1", sha1.New, sha1.Size}
	hashSHA256 = algorithm{"sha256", sha256.New, sha256.Size}
	hashSHA512 = algorithm{"sha512", sha512.New, sha512.Size}
)

// matchHMAC returns the first secret with which one of the sent MACs covers
// the signed parts. Secrets are used as text, an empty one never.
func matchHMAC(newHash func() hash.Hash, secrets []Secret, signed, sent [][]byte) (Secret, bool) {
	for _, secret := range secrets {
		if len(secret.Value) == 0 {
			continue
		}
		if equalsAny(computeHMAC(newHash, secret.Value, signed), sent) {
			return secret, true
		}
	}
	return Secret{}, false
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
