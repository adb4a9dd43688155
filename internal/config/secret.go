package config

import (
	"encoding/base64"
	"errors"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
)

// masterKeyLen is the length of a master key in bytes.
const masterKeyLen = 32

// redacted stands for a secret wherever it would be printed.
const redacted = "[redacted]"

// secretType tells whether values of a type must not be shown.
func secretType(t reflect.Type) bool {
	return t == reflect.TypeFor[Key]() || t == reflect.TypeFor[SecretURL]()
}

// Key is a master key in standard base64. Printing it in any way gives
// "[redacted]", or nothing when it is empty.
type Key string

// UnmarshalText accepts 32 bytes in standard base64, padded or not.
func (k *Key) UnmarshalText(text []byte) error {
	raw, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(string(text), "="))
	if err != nil || len(raw) != masterKeyLen {
		return errors.New("not 32 bytes in standard base64")
	}
	*k = Key(base64.StdEncoding.EncodeToString(raw))
	return nil
}

// Reveal returns the key itself, padded. The result must not be logged.
func (k Key) Reveal() string { return string(k) }

// String hides the key.
func (k Key) String() string {
	if k == "" {
		return ""
	}
	return redacted
}

// GoString hides the key from %#v.
func (k Key) GoString() string { return "config.Key(" + k.String() + ")" }

// MarshalText hides the key from JSON.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue hides the key from slog.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// SecretURL is a URL that may carry a password. Printing it in any way shows
// scheme, host and path only.
type SecretURL string

// UnmarshalText accepts any URL; which schemes are right is checked later.
func (u *SecretURL) UnmarshalText(text []byte) error {
	if _, err := url.Parse(string(text)); err != nil {
		return errors.New("not a URL") // the cause would quote the password
	}
	*u = SecretURL(text)
	return nil
}

// Reveal returns the URL itself. The result must not be logged.
func (u SecretURL) Reveal() string { return string(u) }

// String shows the URL without user, password, query and fragment.
func (u SecretURL) String() string {
	if u == "" {
		return ""
	}
	parsed, err := url.Parse(string(u))
	if err != nil || parsed.Opaque != "" || parsed.Scheme == "" {
		return redacted
	}
	shown := url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path}
	return shown.String()
}

// GoString hides the secret parts from %#v.
func (u SecretURL) GoString() string { return "config.SecretURL(" + u.String() + ")" }

// MarshalText hides the secret parts from JSON.
func (u SecretURL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// LogValue hides the secret parts from slog.
func (u SecretURL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// scheme returns the scheme of a URL of the form scheme://…, else "".
func (u SecretURL) scheme() string {
	before, _, found := strings.Cut(string(u), "://")
	if !found {
		return ""
	}
	return strings.ToLower(before)
}
