package gateway

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"
)

// MatchBy says by what a partner's list and our events are compared.
type MatchBy string

// By what lists can be compared.
const (
	// MatchByEvent: the list holds event ids, which receivers see as webhook-id.
	MatchByEvent MatchBy = "event"
	// MatchByKey: the list holds idempotency keys.
	MatchByKey MatchBy = "key"
	// MatchBySubject: the list holds subjects.
	MatchBySubject MatchBy = "subject"
)

// MatchesBy lists every choice, for forms and documentation.
var MatchesBy = []MatchBy{MatchByEvent, MatchByKey, MatchBySubject}

// ReconciliationState says how far a reconciliation got.
type ReconciliationState string

// The states of a reconciliation.
const (
	// ReconciliationUploading reads the partner's list.
	ReconciliationUploading ReconciliationState = "uploading"
	// ReconciliationComparing compares it with what was to be delivered.
	ReconciliationComparing ReconciliationState = "comparing"
	ReconciliationDone      ReconciliationState = "done"
	// ReconciliationFailed could not read the list; Fault says why.
	ReconciliationFailed ReconciliationState = "failed"
	// ReconciliationCancelled was stopped by a person.
	ReconciliationCancelled ReconciliationState = "cancelled"
)

// ReconciliationStates lists every state, for documentation.
var ReconciliationStates = []ReconciliationState{
	ReconciliationUploading, ReconciliationComparing, ReconciliationDone, ReconciliationFailed, ReconciliationCancelled,
}

// IsOpen tells whether it still changes, and can be stopped.
func (s ReconciliationState) IsOpen() bool {
	return s == ReconciliationUploading || s == ReconciliationComparing
}

// RowResult is what a comparison found.
type RowResult string

// What a comparison can find. Each row of the partner's list is matched,
// unknown, repeated or faulty; what is missing is not in it.
const (
	// RowMatched is in both.
	RowMatched RowResult = "matched"
	// RowMissing was for the endpoint, and the partner does not list it.
	RowMissing RowResult = "missing"
	// RowUnknown is listed by the partner, and was not sent by us.
	RowUnknown RowResult = "unknown"
	// RowRepeated is listed by the partner once more.
	RowRepeated RowResult = "repeated"
	// RowFaulty could not be read.
	RowFaulty RowResult = "faulty"
)

// RowResults lists every result, for filters and documentation.
var RowResults = []RowResult{RowMissing, RowUnknown, RowRepeated, RowMatched, RowFaulty}

// RowReason says why a comparison found what it found.
type RowReason string

// Why something is missing at the partner: how we stand with it.
const (
	// ReasonNeverCreated: the endpoint asks for the event and no delivery was
	// ever made.
	ReasonNeverCreated RowReason = "never_created"
	ReasonFailed       RowReason = "failed"
	// ReasonFailedOver: it failed, and the failover endpoint has got it instead.
	ReasonFailedOver RowReason = "failed_over"
	// ReasonSuppressed: the fact was confirmed by another event.
	ReasonSuppressed RowReason = "suppressed"
	// ReasonOpen: it is still on its way.
	ReasonOpen RowReason = "open"
	// ReasonHeld: it is open, and the endpoint is not active.
	ReasonHeld      RowReason = "held"
	ReasonCancelled RowReason = "cancelled"
	ReasonExpired   RowReason = "expired"
	// ReasonDelivered: the partner confirmed it, and does not list it.
	ReasonDelivered RowReason = "delivered"
)

// MissingReasons lists why something can be missing, for filters and
// documentation.
var MissingReasons = []RowReason{
	ReasonNeverCreated, ReasonFailed, ReasonFailedOver, ReasonSuppressed, ReasonOpen, ReasonHeld, ReasonCancelled, ReasonExpired, ReasonDelivered,
}

// What there is to say of the partner's rows.
const (
	// ReasonOutside: it is a match, and the event came in outside of the range.
	ReasonOutside RowReason = "outside"
	// ReasonUnconfirmed: it is a match, and the endpoint never confirmed it to us.
	ReasonUnconfirmed RowReason = "unconfirmed"
	// ReasonNoEvent: there is no such event.
	ReasonNoEvent RowReason = "no_event"
	// ReasonOtherType: there is one, of another type.
	ReasonOtherType RowReason = "other_type"
	// ReasonOtherEndpoint: there is one, and it was never made for the endpoint.
	ReasonOtherEndpoint RowReason = "other_endpoint"
)

// MissingBecause is why a delivery in a status as it is shown is missing at the
// partner.
func MissingBecause(shown DeliveryStatus) RowReason {
	switch shown {
	case DeliveryPending, DeliverySending:
		return ReasonOpen
	case DeliveryHeld:
		return ReasonHeld
	case DeliveryFailed:
		return ReasonFailed
	case DeliverySuppressed:
		return ReasonSuppressed
	case DeliveryCancelled:
		return ReasonCancelled
	case DeliveryExpired:
		return ReasonExpired
	case DeliveryDelivered:
	}
	return ReasonDelivered
}

const (
	// MaxReconciliationRows bounds a partner's list.
	MaxReconciliationRows = 1_000_000
	// MaxReconciliationBytes bounds it in bytes, as it is sent and decompressed.
	MaxReconciliationBytes = 256 << 20
	// MaxOpenReconciliations bounds an account's reconciliations that have not
	// ended.
	MaxOpenReconciliations = 5
	// MaxKeptReconciliations bounds those whose rows are kept.
	MaxKeptReconciliations = 100
	// MaxKeptReconciledRows bounds what is kept of an account's reconciliations:
	// nobody begins one more once there are so many rows, of lists and of what is
	// missing.
	MaxKeptReconciledRows = 10_000_000
	// MaxKeptFaults is how many rows that could not be read are told one by one.
	MaxKeptFaults = 100
	// MaxRowKey bounds a key of a partner's list, in bytes: as long as one that
	// is published.
	MaxRowKey = 1024
	// MaxReconciliationName bounds a name, in bytes.
	MaxReconciliationName = 200
)

// Reconciliation is a comparison of a partner's list with what was to be
// delivered to an endpoint.
type Reconciliation struct {
	ID         ReconciliationID
	AccountID  AccountID
	EndpointID EndpointID
	// Name is what a person calls it; often the file's name.
	Name string
	// Since and Until bound when our events came in: from, and before.
	Since, Until time.Time
	MatchBy      MatchBy
	// WithType: key and type together make a row.
	WithType bool
	State    ReconciliationState
	// Fault says why the list could not be read; empty unless it failed.
	Fault string
	// Rows were read of the partner's list, Faulty could not be. Of the first,
	// Matched, Unknown and Repeated are as many in the end.
	Rows, Faulty, Matched, Unknown, Repeated int
	// Ours is how many of our events were compared; Missing of them the partner
	// does not list, and Sendable of these can be sent again.
	Ours, Missing, Sendable int
	// Unnamed of our events have no key, or no subject, by which the partner could
	// list them.
	Unnamed   int
	Actor     Actor
	CreatedAt time.Time
	// UploadedAt is when the list had been read, FinishedAt when it ended.
	UploadedAt, FinishedAt *time.Time
	// EmptiedAt is when the rows were deleted; the numbers are kept.
	EmptiedAt *time.Time
}

// RowHash identifies what a row names: a key, with its type where types are
// compared.
type RowHash [16]byte

// HashRow makes the hash of a row. Blanks around a key or a type mean nothing.
func HashRow(key, eventType string) (h RowHash) {
	sum := sha256.Sum256([]byte(strings.TrimSpace(key) + "\x00" + strings.TrimSpace(eventType)))
	copy(h[:], sum[:])
	return h
}

// PartnerRow is one row of a partner's list.
type PartnerRow struct {
	// N is where it stands in the list: 1 is the first line.
	N         int
	Key, Type string
	// Result is empty until it is compared.
	Result RowResult
	Reason RowReason
	// EventID is the event that it names, if there is one.
	EventID *EventID
}

// FaultyRow is a row that could not be read.
type FaultyRow struct {
	N   int
	Why string
}

// MissingRow is an event that was for the endpoint and that the partner does not
// list.
type MissingRow struct {
	EventID EventID
	// DeliveryID is what its delivery is or would be called.
	DeliveryID DeliveryID
	// Key is by what the partner would list it.
	Key, Type string
	Reason    RowReason
	// EventStatus is the event's.
	EventStatus EventStatus
	// Attempts is how many attempts the delivery had.
	Attempts int
	// Sendable tells that it can be sent again, with the others.
	Sendable bool
}

// IsMade tells whether there is a delivery.
func (r MissingRow) IsMade() bool { return r.Reason != ReasonNeverCreated }

// KnownMatchBy tells whether a text is a choice of MatchesBy.
func KnownMatchBy(text string) bool { return slices.Contains(MatchesBy, MatchBy(text)) }
