package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"strings"
)

const (
	// codeBytes are random, of a code that people write down: 80 bits, so that
	// nobody finds a code by its hash.
	codeBytes = 10
	// codeGroup is how many characters of a code stand together.
	codeGroup = 4
)

// NewCode makes a secret code that people write down and type: 80 random bits
// as 16 characters, as "9kq2-x0fe-7m1t-w4zr".
func NewCode() string {
	var raw [codeBytes]byte
	_, _ = rand.Read(raw[:]) // never fails: it would end the process first
	text := crockford.EncodeToString(raw[:])
	var groups []string
	for ; len(text) > codeGroup; text = text[codeGroup:] {
		groups = append(groups, text[:codeGroup])
	}
	return strings.Join(append(groups, text), "-")
}

// typed undoes what people do to a code: other letters for the same digit.
var typed = strings.NewReplacer("-", "", " ", "", "o", "0", "i", "1", "l", "1")

// HashCode returns what is stored in place of a code, and looked up by, however
// it was typed.
func HashCode(code string) [sha256.Size]byte {
	return HashToken(typed.Replace(strings.ToLower(strings.TrimSpace(code))))
}
