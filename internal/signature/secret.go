package signature

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSecretLen is the longest secret, in bytes: far above any provider's, far
// below what would slow a request down.
const maxSecretLen = 4096

// Errors about a pasted secret. They are read by the person who pasted it.
var (
	errSecretEmpty   = errors.New("the secret is empty")
	errSecretUTF8    = errors.New("the secret is not UTF-8 text")
	errSecretControl = errors.New("the secret has a line break or another control character inside; paste it on one line")
	errSecretLong    = fmt.Errorf("the secret is longer than %d bytes", maxSecretLen)
)

// checkText trims a pasted secret that is used as text and checks that it can
// be one. White space inside stays: it may belong there.
func checkText(pasted string) (string, error) {
	secret := trimPasted(pasted)
	switch {
	case secret == "":
		return "", errSecretEmpty
	case len(secret) > maxSecretLen:
		return "", errSecretLong
	case !utf8.ValidString(secret):
		return "", errSecretUTF8
	case strings.ContainsFunc(secret, unicode.IsControl):
		return "", errSecretControl
	}
	return secret, nil
}

// trimPasted removes what copying adds at the ends: white space, and the
// invisible byte order mark and zero-width space.
func trimPasted(pasted string) string {
	return strings.TrimFunc(pasted, func(r rune) bool {
		return unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b'
	})
}
