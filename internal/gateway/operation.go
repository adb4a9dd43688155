package gateway

import "time"

// OperationKind says what a bulk operation does.
type OperationKind string

// The kinds of bulk operations.
const (
	// OperationRecoverFailed opens an endpoint's failed deliveries again.
	OperationRecoverFailed OperationKind = "recover_failed"
	// OperationRecoverMissing makes the deliveries of events that an endpoint
	// asks for and never got.
	OperationRecoverMissing OperationKind = "recover_missing"
	// OperationRedeliver opens closed deliveries again, whichever they are.
	OperationRedeliver OperationKind = "redeliver"
	// OperationReprocess has events decided again.
	OperationReprocess OperationKind = "reprocess"
	// OperationReconcile sends what a reconciliation found missing at the partner:
	// opens the deliveries again, and makes those that were never made.
	OperationReconcile OperationKind = "reconcile"
)

// OperationState says how far a bulk operation got.
type OperationState string

// The states of a bulk operation.
const (
	// OperationCounting counts what it is about.
	OperationCounting OperationState = "counting"
	OperationRunning  OperationState = "running"
	// OperationDone has been over all of it, or only counted.
	OperationDone OperationState = "done"
	// OperationCancelled was stopped by a person.
	OperationCancelled OperationState = "cancelled"
)

// OperationStates lists every state, for documentation.
var OperationStates = []OperationState{OperationCounting, OperationRunning, OperationDone, OperationCancelled}

// IsOpen tells whether something is still to be done, or to be stopped.
func (s OperationState) IsOpen() bool { return s == OperationCounting || s == OperationRunning }

const (
	// MaxOperationIDs bounds a list of single deliveries.
	MaxOperationIDs = 1000
	// MaxOperationPace bounds the deliveries a second that an operation is
	// limited to.
	MaxOperationPace = 10_000
	// MaxOpenOperations bounds an account's operations that have not ended: they
	// take turns with those of all others.
	MaxOpenOperations = 50
)

// Operation is one press that acts on many.
type Operation struct {
	ID        OperationID
	AccountID AccountID
	Kind      OperationKind
	Filter    OperationFilter
	State     OperationState
	// DryRun: it counts, and does nothing else.
	DryRun bool
	// PerSecond limits how many it opens a second; zero does not.
	PerSecond int
	// Total is how many it is about, as far as it has counted. Done were opened,
	// made or put back to be decided; Failed could not be. Together they stay
	// below Total by what somebody else was faster with.
	Total, Done, Failed int
	// Restored is how many of Done a stop took back.
	Restored  int
	Actor     Actor
	CreatedAt time.Time
	// StartedAt is when it had counted and began to act.
	StartedAt *time.Time
	// FinishedAt is when it was done or stopped, SettledAt when nothing of what
	// it opened was left to be put back.
	FinishedAt, SettledAt *time.Time
}

// OperationFilter says what an operation is about. What is zero narrows
// nothing.
type OperationFilter struct {
	Endpoint *EndpointID `json:"endpoint,omitempty"`
	Event    *EventID    `json:"event,omitempty"`
	// Status is that of the deliveries, a closed one.
	Status  DeliveryStatus `json:"status,omitempty"`
	Outcome Outcome        `json:"outcome,omitempty"`
	// ErrorKind and StatusCode are why the last attempt failed.
	ErrorKind  ErrorKind `json:"error_kind,omitempty"`
	StatusCode int       `json:"status_code,omitempty"`
	// Deliveries are single ones.
	Deliveries []DeliveryID `json:"ids,omitempty"`
	// EventStatus, Type, Subject and Source are those of events.
	EventStatus EventStatus `json:"event_status,omitempty"`
	Type        string      `json:"type,omitempty"`
	Subject     string      `json:"subject,omitempty"`
	Source      *SourceID   `json:"source,omitempty"`
	// Events are single ones, and Search what came in with them, as it was typed.
	Events []EventID `json:"events,omitempty"`
	Search string    `json:"search,omitempty"`
	// Reconciliation is the one that found what is missing.
	Reconciliation *ReconciliationID `json:"reconciliation,omitempty"`
	// Since and Until bound when the events came in: from, and before.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// OfEvents tells that deliveries are found by what their events are.
func (f OperationFilter) OfEvents() bool {
	return f.EventStatus != "" || f.Type != "" || f.Subject != "" || f.Source != nil || f.Search != "" || len(f.Events) > 0
}

// Cause is why the last attempt failed, if that is asked for.
func (f OperationFilter) Cause() *Cause {
	if f.ErrorKind == "" && f.StatusCode == 0 {
		return nil
	}
	return &Cause{ErrorKind: f.ErrorKind, StatusCode: f.StatusCode}
}

// IsClosed tells whether a status is one of a delivery that is not sent any
// more, and could be opened again.
func (s DeliveryStatus) IsClosed() bool {
	switch s {
	case DeliveryDelivered, DeliveryFailed, DeliverySuppressed, DeliveryCancelled, DeliveryExpired:
		return true
	case DeliveryPending, DeliverySending, DeliveryHeld:
	}
	return false
}
