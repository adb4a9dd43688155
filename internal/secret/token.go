package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
)

// tokenBytes is how much randomness a token has: 256 bits, so that its plain
// hash is as good as a slow one.
const tokenBytes = 32

// crockford writes tokens without the letters that are read as digits.
var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// NewToken makes a secret token: the prefix as it is given ("rk_"), then 256
// random bits as 52 characters of Crockford base32 in lower case.
func NewToken(prefix string) string {
	var raw [tokenBytes]byte
	_, _ = rand.Read(raw[:]) // never fails: it would end the process first
	return prefix + crockford.EncodeToString(raw[:])
}

// HashToken returns what is stored in place of a token, and looked up by.
func HashToken(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }
