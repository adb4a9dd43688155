package gateway

import "time"

// EndpointState says whether an endpoint is sent to.
type EndpointState string

// The states of an endpoint.
const (
	EndpointActive EndpointState = "active"
	// EndpointPaused was stopped by a person.
	EndpointPaused EndpointState = "paused"
	// EndpointDisabled was stopped by Rowlock; DisabledReason says why.
	EndpointDisabled EndpointState = "disabled"
)

// Endpoint is where events go to.
type Endpoint struct {
	ID        EndpointID
	AccountID AccountID
	UID       *string
	// Kind is how it gets its deliveries. One to listen for has no URL.
	Kind        EndpointKind
	URL         string
	Description string
	// EventTypes are the patterns it asks for; none asks for all.
	EventTypes []string
	// Headers are its own, sent with every delivery, in wire form.
	Headers []byte
	// RetrySchedule are the waits between attempts; nil is the server's.
	RetrySchedule []time.Duration
	// Timeout bounds one attempt; zero is the server's.
	Timeout time.Duration
	// MaxInFlight bounds how many sends are under way at once.
	MaxInFlight int
	// StopOn are status codes that end the retries.
	StopOn []int
	// Filter is a CEL expression that an event must meet; an empty one lets
	// every event through.
	Filter string
	// RatePerSecond bounds how many sends begin within a second; zero is no
	// bound.
	RatePerSecond int
	// Failover is the endpoint that gets what this one could not be given; nil
	// is none.
	Failover *EndpointID
	// Signature is how its new signing secrets sign.
	Signature SignatureVersion
	// Auth is what it asks for at its door; the words themselves are sealed.
	Auth                AuthKind
	State               EndpointState
	DisabledReason      string
	StateChangedAt      time.Time
	ConsecutiveFailures int
	// FailingSince is when the first of the failures in a row was counted; nil
	// while there is none.
	FailingSince *time.Time
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// SignatureVersion is how deliveries are signed, as Standard Webhooks names it.
type SignatureVersion string

// The versions of a signature.
const (
	// SignatureHMAC is HMAC-SHA256 with a secret that both sides have.
	SignatureHMAC SignatureVersion = "v1"
	// SignatureEd25519 is Ed25519: the receiver has the public key alone.
	SignatureEd25519 SignatureVersion = "v1a"
)

const (
	// MaxRatePerSecond bounds an endpoint's own limit: above it, the limit is
	// what the machine can do.
	MaxRatePerSecond = 10_000
	// MaxFilterLength bounds a filter, in bytes.
	MaxFilterLength = 4 << 10
	// MaxFailoverDepth is how many endpoints a failover chain may have.
	MaxFailoverDepth = 5
	// DefaultMaxInFlight suits one busy receiver: below 64 a hot endpoint
	// waits for round trips, above it nothing is gained.
	DefaultMaxInFlight = 64
	// MaxMaxInFlight bounds what a caller may ask for.
	MaxMaxInFlight = 1000
	// MaxScheduleLength bounds an endpoint's own retry schedule.
	MaxScheduleLength = 50
	// MaxScheduleWait bounds one wait of a retry schedule.
	MaxScheduleWait = 7 * 24 * time.Hour
	// MinTimeout and MaxTimeout bound an endpoint's own timeout.
	MinTimeout = time.Second
	// MaxTimeout is how long one attempt may take at the most.
	MaxTimeout = 60 * time.Second
)
