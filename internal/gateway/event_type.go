package gateway

import (
	"encoding/json"
	"strings"
	"time"
)

// OnDoubt says what becomes of a single-fire event when nobody knows whether
// it reached its receiver: the process that sent it died before it recorded the
// answer.
type OnDoubt string

// What can be done when in doubt.
const (
	// OnDoubtResend sends it again under the same Idempotency-Key, for
	// receivers that honour the key. It is the default.
	OnDoubtResend OnDoubt = "resend"
	// OnDoubtHold leaves it to a person, for receivers that cannot tell a
	// repeat.
	OnDoubtHold OnDoubt = "hold"
)

// EventType is what an account declares of events of one type. A type need not
// be declared to be used.
type EventType struct {
	AccountID AccountID
	// Name is the type, as events carry it.
	Name        string
	Description string
	// Schema is what the data of published events has to satisfy, a JSON Schema
	// as it was given; nil for none.
	Schema []byte
	// Examples are data of such events.
	Examples []json.RawMessage
	// SingleFire tells that an endpoint gets one event of this type for each
	// subject.
	SingleFire bool
	// OnDoubt is for single-fire types.
	OnDoubt OnDoubt
	// Version is another one after each change, and never comes again.
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// MaxEventTypes is how many types an account can declare.
const MaxEventTypes = 1000

const (
	// CodeSubjectRequired is the code of an event that lacks its subject.
	CodeSubjectRequired = "subject_required"
	// CodeSchemaViolated is the code of an event whose data breaks the schema of
	// its type.
	CodeSchemaViolated = "schema_violated"
)

// SubjectRequired says that an event of a single-fire type has no subject.
func SubjectRequired() error {
	return &InvalidError{
		Field: "subject", Code: CodeSubjectRequired,
		Detail: "is required: events of this type reach an endpoint once for each subject",
	}
}

// CheckDeclaredType checks the name of a type that an account declares: of what
// its applications publish, or of what providers send, whose types can have
// spaces inside.
func CheckDeclaredType(name string) error {
	if !ValidEventType(name) && !spokenPattern.MatchString(name) {
		return Invalid("name", "want 1 to 256 letters, digits, _ . : / or -, not beginning with a sign")
	}
	if strings.HasPrefix(name, OwnTypePrefix) {
		return &InvalidError{Field: "name", Code: "type_reserved", Detail: "types that begin with rowlock. are Rowlock's own"}
	}
	return nil
}
