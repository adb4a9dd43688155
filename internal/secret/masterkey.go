package secret

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// MasterKeyLen is the length of a master key in bytes.
const MasterKeyLen = 32

// ErrMasterKey is returned for a text that is no master key.
var ErrMasterKey = errors.New("a master key is 32 bytes in standard base64")

// MasterKey wraps the keyset. Printing it in any way gives "[redacted]".
type MasterKey [MasterKeyLen]byte

// ParseMasterKey reads a key in standard base64, padded or not, with white
// space around it. Anything else is ErrMasterKey, which does not repeat it.
func ParseMasterKey(b64 string) (MasterKey, error) {
	digits := strings.TrimRight(strings.TrimSpace(b64), "=")
	raw, err := base64.RawStdEncoding.Strict().DecodeString(digits)
	if err != nil || len(raw) != MasterKeyLen {
		return MasterKey{}, ErrMasterKey
	}
	return MasterKey(raw), nil
}

// Reveal returns the key in standard base64, to be stored or shown once.
func (k MasterKey) Reveal() string { return base64.StdEncoding.EncodeToString(k[:]) }

// Fingerprint tells one master key from another and nothing of either: two
// processes that show the same have the same key.
func (k MasterKey) Fingerprint() string {
	sum := sha256.Sum256(append([]byte("rowlock master key fingerprint v1"), k[:]...))
	return hex.EncodeToString(sum[:fingerprintLen])
}

// fingerprintLen is the length of a fingerprint in bytes: enough that keys
// which differ never show the same.
const fingerprintLen = 8

const redacted = "[redacted]"

// String hides the key.
func (MasterKey) String() string { return redacted }

// GoString hides the key from %#v.
func (MasterKey) GoString() string { return "secret.MasterKey(" + redacted + ")" }

// Format hides the key from every verb of fmt, %x and %d included.
func (k MasterKey) Format(f fmt.State, verb rune) {
	text := k.String()
	if verb == 'v' && f.Flag('#') {
		text = k.GoString()
	}
	_, _ = io.WriteString(f, text) // a writer's fault is the caller's to see
}

// MarshalText hides the key from JSON.
func (MasterKey) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue hides the key from slog.
func (MasterKey) LogValue() slog.Value { return slog.StringValue(redacted) }
