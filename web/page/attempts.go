package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
)

// Attempts is the list of every attempt, those that started last first.
type Attempts struct {
	SentList

	Rows []AttemptLine
}

var attemptWords = sentWords{
	lede: "Every attempt to send an event to an endpoint.", one: "attempt", many: "attempts", outcome: "Outcome",
	topic: "attempts", newOne: "new attempt", newMany: "new attempts",
}

// AttemptLine is an attempt as a line of a list.
type AttemptLine struct {
	ID, Href string
	Code     int
	Failure  string
	Tone     component.Tone
	// Type is the event's; empty when it is no longer kept.
	Type      string
	Event     string
	Endpoint  string
	Host      string
	N         int
	Trigger   string
	Took      time.Duration
	StartedAt time.Time
}
