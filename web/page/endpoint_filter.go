package page

import "time"

// FilterTrial is what a filter says of real events.
type FilterTrial struct {
	Now    time.Time
	Events []TriedEvent
	// Error says why it could not be tried; where the field itself says so, it
	// is empty.
	Error string
}

// TriedEvent is an event that a filter was tried on.
type TriedEvent struct {
	Type, Href string
	At         time.Time
	Matches    bool
	// Reason says why the filter has no answer, which counts as no.
	Reason string
}

func (t FilterTrial) matching() int {
	n := 0
	for _, e := range t.Events {
		if e.Matches {
			n++
		}
	}
	return n
}

// EndpointFilterTried is the id of what shows how a filter did.
const EndpointFilterTried = "filter-tried"

// filterExample is a filter to learn from.
type filterExample struct{ code, text string }

// filterExamples are a filter for each of what people ask first.
var filterExamples = []filterExample{
	{`body.amount > 100`, "A number above another one"},
	{`body.currency in ["EUR", "CHF"]`, "One of several values"},
	{`has(body.discount) && body.discount > 5`, "A field that is not always there"},
	{`body.items.exists(i, i.sku == "A-1")`, "One item of a list, at least"},
	{`headers["x-github-event"] == "push"`, "A header, named in lower case"},
	{`body.email.matches("@example\\.com$")`, "A text that ends so, by a regular expression"},
}

// filterVariables are what a filter sees.
var filterVariables = []filterExample{
	{`body`, "The payload, decoded from JSON; null when it is none."},
	{`headers`, "The request’s headers, by their names in lower case."},
	{`query`, "The parameters of the request’s address."},
	{`type`, "The event’s type."},
	{`subject`, "What the event is about; empty when nobody said."},
	{`source`, "Where it came from: source.name, source.kind, source.id and source.uid."},
}
