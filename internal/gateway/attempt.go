package gateway

import (
	"errors"
	"slices"
	"time"
)

// Outcome says how an attempt ended.
type Outcome string

// The four outcomes. They are recorded, counted and shown apart.
const (
	// OutcomeSucceeded is a 2xx answer.
	OutcomeSucceeded Outcome = "succeeded"
	// OutcomeRejected is any other answer: the receiver said no.
	OutcomeRejected Outcome = "rejected"
	// OutcomeUnreachable means that no answer came; ErrorKind says why.
	OutcomeUnreachable Outcome = "unreachable"
	// OutcomeUnknown means that we died, or lost the lane, before the answer
	// was recorded: the receiver may have it.
	OutcomeUnknown Outcome = "unknown"
)

// Outcomes lists every outcome, for filters and documentation.
var Outcomes = []Outcome{OutcomeSucceeded, OutcomeRejected, OutcomeUnreachable, OutcomeUnknown}

// ErrorKind says why no answer came.
type ErrorKind string

// Why an attempt was unreachable; empty for the other outcomes.
const (
	ErrorDNS      ErrorKind = "dns"       // the name has no address
	ErrorConnect  ErrorKind = "connect"   // nobody accepted the connection
	ErrorTLS      ErrorKind = "tls"       // the handshake or the certificate
	ErrorTimeout  ErrorKind = "timeout"   // the whole request took too long
	ErrorReset    ErrorKind = "reset"     // the connection broke before the answer
	ErrorBlocked  ErrorKind = "blocked"   // our policy forbids the address
	ErrorTooLarge ErrorKind = "too_large" // the answer's headers exceed the cap
	ErrorProtocol ErrorKind = "protocol"  // what came back is not HTTP
)

// ErrorKinds lists every kind that an attempt can have, the most frequent
// first, for filters and documentation.
var ErrorKinds = []ErrorKind{
	ErrorTimeout, ErrorConnect, ErrorDNS, ErrorTLS, ErrorReset, ErrorBlocked, ErrorTooLarge, ErrorProtocol,
}

// ErrorDisabled is why a delivery failed of which nothing was ever sent: its
// endpoint was disabled, and the failover got the event. No attempt has it.
const ErrorDisabled ErrorKind = "disabled"

// CanFailDelivery tells whether a kind is one that a failed delivery can have.
func (k ErrorKind) CanFailDelivery() bool {
	return k == ErrorDisabled || slices.Contains(ErrorKinds, k)
}

// Trigger says what started an attempt.
type Trigger string

// What can start an attempt.
const (
	TriggerAuto    Trigger = "auto"    // the schedule
	TriggerManual  Trigger = "manual"  // a person's redeliver
	TriggerRecover Trigger = "recover" // a bulk operation
	TriggerTest    Trigger = "test"    // a test send
)

// Timing is how long the parts of one request took. A part that did not
// happen (a kept-alive connection has no DNS, connect or TLS) is zero.
type Timing struct {
	DNS, Connect, TLS, FirstByte time.Duration
}

// MaxAttempts is how many attempts one delivery can have: an attempt's number
// is the low 16 bits of its id.
const MaxAttempts = 1<<16 - 1

// MaxReopenedAttempts is how many attempts a delivery may have had to be
// redelivered: what is left is more than any schedule needs.
const MaxReopenedAttempts = MaxAttempts - 1000

// DeriveAttemptID makes the id of a delivery's nth attempt: the delivery's id,
// whose low 16 bits are zero, with n in them. So an attempt is found by its id
// with one look-up in the delivery's partition, and needs no index of its own.
func DeriveAttemptID(delivery DeliveryID, n int) AttemptID {
	id := AttemptID(delivery)
	id[14], id[15] = byte(n>>8), byte(n) //nolint:gosec // n is at most MaxAttempts
	return id
}

// SplitAttemptID undoes DeriveAttemptID. An id that no attempt can have is
// ErrBadID.
func SplitAttemptID(id AttemptID) (delivery DeliveryID, n int, err error) {
	n = int(id[14])<<8 | int(id[15])
	if n == 0 {
		return delivery, 0, errors.Join(ErrBadID, errors.New("attempt numbers start at 1"))
	}
	delivery = DeliveryID(id)
	delivery[14], delivery[15] = 0, 0
	return delivery, n, nil
}
