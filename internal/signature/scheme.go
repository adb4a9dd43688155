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
	// URL is the address under which the sender knows the source: the one that
	// is configured, with the path and the query that came after it. It is never
	// rebuilt from the request: forwarded headers would let a sender choose what
	// a URL-signing scheme checks.
	URL string
	// Query is the raw query as received.
	Query string
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
	// what the scheme's Info says.
	Tolerance time.Duration
	// Capturing tells that the source waits for the provider to send the secret.
	Capturing bool
	// Raw is the source's own settings, as CheckSettings accepted them.
	Raw json.RawMessage
}

// Identity is what a verified request says about one event.
type Identity struct {
	// ID is the provider's own id of the event as it stands in the request; ""
	// when there is none.
	ID string
	// Key is what repeats of the event share, for de-duplication: often the ID,
	// sometimes more, or derived from the body. "" when nothing tells repeats
	// from honest equals. It is the sender's bytes: not always UTF-8, of any
	// length.
	Key string
	// Type is the event's type; "" when the request has none that is allowed
	// as a type.
	Type string
	// Body is the event's own bytes where a request brings several: the request
	// as it would be if it had brought this one alone. Nil is the request's body.
	Body []byte
}

// Answer is what a provider wants to read in place of our receipt.
type Answer struct {
	Status int
	// ContentType is "" for an answer without a body.
	ContentType string
	Body        string
	// Header are further headers.
	Header map[string]string
}

// Handshake is a request that asks for an answer and is no event: a challenge,
// a ping, a heartbeat.
type Handshake struct {
	Answer Answer
	// Detail says in a sentence for people what it was.
	Detail string
	// Secret is the secret that the provider gave in it, for the caller to
	// store if the source is waiting for one, and to refuse otherwise. It is ""
	// in most handshakes.
	Secret string
}

// Verified is the verdict over a request that is not refused.
type Verified struct {
	// Secret is the secret that matched; zero for a scheme without secrets.
	Secret gateway.SecretID
	// Skew is Now minus the signed time: positive when the request is old,
	// negative when its sender's clock is ahead. Zero if no time is signed.
	Skew time.Duration
	// Events are the events in the request, in their order; none in a handshake.
	Events []Identity
	// Handshake is set when the request is no event.
	Handshake *Handshake
	// Once is a value that the sender uses for one event alone, where it is all
	// that keeps a signature from being used for another one. Most have none.
	Once string
}

// Scheme is the way one kind of source proves its requests.
type Scheme interface {
	// Info is what there is to know about the kind.
	Info() *Info
	// CheckSecret turns what a person pasted into the form to store. The
	// error is a sentence for that person and never repeats the secret.
	CheckSecret(pasted string) (string, error)
	// CheckSettings tells whether a source may be saved with these settings.
	// Nothing, null and {} are the defaults; an unknown, repeated or
	// differently spelled field is an error.
	CheckSettings(raw json.RawMessage) error
	// Verify judges a request. The error is always a *Refusal.
	Verify(Request, Settings, []Secret) (Verified, error)
	// Greets tells that a request, whether or not it is refused, asks for an
	// answer or offers a secret, and can be no event.
	Greets(Request, Settings) bool
	// Unproven tells which events a request brings that nobody has proven: a
	// person vouches for it.
	Unproven(Request, Settings) []Identity
	// Protects says in one sentence for people what a signature under these
	// settings covers: body, id, time, or none of them.
	Protects(raw json.RawMessage) string
	// SecretHeaders are the headers that are themselves the secret under these
	// settings, and must not be stored, beyond Authorization and Cookie, which
	// never are. Of settings that cannot be used they are all that may be meant.
	SecretHeaders(raw json.RawMessage) []string
	// Accepted is the answer to a request whose events were taken in; nil is our
	// receipt.
	Accepted(Request) *Answer
	// Sample makes a request such as the provider sends, not signed yet, to the
	// address, with an id that no other sample has.
	Sample(url, id string, now time.Time) Request
	// Sign signs a request as the provider would, with a secret in its stored
	// form or, where the stored form is a public key, with its private half.
	Sign(r *Request, settings Settings, secret string) error
	// NewPair makes a public key in its stored form and the private half that
	// Sign takes, for kinds whose secret is a public key. It is "", "" where
	// both sides share a secret.
	NewPair() (public, private string)
}
