package gateway

import (
	"encoding/base64"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"
)

// AuthKind is what an endpoint asks for in the Authorization header.
type AuthKind string

// What an endpoint can ask for.
const (
	AuthNone   AuthKind = ""
	AuthBasic  AuthKind = "basic"
	AuthBearer AuthKind = "bearer"
)

// MaxAuthLength bounds user name and password, or the token, together, in
// bytes: servers commonly refuse a header that is longer than twice of it.
const MaxAuthLength = 4 << 10

// Auth is what is sent in the Authorization header of a delivery. It is a
// secret: printed or logged, it tells its kind alone. The zero value sends
// nothing.
type Auth struct {
	Kind AuthKind
	// Header is the header's value as it is sent.
	Header string
}

// NewBasicAuth is what RFC 7617 makes of a user name and a password, in UTF-8.
// One of the two can be empty. Error: InvalidError of "auth.username" or "auth.password".
func NewBasicAuth(username, password string) (Auth, error) {
	isControl := func(text string) bool {
		return !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl)
	}
	switch {
	case username == "" && password == "":
		return Auth{}, Invalid("auth.username", "is missing")
	case isControl(username):
		return Auth{}, Invalid("auth.username", "holds a line break or another control character")
	case strings.Contains(username, ":"):
		return Auth{}, Invalid("auth.username", "cannot hold a colon: the password begins behind the first one")
	case isControl(password):
		return Auth{}, Invalid("auth.password", "holds a line break or another control character")
	case len(username) > MaxAuthLength:
		return Auth{}, Invalid("auth.username", "want at most %d bytes", MaxAuthLength)
	case len(username)+len(password) > MaxAuthLength:
		return Auth{}, Invalid("auth.password", "want at most %d bytes, with the user name", MaxAuthLength)
	}
	pair := base64.StdEncoding.EncodeToString([]byte(username + ":" + password))
	return Auth{Kind: AuthBasic, Header: "Basic " + pair}, nil
}

// NewBearerAuth is what RFC 6750 makes of a token, which it does not look into:
// any visible ASCII will do, since tokens in use are wider than the RFC's.
// Error: InvalidError of "auth.token".
func NewBearerAuth(token string) (Auth, error) {
	isInvisible := func(r rune) bool { return r <= ' ' || r > '~' }
	switch {
	case token == "":
		return Auth{}, Invalid("auth.token", "is missing")
	case strings.ContainsFunc(token, isInvisible):
		return Auth{}, Invalid("auth.token", "holds a space, a line break or another character that a token cannot have")
	case len(token) > MaxAuthLength:
		return Auth{}, Invalid("auth.token", "want at most %d bytes", MaxAuthLength)
	}
	return Auth{Kind: AuthBearer, Header: "Bearer " + token}, nil
}

// String tells the kind alone.
func (a Auth) String() string {
	if a.Kind == AuthNone {
		return "none"
	}
	return string(a.Kind) + " " + Redacted
}

// GoString tells the kind alone.
func (a Auth) GoString() string { return a.String() }

// LogValue tells the kind alone.
func (a Auth) LogValue() slog.Value { return slog.StringValue(a.String()) }
