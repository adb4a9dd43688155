package page

import (
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Failures is the page of what failed and was given up, in groups.
type Failures struct {
	layout.Frame

	Now time.Time
	// Groups and Ranges are the views of the page.
	Groups, Ranges []component.Choice
	// ByCause tells that a card is a cause, and not an endpoint.
	ByCause bool
	// Narrowed tells that a range leaves something out.
	Narrowed bool
	// Failed is how many there are; More tells that the newest of them were
	// counted alone.
	Failed int
	More   bool
	// Endpoints is how many endpoints they are of.
	Endpoints int
	// Oldest is when the first of them was given up; nil when there is none.
	Oldest *time.Time
	// Today and Yesterday are how many were given up in the last 24 hours, and
	// in the 24 before.
	Today, Yesterday int64
	// Sent is how many were delivered in the last 24 hours.
	Sent  int64
	Cards []FailureCard
	// Hidden is how many cards are left out, those that failed long ago.
	Hidden int
}

// FailureCard is one endpoint's failures by cause, or one cause's by endpoint.
type FailureCard struct {
	// Endpoint is whose failures they are; zero for a cause's.
	Endpoint FailedEndpoint
	Cause    gateway.Cause
	Count    int
	Last     time.Time
	Rows     []FailureRow
	// Hidden is how many rows are left out.
	Hidden int
}

// FailedEndpoint is an endpoint, as failures name it.
type FailedEndpoint struct {
	// Path is its page.
	Path string
	Name string
	// Place is host and path of its URL.
	Place string
	State gateway.EndpointState
}

// FailureRow is the failures of one endpoint for one cause.
type FailureRow struct {
	Endpoint FailedEndpoint
	Cause    gateway.Cause
	// Newest is that of the newest event, and Detail what it was told.
	Newest      gateway.DeliveryID
	Detail      string
	Count       int
	First, Last time.Time
	// Href leads to the list of them.
	Href string
}

// FailedList is the page of the failed deliveries of one group.
type FailedList struct {
	layout.Frame

	Now      time.Time
	Endpoint FailedEndpoint
	// Cause is nil for all causes.
	Cause *gateway.Cause
	Rows  []FailedRow
	// Manages tells that the reader may have them sent again.
	Manages bool
	// Back is the address to come back to then.
	Back string
	// Newest and Older lead through the list; empty where there is nothing.
	Newest, Older string
}

// FailedRow is one failed delivery.
type FailedRow struct {
	Href                string
	EventID             string
	EventType           string
	Cause               gateway.Cause
	Attempts            int
	CreatedAt, ClosedAt time.Time
}

// countText is how many failed, "10,000+" if only the newest were counted.
func (v Failures) countText() string {
	if v.More {
		return component.Number(v.Failed) + "+"
	}
	return component.Number(v.Failed)
}

// trend compares the last 24 hours with those before.
func (v Failures) trend() component.Stat {
	s := component.Stat{Label: "Given up, 24 h", Value: component.Number(v.Today), Note: "as many as the day before"}
	switch {
	case v.Today == 0 && v.Yesterday == 0:
		s.Note = "none the day before, too"
	case v.Today > v.Yesterday:
		s.Change, s.Note, s.Up, s.Tone = component.Number(v.Today-v.Yesterday)+" more", "than the day before", true, component.ToneBad
	case v.Today < v.Yesterday:
		s.Change, s.Note, s.Down, s.Tone = component.Number(v.Yesterday-v.Today)+" fewer", "than the day before", true, component.ToneOK
	}
	return s
}

// affected compares with what is shown: the groups below are by endpoint or by
// cause, and this is the number of endpoints either way.
func (v Failures) affected() string {
	if v.Endpoints == 0 {
		return "all of them are well"
	}
	return "with failed deliveries"
}

// oldestNote follows the length of time.
func (v Failures) oldestNote() string {
	if v.Oldest == nil {
		return "none"
	}
	return "ago"
}

// oldest says how long ago the first of the failures was given up.
func (v Failures) oldest() string {
	if v.Oldest == nil {
		return "–"
	}
	return component.Duration(max(v.Now.Sub(*v.Oldest).Truncate(time.Second), time.Second))
}

// inactive says why what is sent again would not go out.
func (v FailedList) inactive() string {
	switch v.Endpoint.State {
	case gateway.EndpointPaused:
		return "This endpoint is paused."
	case gateway.EndpointDisabled:
		return "Rowlock has disabled this endpoint."
	default:
		return ""
	}
}

func (v FailedList) heading() string {
	if v.Cause == nil {
		return "Failed deliveries"
	}
	return wordsOf(*v.Cause).name
}

func (v FailedList) lede() string {
	if v.Cause == nil {
		return "Given up after their last attempt, newest event first."
	}
	return wordsOf(*v.Cause).note + ". Given up after their last attempt, newest event first."
}

// deliveriesText writes how many there are: "1 delivery".
func deliveriesText(n int) string { return component.Plural(n, "delivery", "deliveries") }

// noun chooses the word that follows a number.
func noun(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// sentText says that things go well, where there is something that does.
func (v Failures) sentText() string {
	if v.Sent == 0 {
		return "A delivery that is given up after its last attempt is listed here, with its cause."
	}
	return component.Plural(v.Sent, "delivery was", "deliveries were") + " confirmed in the last 24 hours, and none is given up."
}
