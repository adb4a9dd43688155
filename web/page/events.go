package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Events is the list of what came in, newest first.
type Events struct {
	layout.Frame

	Now time.Time
	// Path is the list's address without filters.
	Path  string
	Views []component.Choice
	// Saved is the saved view that is shown, and Unsave asks before it is deleted;
	// Save asks for the name of one. All are empty where there is none.
	Saved, Unsave, Save string
	Search              SearchField
	// Statuses, Sources and Endpoints are the choices of filters, and the texts
	// what is chosen; empty is anything.
	Statuses, Sources, Endpoints         []component.Option
	StatusText, SourceText, EndpointText string
	Type, Subject, Key                   TextFilter
	Period                               Period
	// Chart is when the events came in; nil where that is not known.
	Chart *EventChart
	Rows  []EventRow
	// Newest leads back to the first page; empty on it. Older leads on.
	Newest, Older string
	// Looked is how far it was looked, where the time was over before the end; nil
	// where all was.
	Looked *Looked
	Bulk   EventBulk
	// Filtered tells that the list is narrowed by more than time, and Clear
	// where it is not.
	Filtered bool
	Clear    string
	// Wider is the same list of a longer time; empty when there is none. WiderText
	// says what there is, where that is known.
	Wider     component.Choice
	WiderText string
	// Process asks before all that match are decided again; empty where they
	// cannot be.
	Process string
	// None tells that the account has no event at all. Curl sends the first.
	None bool
	Curl string
	// NewSource and NewEndpoint are where both begin; both are empty for who may
	// not.
	NewSource, NewEndpoint string
}

// SearchField is what was typed to find events by, and what is wrong with it.
type SearchField struct{ Value, Error string }

// EventChart is when the events of a list came in.
type EventChart struct {
	Title string
	Names component.SeriesNames
	Bins  []component.Bin
	Marks []string
}

// Looked is how far a list was looked through.
type Looked struct {
	Events int
	Until  time.Time
}

func (l Looked) text() string {
	return "Looked at " + component.Plural(l.Events, "event", "events") + ", back to " + l.Until.UTC().Format("2 Jan, 15:04:05") + " UTC."
}

// EventBulk is what can be done with several events.
type EventBulk struct {
	// Redeliver asks before those that are chosen are sent again, and All before
	// all that match are; empty where that is not possible.
	Redeliver, All string
	// Export is where those that are chosen are downloaded, and Exports all that
	// match.
	Export  string
	Exports []component.Choice
}

// EventRow is an event as a line of a list.
type EventRow struct {
	ID, Href, Type string
	// Status is the event's, or how far its deliveries got.
	Status string
	Source SourceRef
	// Done of Total deliveries were confirmed; no Total shows none.
	Done, Total int
	// Note says what comes next, or why nothing does.
	Note string
	// NextAt is when the next attempt is due; nil shows the Note alone.
	NextAt *time.Time
	// Copies is how often it came again; empty when it did not.
	Copies     string
	ReceivedAt time.Time
	// Open tells that it will change by itself.
	Open bool
}

// SourceRef is where an event came from.
type SourceRef struct {
	Name, Kind string
	// Href leads to it; empty when it is gone.
	Href string
}

// empty says what was looked for in vain.
func (v Events) empty() noMatch {
	title := "No events in this time"
	switch {
	case v.Search.Error != "":
		title = "Nothing was looked for"
	case v.Search.Value != "":
		title = "Nothing found for “" + component.Shorten(v.Search.Value, maxShownKey) + "”"
	case v.Filtered:
		title = "No event matches these filters"
	}
	return noMatch{title: title, period: v.Period, wider: v.Wider, filtered: v.Filtered, clear: v.Clear, found: v.WiderText}
}

// unfinished says that nothing was found as far as it was looked.
func (v Events) unfinished() component.Empty {
	return component.Empty{Icon: "search", Title: "Nothing found so far", Text: v.Looked.text()}
}

// olderLabel is what leads on.
func (v Events) olderLabel() string {
	if v.Looked != nil {
		return "Look further"
	}
	return ""
}

// pagerText says what part of the list is shown, and how far it was looked.
func (v Events) pagerText() string {
	text := pagerText(len(v.Rows), v.Newest == "", "event", "events")
	if v.Looked != nil {
		return component.Plural(len(v.Rows), "event", "events") + ". " + v.Looked.text()
	}
	return text
}

// WiderText says what a list has in a longer time.
func WiderText(n int, more bool, period string) string {
	return "The same search finds " + eventsFound(n, more) + " in " + lowerFirst(period) + "."
}

func eventsFound(n int, more bool) string {
	if more {
		return "more than " + component.Plural(n, "event", "events")
	}
	return component.Plural(n, "event", "events")
}

// searchExamples are searches, and what they find.
var searchExamples = []struct{ text, finds string }{
	{"evt_…, a key, a subject or a type", "what is called so"},
	{"ord_99120", "a text in a header or the body"},
	{"$.data.id = 123", "a number in the body"},
	{`$.items[*].sku = "A-1"`, "a text in any item"},
	{"$.paid = true and $.total > 500", "two things at once"},
	{`header.x-request-id ~ "7f3a"`, "part of a header"},
}
