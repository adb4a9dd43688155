package gateway

import (
	"crypto/sha256"
	"time"
)

// DeliveryStatus says how far a delivery got.
type DeliveryStatus string

// The statuses of a delivery. Pending and sending are open, the others closed.
const (
	DeliveryPending    DeliveryStatus = "pending"
	DeliverySending    DeliveryStatus = "sending"
	DeliveryDelivered  DeliveryStatus = "delivered"
	DeliveryFailed     DeliveryStatus = "failed"
	DeliverySuppressed DeliveryStatus = "suppressed"
	DeliveryCancelled  DeliveryStatus = "cancelled"
	DeliveryExpired    DeliveryStatus = "expired"
	// DeliveryHeld is shown, never stored: open, and the endpoint is not active.
	DeliveryHeld DeliveryStatus = "held"
)

// DeliveryStatuses lists every status that is shown, for filters and
// documentation.
var DeliveryStatuses = []DeliveryStatus{
	DeliveryPending, DeliverySending, DeliveryHeld, DeliveryDelivered,
	DeliveryFailed, DeliverySuppressed, DeliveryCancelled, DeliveryExpired,
}

// Priorities order what is due: lower goes first.
const (
	// PriorityFirst is for first attempts.
	PriorityFirst = 0
	// PriorityRetry is for later attempts.
	PriorityRetry = 1
	// PriorityBulk is for bulk operations, which never starve live traffic.
	PriorityBulk = 2
)

// Delivery is one event on its way to one endpoint.
type Delivery struct {
	ID            DeliveryID
	AccountID     AccountID
	EventID       EventID
	EndpointID    EndpointID
	Status        DeliveryStatus
	Trigger       Trigger
	Attempts      int
	NextAttemptAt *time.Time
	LastOutcome   *Outcome
	// LastCause is why the last attempt failed; of one that succeeded, its
	// status code.
	LastCause Cause
	CreatedAt time.Time
	ClosedAt  *time.Time
	// FailoverOf is the endpoint that could not be given the event, when this
	// delivery was made in its place. FailoverTo is who has got the event since
	// this one failed, or had it already.
	FailoverOf, FailoverTo *EndpointID
	// ClaimID is the claim of a single-fire type's fact, since it was first taken
	// up. WaitingOn is the same while another delivery of the fact holds it.
	ClaimID, WaitingOn *ClaimID
}

// Attempt is one try of a delivery, as it was recorded.
type Attempt struct {
	DeliveryID DeliveryID
	N          int
	AccountID  AccountID
	EndpointID EndpointID
	EventID    EventID
	Trigger    Trigger
	StartedAt  time.Time
	Duration   time.Duration
	Timing     Timing
	Outcome    Outcome
	ErrorKind  ErrorKind
	// Detail says in words what went wrong.
	Detail string
	// StatusCode is the answer's; zero when none came.
	StatusCode int
	// RequestHeaders (without secrets) and ResponseHeaders are in wire form.
	RequestHeaders, ResponseHeaders []byte
	// ResponseBody is the first part of the answer.
	ResponseBody []byte
}

// ID is the attempt's public id.
func (a Attempt) ID() AttemptID { return DeriveAttemptID(a.DeliveryID, a.N) }

// DeriveDeliveryID makes the id of an event's delivery to an endpoint: the
// event's 48 bits of time, then version and variant bits and SHA-256 of both
// ids, the low 16 bits zero for attempt numbers. Equal pairs give equal ids,
// so that inserting a delivery twice is stopped by the primary key, and a
// delivery lies in the partition of its event's day.
func DeriveDeliveryID(event EventID, endpoint EndpointID) DeliveryID {
	var pair [32]byte
	copy(pair[:16], event[:])
	copy(pair[16:], endpoint[:])
	sum := sha256.Sum256(pair[:])
	var id DeliveryID
	copy(id[:6], event[:6])
	copy(id[6:], sum[:10])
	id[6] = 0x70 | id[6]&0x0f
	id[8] = 0x80 | id[8]&0x3f
	id[14], id[15] = 0, 0
	return id
}
