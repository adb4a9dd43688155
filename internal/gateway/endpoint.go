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
	ID          EndpointID
	AccountID   AccountID
	UID         *string
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
	StopOn              []int
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

const (
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

// Own event types: what Rowlock tells about itself.
const (
	// TypeEndpointDisabled tells that an endpoint was stopped by Rowlock.
	TypeEndpointDisabled = "rowlock.endpoint.disabled"
	// TypeTest is the type of a test send that names none.
	TypeTest = "rowlock.test"
)
