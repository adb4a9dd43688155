package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Facts is the list of what events told of their subjects.
type Facts struct {
	layout.Frame

	Now time.Time
	// Path is the list's address without filters.
	Path           string
	Sources        []component.Option
	SourceText     string
	Subject, State TextFilter
	Rows           []FactRow
	// Newest leads back to the first page; empty on it. Older leads on.
	Newest, Older string
	// Filtered tells that the list is narrowed.
	Filtered bool
	// None tells that the account has no fact at all; SourcesHref is where rules
	// are made.
	None        bool
	SourcesHref string
}

// FactRow is what is known of a subject, as a line.
type FactRow struct {
	Href, Subject, State string
	Terminal             bool
	Source               SourceRef
	// EventHref leads to the event that set the state.
	EventHref, EventID string
	ToldAt             time.Time
}

// SubjectFact is what is known of a subject, with who reported what.
type SubjectFact struct {
	layout.Frame
	FactRow

	Now time.Time
	ID  string
	// List leads to all facts, EventsHref to all events of the subject.
	List, EventsHref string
	// Seen are the states that were told, oldest first.
	Seen    []string
	FirstAt time.Time
	Reports []ReportRow
	// More tells that there are older reports than these.
	More bool
	// RuleHref leads to the source's rule; empty where the source is gone.
	RuleHref string
}

// ReportRow is an event that said something of a subject.
type ReportRow struct {
	Href, State, Status, Note string
	At                        time.Time
}

// refused is how many reports told nothing new.
func (f SubjectFact) refused() int {
	n := 0
	for _, r := range f.Reports {
		if r.Status == "duplicate_fact" || r.Status == "stale_fact" {
			n++
		}
	}
	return n
}

// reportsText says how many reports are listed.
func (f SubjectFact) reportsText() string {
	text := component.Plural(len(f.Reports), "report", "reports")
	if f.More {
		text = "the newest " + component.Number(len(f.Reports))
	}
	return text + ", " + component.Number(f.refused()) + " refused"
}

// outlook says what a later report can still change.
func (f SubjectFact) outlook() string {
	if f.Terminal {
		return "This is the last word: whatever is reported of it later changes nothing, and is not told."
	}
	return "A report of another state is told, unless the rule says that it comes before this one."
}
