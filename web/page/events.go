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
	// Statuses and Sources are the choices of two filters, and the texts what
	// is chosen; empty is anything.
	Statuses, Sources      []component.Option
	StatusText, SourceText string
	Type, Subject, Key     TextFilter
	Period                 Period
	Rows                   []EventRow
	// Newest leads back to the first page; empty on it. Older leads on.
	Newest, Older string
	// Filtered tells that the list is narrowed by more than time, and Clear
	// where it is not.
	Filtered bool
	Clear    string
	// Wider is the same list of a longer time; empty when there is none.
	Wider component.Choice
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
	NextAt     *time.Time
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
	if v.Filtered {
		title = "No event matches these filters"
	}
	return noMatch{title, v.Period, v.Wider, v.Filtered, v.Clear}
}
