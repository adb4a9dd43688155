package gateway

import (
	"regexp"
	"strings"
	"time"
)

// EventStatus says what became of an event.
type EventStatus string

// What can become of an event. Accepted is the only open one.
const (
	EventAccepted      EventStatus = "accepted"
	EventProcessed     EventStatus = "processed"
	EventIgnored       EventStatus = "ignored"
	EventDuplicateFact EventStatus = "duplicate_fact"
	EventStaleFact     EventStatus = "stale_fact"
	EventRuleError     EventStatus = "rule_error"
	EventUnresolved    EventStatus = "unresolved"
	EventNoEndpoints   EventStatus = "no_endpoints"
	EventHeld          EventStatus = "held"
)

// EventStatuses lists every status, for filters and documentation.
var EventStatuses = []EventStatus{
	EventAccepted, EventProcessed, EventIgnored, EventDuplicateFact, EventStaleFact,
	EventRuleError, EventUnresolved, EventNoEndpoints, EventHeld,
}

// ReprocessableStatuses are those from which a person may have an event
// decided again.
var ReprocessableStatuses = []EventStatus{EventRuleError, EventUnresolved, EventNoEndpoints}

// Event is what came in, and what was decided about it. Its bytes are a Body.
type Event struct {
	ID        EventID
	AccountID AccountID
	SourceID  SourceID
	// Type is what it is told as; ReceivedType is what came in, where a rule gave
	// it another one.
	Type         string
	ReceivedType *string
	Subject      *string
	// State is what it reports of its subject; FactID is the fact that it made
	// new, nil where it told nothing new.
	State  *string
	FactID *FactID
	// Key is the idempotency key as it came; nil when there was none.
	Key    []byte
	Status EventStatus
	// Decision says in words why the status is what it is; often empty.
	Decision string
	// DecideAfter is when an accepted event is due to be decided.
	DecideAfter time.Time
	// RuleFailed tells that its key or its type could not be read when it came in.
	RuleFailed bool
	// WaitUntil is until when it was put off, for want of its subject.
	WaitUntil *time.Time
	// OccurredAt is when the thing happened, if the publisher said so.
	OccurredAt *time.Time
	// SecretID is the source's secret that verified it; nil when none did.
	SecretID *SecretID
	// RequestID is the request that it came in, where that is kept by itself:
	// one that brought several events, or was refused at first.
	RequestID *RequestID
	// Span is the piece of a distributed trace that accepted it.
	Span Span
	// BodySize is the payload's size in bytes.
	BodySize int
	// PayloadDeletedAt is when a person deleted the payload; nil while it is there.
	PayloadDeletedAt *time.Time
}

// Body is an event as it came, byte for byte.
type Body struct {
	Method string
	// Path is what followed the token in the ingest URL; Query is the raw query.
	Path, Query []byte
	// Headers are the request's, in HTTP's wire form, secrets redacted.
	Headers []byte
	Data    []byte
}

// DefaultEventType is the type of an event whose source names none.
const DefaultEventType = "webhook.received"

// OwnTypePrefix begins the types of Rowlock's own events, which nobody else
// may publish.
const OwnTypePrefix = "rowlock."

const maxTypeLength = 256

var (
	typePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,255}$`)
	// Types that providers name can have spaces inside: "Push Hook".
	spokenPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/ -]{0,254}[A-Za-z0-9_.:/-]$`)
	uidPattern    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
)

// ValidEventType tells whether a text can be an event's type. The pattern is
// safe to put into a header.
func ValidEventType(text string) bool {
	return len(text) <= maxTypeLength && typePattern.MatchString(text)
}

// CheckPublishedType checks a type that an application names for its event.
func CheckPublishedType(text string) error {
	if !ValidEventType(text) {
		return Invalid("type", "want 1 to 256 letters, digits, _ . : / or -, not beginning with a sign")
	}
	if strings.HasPrefix(text, OwnTypePrefix) {
		return &InvalidError{Field: "type", Code: "type_reserved", Detail: "types that begin with rowlock. are Rowlock's own"}
	}
	return nil
}

// CheckRuleType checks a type that a rule gives an event.
func CheckRuleType(text string) error {
	switch {
	case !ValidEventType(text) && !spokenPattern.MatchString(text):
		return Invalid("type", "want 1 to 256 letters, digits, _ . : / or -, not beginning with a sign")
	case strings.HasPrefix(text, OwnTypePrefix):
		return Invalid("type", "types that begin with rowlock. are Rowlock's own")
	}
	return nil
}

// CheckTypePattern checks one entry of an endpoint's event_types: a type, a
// prefix followed by ".*", or "*".
func CheckTypePattern(pattern string) error {
	if pattern == "*" {
		return nil
	}
	base := strings.TrimSuffix(pattern, ".*")
	if !ValidEventType(base) && !spokenPattern.MatchString(base) {
		return Invalid("event_types", "want event types such as order.created, order.* or *")
	}
	return nil
}

// PatternsFor lists every pattern that matches a type: the type itself, each
// prefix at a dot with ".*", and "*" for all but Rowlock's own types. The
// store looks for endpoints that have one of them.
func PatternsFor(eventType string) []string {
	patterns := []string{eventType}
	for i := len(eventType) - 1; i > 0; i-- {
		if eventType[i] == '.' {
			patterns = append(patterns, eventType[:i]+".*")
		}
	}
	if !strings.HasPrefix(eventType, OwnTypePrefix) {
		patterns = append(patterns, "*")
	}
	return patterns
}

// MatchesType tells whether an endpoint with these patterns asks for a type.
// No patterns ask for everything but Rowlock's own types.
func MatchesType(patterns []string, eventType string) bool {
	own := strings.HasPrefix(eventType, OwnTypePrefix)
	if len(patterns) == 0 {
		return !own
	}
	for _, p := range patterns {
		prefix, wild := strings.CutSuffix(p, "*")
		switch {
		case !wild && p == eventType,
			wild && prefix == "" && !own,
			wild && prefix != "" && strings.HasPrefix(eventType, prefix):
			return true
		}
	}
	return false
}

// CheckUID checks a caller's own name for an object.
func CheckUID(uid string) error {
	if !uidPattern.MatchString(uid) || LooksLikeID(uid) {
		return Invalid("uid", "want 1 to 128 letters, digits, . _ or -, beginning with a letter or digit, and not like an id")
	}
	return nil
}
