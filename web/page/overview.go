package page

import (
	"math"
	"strconv"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Overview is the first page of an account: how it does, and what needs
// somebody.
type Overview struct {
	layout.Frame
	Now time.Time
	// Range is the time that is shown, in words: "24 h". Per is what a bar of
	// the chart stands for: "15 minutes".
	Range, Per string
	// Start are the first steps; nil once they are taken.
	Start *Start
	// Quiet tells that nothing has happened yet, so that there is nothing to
	// count.
	Quiet   bool
	Numbers OverviewNumbers
	Chart   EndpointChart
	// StuckClaims are those that need somebody, those that wait for longest
	// first; how many there are is in the frame.
	StuckClaims []ClaimRow
	Troubled    []TroubledEndpoint
	// MoreTroubled tells that there are more than are shown.
	MoreTroubled bool
	// Calm is how the endpoints are when none is troubled.
	Calm     Calm
	Activity []Activity
	// Busiest are the types of which most came in, and BusiestIn in which time.
	Busiest   []BusyType
	BusiestIn string
}

// BusyType is how many events of a type came in.
type BusyType struct {
	Type, Href string
	Events     int64
	// All is how many of any type came in meanwhile.
	All int64
}

// share is the type's part of all; empty where that is not known.
func (t BusyType) share() string {
	if t.All < t.Events || t.All == 0 {
		return ""
	}
	const percent = 100
	return strconv.FormatFloat(float64(t.Events)/float64(t.All)*percent, 'f', 0, 64) + " %"
}

// OverviewNumbers are what happened in the time that is shown, and in the one
// of the same length before it.
type OverviewNumbers struct {
	Attempts, Succeeded, BeforeAttempts, BeforeSucceeded int64
	// P95 is how long 19 of 20 answers took at most; zero when none came.
	P95, BeforeP95 time.Duration
	// Received are the events, ReceivedMore that there are more than were
	// counted.
	Received, BeforeReceived int64
	ReceivedMore             bool
	// Waiting are the deliveries to be sent, Held those of endpoints that are
	// not active, Failed those that were given up.
	Waiting, Held, Failed   int
	WaitingMore, FailedMore bool
	// The trends are in steps of the time, oldest first.
	SuccessTrend, LatencyTrend, ReceivedTrend, FailedTrend []float64
}

// Start are the first steps of an account.
type Start struct {
	Source, Endpoint, Event, Delivered bool
	// Person is the first name of who reads it.
	Person string
	// Manages tells that the reader may take the steps.
	Manages bool
	// Publish is a command that sends an event in.
	Publish string
	// Newest is the page of the newest event, Unasked that of the newest that no
	// endpoint asked for; each is empty when there is none, or when something
	// was delivered.
	Newest, Unasked string
	// Ingest is the newest source that somebody else can send to; its URL is
	// empty when there is none.
	Ingest StartSource
}

// StartSource is a source that waits for its first request.
type StartSource struct {
	Name, Kind, URL, Path string
}

// done is how many of the four steps are taken.
func (s Start) done() int {
	n := 0
	for _, step := range []bool{s.cameIn(), s.Endpoint, s.Event, s.Delivered} {
		if step {
			n++
		}
	}
	return n
}

// cameIn tells that there is a way in that is used, or a source of their own:
// who publishes by the API needs none.
func (s Start) cameIn() bool { return s.Source || s.Event }

// deliverStep is which of the steps is the delivery.
const deliverStep = 3

// steps are the four steps; the first that is not taken is the next one.
func (s Start) steps() []component.ChecklistItem {
	steps := []component.ChecklistItem{
		{Title: "Add a source", Text: "Choose who sends to you. You get a URL to paste into their settings. To send events yourself, use the API.", Done: s.cameIn()},
		{Title: "Add an endpoint", Text: "Where Rowlock delivers: a URL of your service.", Done: s.Endpoint},
		{Title: "Receive the first event", Text: "From the source, or with the command on this page.", Done: s.Event},
		{Title: "Deliver it", Text: "Rowlock signs it and sends it until your endpoint confirms it.", Done: s.Delivered},
	}
	if s.Unasked != "" {
		steps[deliverStep].Text = "The first event came before an endpoint asked for it."
	}
	next := true
	for i := range steps {
		steps[i].Number = strconv.Itoa(i + 1)
		steps[i].Now = next && !steps[i].Done
		next = next && steps[i].Done
	}
	return steps
}

// TroubledEndpoint is one whose last attempts failed, or that Rowlock stopped.
type TroubledEndpoint struct {
	Name, Address, Path string
	// State is "failing" or "disabled".
	State string
	// Reason is why it was disabled.
	Reason string
	// Recent are its last attempts, oldest first.
	Recent []gateway.Outcome
	// Code is the answer to the newest that failed, Failure why there was none;
	// neither is known when none of the recent failed.
	Code    int
	Failure string
	Tone    component.Tone
	Since   time.Time
	// Attempts and Succeeded are those of the time that is shown.
	Attempts, Succeeded int64
	// Waiting is how many deliveries are open, WaitingMore that there are more.
	Waiting     int
	WaitingMore bool
}

// Calm is how the endpoints of an account are of which none is troubled.
type Calm struct {
	// Endpoints and Paused count those that were looked at, More tells that
	// there are others.
	Endpoints, Paused int
	More              bool
	// Resumed tells that one was paused or disabled before: its failures of then
	// are forgotten, and its last attempt may be one of them.
	Resumed bool
	// Sent tells that there was an attempt.
	Sent bool
}

// well tells that something was sent, and that it arrived.
func (c Calm) well() bool { return c.Endpoints > 0 && c.Paused == 0 && c.Sent }

func (c Calm) text() string {
	switch {
	case c.Endpoints == 0:
		return "There is no endpoint yet, so nothing can be sent."
	case c.Paused == 1:
		return "None fails. One is paused: nothing is sent to it."
	case c.Paused > 1:
		return "None fails. " + component.Number(c.Paused) + " are paused: nothing is sent to them."
	case !c.Sent:
		return "Nothing was sent yet."
	case c.Resumed || c.More:
		return "None. No endpoint is failing or disabled."
	default:
		return "None. Every endpoint’s last attempt succeeded."
	}
}

// Activity is one line of what was done, in words: "Mara paused ERP sync".
type Activity struct {
	// Who did it: a person, a key, or Rowlock.
	Who string
	// Key tells that it was an API key.
	Key bool
	// Did is such as "paused the endpoint".
	Did string
	// What was acted on, and where its page is; either can be empty.
	What, Path string
	At         time.Time
}

// success is the share of attempts that succeeded.
func (v Overview) success() component.Stat {
	n := v.Numbers
	s := component.Stat{Label: "Success", Value: "–", Note: "no attempts in " + v.Range}
	if n.Attempts == 0 {
		return s
	}
	s.Value, s.Unit, s.Note = successShare(n.Succeeded, n.Attempts), "%", v.before()
	if n.BeforeAttempts == 0 {
		s.Note = "of " + component.Plural(n.Attempts, "attempt", "attempts")
		return s
	}
	const percent, seen = 100, 0.05
	points := percent * (float64(n.Succeeded)/float64(n.Attempts) - float64(n.BeforeSucceeded)/float64(n.BeforeAttempts))
	switch {
	case points >= seen:
		s.Up, s.Tone = true, component.ToneOK
	case points <= -seen:
		s.Down, s.Tone, points = true, component.ToneBad, -points
	default:
		s.Note = "as in the " + v.Range + " before"
		return s
	}
	s.Change = pointsText(points)
	return s
}

// before names what numbers are compared with.
func (v Overview) before() string { return "vs previous " + v.Range }

// latency is how long answers took.
func (v Overview) latency() component.Stat {
	n := v.Numbers
	s := component.Stat{Label: "p95 latency", Value: "–", Note: "no answers in " + v.Range}
	if n.P95 == 0 {
		return s
	}
	s.Value, s.Unit = numberAndUnit(n.P95)
	s.Note = "19 of 20 answers took no longer"
	if n.BeforeP95 == 0 {
		return s
	}
	const part = 20 // less than a twentieth is no change
	switch d := n.P95 - n.BeforeP95; {
	case d > n.BeforeP95/part:
		s.Up, s.Change, s.Note = true, component.Duration(d), v.before()
	case d < -n.BeforeP95/part:
		s.Down, s.Change, s.Note = true, component.Duration(-d), v.before()
	default:
		s.Note = "as in the " + v.Range + " before"
	}
	return s
}

// received is how many events came in.
func (v Overview) received() component.Stat {
	n := v.Numbers
	s := component.Stat{Label: "Events received", Value: atLeast(int(n.Received), n.ReceivedMore), Note: "in " + v.Range, Href: v.Account.Path + "/events"}
	if n.ReceivedMore || n.BeforeReceived == 0 || n.Received == n.BeforeReceived {
		return s
	}
	const percent = 100
	change := float64(n.Received-n.BeforeReceived) / float64(n.BeforeReceived) * percent
	s.Up, s.Down = change > 0, change < 0
	s.Change, s.Note = component.Number(int64(math.Round(max(change, -change))))+" %", v.before()
	return s
}

// waiting is what is still to be sent, and what was given up.
func (v Overview) waiting() component.Stat {
	n := v.Numbers
	s := component.Stat{Label: "Waiting to be sent", Value: atLeast(n.Waiting, n.WaitingMore), Note: "no failed deliveries", Href: v.Account.Path + "/endpoints"}
	if n.Failed > 0 {
		s.Change, s.Note, s.Tone = atLeast(n.Failed, n.FailedMore), "failed", component.ToneBad
		s.Href = v.Account.Path + "/failures"
	}
	if n.Held > 0 {
		s.Note += ", " + component.Number(n.Held) + " held"
	}
	return s
}

func (v Overview) failedTone() string {
	if v.Numbers.Failed > 0 {
		return "bad"
	}
	return ""
}

func (v Overview) successTone() string { return string(v.success().Tone) }

// chartTitle says what the chart shows.
func (v Overview) chartTitle() string { return "Deliveries in the last " + v.Range }

func (t TroubledEndpoint) share() string {
	if t.Attempts == 0 {
		return "–"
	}
	return successShare(t.Succeeded, t.Attempts) + "%"
}
