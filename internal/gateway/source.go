package gateway

import "time"

// SourceKindAPI is the kind of each account's built-in source, through which
// its own applications publish.
const SourceKindAPI = "api"

// IngestPath is the path below which sources take requests; the source's token
// follows.
const IngestPath = "/ingest/"

// SourceState says whether a source's events are decided.
type SourceState string

// The states of a source.
const (
	SourceActive SourceState = "active"
	// SourcePaused takes events, answers 2xx, and holds them.
	SourcePaused SourceState = "paused"
)

// Source is where events come from.
type Source struct {
	ID        SourceID
	AccountID AccountID
	UID       *string
	Name      string
	Kind      string
	// Token is the secret part of the ingest URL.
	Token string
	// Settings is the kind's own JSON object.
	Settings []byte
	State    SourceState
	// CaptureUntil is until when the next secret that the provider sends is
	// taken; nil when none is.
	CaptureUntil *time.Time
	// Rule says what its events mean; nil where the kind says all there is.
	Rule *Rule
	// RuleVersion grows with every change of the rule.
	RuleVersion int
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Request is an ingest request that did not become an event.
type Request struct {
	ID        RequestID
	AccountID AccountID
	SourceID  SourceID
	// Cause is one of the Cause constants or the code of the refusal.
	Cause string
	// Detail says in words what was wrong; never the expected value.
	Detail string
	// Header is the header that was read, where it was refused; often "".
	Header string
	// Answered is the status of the answer.
	Answered int
	// Sender is the address that it came from; "" where it is not known.
	Sender string
	// EventID is the first event with this key, for a duplicate, and the first
	// that came of it, for one that was accepted late.
	EventID *EventID
	// AcceptedAt is when a person accepted it after all; nil if nobody has.
	AcceptedAt *time.Time
	// BodyDiffers tells that a duplicate's body is not the first one's.
	BodyDiffers bool
	// SkewMS is the sender's clock less ours, in milliseconds, where known.
	SkewMS *int64
	Body   Body
	// BodySize is the size it came with; Body.Data is cut at MaxRequestBody.
	BodySize int
}

// Keep takes a request's bytes, as many as are kept of one that is no event.
func (r *Request) Keep(b Body) {
	r.BodySize = len(b.Data)
	r.Body = b
	r.Body.Data = b.Data[:min(len(b.Data), MaxRequestBody)]
}

// Why a request is no event, beside the codes of refusals.
const (
	// CauseDuplicate: its key was accepted before.
	CauseDuplicate = "duplicate"
	// CauseHandshake: a challenge, a ping or a heartbeat, which was answered.
	CauseHandshake = "handshake"
	// CauseAddress: it came from an address that the source does not take.
	CauseAddress = "address_not_allowed"
	// CauseReplay: its body was taken in before, under another id.
	CauseReplay = "body_replayed"
)

const (
	// MaxRequestBody is how many bytes of a request's body are kept.
	MaxRequestBody = 64 << 10
	// MaxRequestsKept is how many requests a source keeps, the newest.
	MaxRequestsKept = 1000
)

// Secret is a signing secret of a source or an endpoint, unsealed.
type Secret struct {
	ID    SecretID
	Value string
	// Public is the public half of an Ed25519 key, which verifies and is no
	// secret; empty for a secret that both sides share.
	Public string
	// Captured tells that the provider sent it to the source itself.
	Captured  bool
	CreatedAt time.Time
	// EndsAt is when it stops being valid; nil while it has no end.
	EndsAt *time.Time
}

const (
	// MaxLiveSecrets is how many secrets can be valid at once.
	MaxLiveSecrets = 10
	// DefaultOverlap is how long a rotated secret stays valid.
	DefaultOverlap = 24 * time.Hour
	// MaxOverlap bounds what a caller may ask for.
	MaxOverlap = 30 * 24 * time.Hour
)
