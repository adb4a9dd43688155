package signature

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Request is an inbound request as a scheme sees it.
type Request struct {
	// Method is the HTTP method as received.
	Method string
	// URL is the source's public address as configured. It is never rebuilt
	// from the request: forwarded headers would let a sender choose what a
	// URL-signing scheme checks.
	URL string
	// Header holds the headers as received, under canonical names.
	Header http.Header
	// Body is the body byte for byte as sent, still compressed if it came so.
	Body []byte
	// Now is the clock against which signed times are judged.
	Now time.Time
}

// Secret is one live secret of a source. During a rotation there are several.
type Secret struct {
	// ID names the secret, so that an event can tell which one proved it.
	ID gateway.SecretID
	// Value is the text that CheckSecret returned. An empty one never verifies.
	Value []byte
}

// Settings are what a source chose for its scheme.
type Settings struct {
	// Tolerance is how far a signed time may be from Now, each way. Zero means
	// DefaultTolerance.
	Tolerance time.Duration
	// Raw is the source's own settings, as CheckSettings accepted them.
	Raw json.RawMessage
}

// Identity is what a verified request says about one event.
type Identity struct {
	// Key is the provider's id of the event, for de-duplication; "" when there
	// is none. It is the sender's bytes: not always UTF-8, of any length.
	Key string
	// Type is the event's type; "" when the request has none that is allowed
	// as a type.
	Type string
}

// Verified is the verdict over an authentic request.
type Verified struct {
	// Secret is the secret that matched; zero for a scheme without secrets.
	Secret gateway.SecretID
	// Skew is Now minus the signed time: positive when the request is old,
	// negative when its sender's clock is ahead. Zero if no time is signed.
	Skew time.Duration
	// Events are the events in the request, in their order, at least one.
	Events []Identity
}

// Scheme is the way one kind of source proves its requests.
type Scheme interface {
	// Kind is the name of the kind, as stored and as the API shows it.
	Kind() string
	// NeedsSecret tells whether a source of this kind must have a secret.
	NeedsSecret() bool
	// CheckSecret turns what a person pasted into the form to store. The
	// error is a sentence for that person and never repeats the secret.
	CheckSecret(pasted string) (string, error)
	// CheckSettings tells whether a source may be saved with these settings.
	// Nothing, null and {} are the defaults; an unknown, repeated or
	// differently spelled field is an error.
	CheckSettings(raw json.RawMessage) error
	// Verify judges a request. The error is always a *Refusal.
	Verify(Request, Settings, []Secret) (Verified, error)
	// SecretHeaders are the headers that are themselves the secret and must
	// not be stored, beyond Authorization and Cookie, which never are.
	SecretHeaders() []string
	// Protects says in one sentence for people what a signature under these
	// settings covers: body, id, time, or none of them.
	Protects(raw json.RawMessage) string
}
