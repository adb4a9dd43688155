package page

import (
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// The states of failures that the page shows one of.
const (
	FailuresOpen      = "open"
	FailuresRetrying  = "retrying"
	FailuresDismissed = "dismissed"
)

// How failures are put together.
const (
	ByEndpoint = "endpoint"
	ByCause    = "cause"
	Ungrouped  = "none"
)

// Failures is the page of what failed, in groups.
type Failures struct {
	layout.Frame

	Now time.Time
	// States, Groups and Ranges are the views of the page.
	States, Groups, Ranges []component.Choice
	// State is one of FailuresOpen and its like, Group of ByEndpoint and its.
	State, Group string
	// Narrowed tells that a range leaves something out, and Wider shows all.
	Narrowed bool
	Wider    string
	// Manages tells that the reader may do something about them.
	Manages bool
	Numbers FailureNumbers
	// Sent is how many were delivered in the last 24 hours, where nothing failed.
	Sent  int64
	Cards []FailureCard
	// Hidden is how many cards are left out, those that failed long ago.
	Hidden int
}

// FailureNumbers are how many deliveries failed, in the time that is shown.
type FailureNumbers struct {
	// Open were given up, Dismissed too and need nobody, Retrying failed at
	// their last attempt and are still to be tried.
	Open, Dismissed, Retrying int
	// FailedMore and RetryingMore tell that the newest were counted alone.
	FailedMore, RetryingMore bool
	// Held are those of Retrying whose endpoint is paused or disabled.
	Held int
	// Affected is how many endpoints have open failures, or retry.
	Affected int
	// Newest is when the last of the open ones was given up, Next when the first
	// of those that are retried, and not held, is tried again; nil when there is none.
	Newest, Next *time.Time
}

// FailureCard is one endpoint's failures by cause, one cause's by endpoint, or
// all of them.
type FailureCard struct {
	// Endpoint is whose failures they are; zero for a cause's.
	Endpoint FailedEndpoint
	Cause    gateway.Cause
	Count    int
	Last     time.Time
	Rows     []FailureRow
	// Hidden is how many rows are left out.
	Hidden int
	// Does is what can be done about all of them.
	Does FailureActs
}

// FailureActs are the addresses of what can be done about failures; empty where
// it cannot.
type FailureActs struct {
	// View lists them, Recover and Dismiss ask before they do it, SendNow too.
	View, Recover, Dismiss, SendNow string
	// Resume is where a form sends that an endpoint goes on that is paused or
	// disabled.
	Resume string
	// Restore takes a dismissal back; nil where there is none.
	Restore *FailureRestore
}

// FailureRestore is what a form sends that takes a dismissal back.
type FailureRestore struct {
	Action, Endpoint, Cause, Next string
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
	// Detail is what most of the newest were told.
	Detail      string
	Count       int
	First, Last time.Time
	// Next is when the first of them is tried again; nil for those given up.
	Next *time.Time
	// Trend is how many there were over time, oldest first.
	Trend []float64
	// Dismissal is the last one; nil when there was none. Dismissed tells that
	// nothing was given up since.
	Dismissal *FailureDismissal
	Dismissed bool
	Does      FailureActs
}

// FailureDismissal says who dismissed failures, and why.
type FailureDismissal struct {
	By, Note string
	At       time.Time
}

// DismissQuestion asks why failures need nobody any more.
type DismissQuestion struct {
	// Action is where the answer is posted, Cancel the page to go back to.
	Action, Cancel string
	// Title says which failures these are, and Count how many.
	Title string
	Count int
	// Endpoint, Cause and Seen go with the answer: which they are, and when the
	// newest was given up that was seen.
	Endpoint, Cause, Seen string
	Entered               string
	Heading               bool
	Errors                Errors
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
	// Recover asks before all of them are, beyond this page too; empty where the
	// list is.
	Recover string
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

// counted is the number of all that are shown, where only the newest were
// looked at.
func (v Failures) counted() string {
	switch {
	case v.State == FailuresRetrying && v.Numbers.RetryingMore:
		return component.Number(v.Numbers.Retrying)
	case v.State != FailuresRetrying && v.Numbers.FailedMore:
		return component.Number(v.Numbers.Open + v.Numbers.Dismissed)
	default:
		return ""
	}
}

// spanTitle says what the times of a group are.
func spanTitle(state string) string {
	if state == FailuresRetrying {
		return "Events came in"
	}
	return "First and last"
}

// trendText describes a trend to those who do not see it.
func (r FailureRow) trendText() string {
	most := 0.0
	for _, n := range r.Trend {
		most = max(most, n)
	}
	return "Over time, at most " + component.Number(int(most)) + " at once"
}

// nextText says when the first of a group is tried again.
func (r FailureRow) nextText(now time.Time) string {
	if s := r.Endpoint.State; s == gateway.EndpointPaused || s == gateway.EndpointDisabled {
		return "held: its endpoint is " + string(s)
	}
	if !r.Next.After(now) {
		return "the next is due"
	}
	return "the next in " + component.Duration(roundedUp(r.Next.Sub(now)))
}

// shownNote is how much of a note is shown among others, in characters.
const shownNote = 200

// bySomebody says who dismissed, at the beginning of a sentence.
func (d FailureDismissal) bySomebody() string {
	if d.By == "" {
		return "Dismissed"
	}
	return "Dismissed by " + d.By
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
