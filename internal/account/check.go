package account

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// maxName is in characters.
	maxName = 200
	// maxEmail and maxMailbox, the part before the @, are what SMTP allows, in
	// bytes.
	maxEmail, maxMailbox = 254, 64
	// minPassword is in characters.
	minPassword = 12
	// maxPassword bounds the work of hashing, in bytes.
	maxPassword = 1024
)

func checkName(field, text string) (string, error) {
	name := strings.TrimSpace(text)
	if name == "" || utf8.RuneCountInString(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return "", gateway.Invalid(field, "want 1 to %d characters on one line", maxName)
	}
	return name, nil
}

// checkEmail returns the address in lower case: nobody has two mailboxes whose
// addresses differ by case alone.
func checkEmail(text string) (string, error) {
	text = strings.TrimSpace(text)
	address, err := mail.ParseAddress(text)
	if err != nil || address.Address != text || !utf8.ValidString(text) ||
		len(text) > maxEmail || strings.LastIndexByte(text, '@') > maxMailbox {
		return "", gateway.Invalid("email", "want an address such as name@example.com")
	}
	return strings.ToLower(text), nil
}

// checkPassword looks at a password that is to be set.
func checkPassword(password string) error {
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return gateway.Invalid("password", "want at least %d characters", minPassword)
	case len(password) > maxPassword:
		return gateway.Invalid("password", "want at most %d bytes", maxPassword)
	}
	return nil
}
