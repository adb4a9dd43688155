package page

import (
	"time"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Operations is the list of bulk operations, newest first.
type Operations struct {
	layout.Frame

	Now           time.Time
	Rows          []OperationRow
	Newest, Older string
	// Failures and Deliveries are where operations begin.
	Failures, Deliveries string
}

// open tells that one of them goes on.
func (v Operations) open() bool {
	for _, row := range v.Rows {
		if row.State.IsOpen() {
			return true
		}
	}
	return false
}

// OperationRow is a bulk operation as a line of a list.
type OperationRow struct {
	Href string
	// What says what it does, About to what.
	What, About string
	State       gateway.OperationState
	DryRun      bool
	Total       int
	Done        int
	Failed      int
	Who         string
	CreatedAt   time.Time
}

// Operation is the page of one bulk operation.
type Operation struct {
	layout.Frame

	Now time.Time
	// What says what it does, About to what.
	What, About string
	// List is where all are, Stop where the question is before it is stopped.
	List, Stop string
	Manages    bool
	Operation  gateway.Operation
	Who        string
	// StoppedBy is who stopped it; empty when nobody did.
	StoppedBy string
	// Fared is how what it opened did since; nil where that is not known.
	Fared *OperationFared
	// PerSecond is how many it has opened a second so far, Left how long it takes
	// at this pace; zero where there is nothing to say.
	PerSecond float64
	Left      time.Duration
	// Held is why what it opened waits: "paused", "disabled" or empty.
	Held string
	// Endpoint is the endpoint's page, Failed and All the lists of its
	// deliveries; each empty where there is none.
	Endpoint, EndpointName, Failed, All string
	// Rest is where the question is before what a stopped recovery left is
	// recovered; empty where there is nothing to ask.
	Rest string
}

// OperationFared is how what an operation opened did since.
type OperationFared struct {
	Delivered, FailedAgain, Waiting, Other int
	// More tells that there are more than were counted.
	More bool
}

// moving tells that the page changes by itself.
func (v Operation) moving() bool {
	return v.Operation.State.IsOpen() || v.Fared != nil && v.Fared.Waiting > 0 ||
		v.Operation.State == gateway.OperationCancelled && v.Operation.SettledAt == nil
}

// live marks a part that the page's script reads anew.
func (v Operation) live() templ.Attributes {
	if !v.moving() {
		return nil
	}
	return templ.Attributes{"data-live-refresh": "attempts operation"}
}

// operationWords are what an operation is about and what it does to it.
type operationWords struct{ one, many, opened string }

func (v Operation) words() operationWords {
	switch v.Operation.Kind {
	case gateway.OperationReprocess:
		return operationWords{"event", "events", "Processed again"}
	case gateway.OperationRecoverMissing:
		return operationWords{"delivery", "deliveries", "Created"}
	case gateway.OperationReconcile:
		return operationWords{"delivery", "deliveries", "Created or reopened"}
	case gateway.OperationRecoverFailed, gateway.OperationRedeliver:
	}
	return operationWords{"delivery", "deliveries", "Reopened"}
}

// operationBadge is the state's name among badges.
func operationBadge(state gateway.OperationState) string {
	if state == gateway.OperationCancelled {
		return "stopped"
	}
	return string(state)
}

// handled is how many it is done with.
func (v Operation) handled() int { return v.Operation.Done + v.Operation.Failed }

// left is how many are still to come.
func (v Operation) left() int {
	if !v.Operation.State.IsOpen() {
		return 0
	}
	return max(v.Operation.Total-v.handled(), 0)
}

// gone is how many were not what they were any more when their turn came.
func (v Operation) gone() int {
	if v.Operation.State != gateway.OperationDone || v.Operation.DryRun {
		return 0
	}
	return max(v.Operation.Total-v.handled(), 0)
}

// progress says how far it got.
func (v Operation) progress() string {
	o, w := v.Operation, v.words()
	switch {
	case o.State == gateway.OperationCounting:
		return "Counting: " + component.Plural(o.Total, w.one, w.many) + " so far."
	case o.DryRun:
		return component.Plural(o.Total, w.one, w.many) + " counted. Nothing was changed."
	case o.Total == 0:
		return "Nothing matches."
	}
	text := component.Number(v.handled()) + " of " + component.Plural(o.Total, w.one, w.many)
	if o.State != gateway.OperationRunning || v.PerSecond <= 0 {
		return text
	}
	text += " · " + perSecondText(v.PerSecond)
	if v.Left > 0 {
		text += " · about " + component.Duration(v.Left) + " left"
	}
	return text
}

// perSecondText is a pace in words.
func perSecondText(pace float64) string {
	if pace < 1 {
		return "less than one a second"
	}
	return component.Number(int(pace+0.5)) + " a second"
}

// endedAt is when it was done or stopped; zero while it is not.
func (v Operation) endedAt() time.Time {
	if v.Operation.FinishedAt == nil {
		return time.Time{}
	}
	return *v.Operation.FinishedAt
}

// bar is how far it got: what was delivered, what failed again, and the rest.
func (v Operation) bar() []component.BarPart {
	acted := v.handled() - v.Operation.Restored
	parts := []component.BarPart{{Value: float64(acted)}}
	if f := v.Fared; f != nil && !f.More {
		parts = []component.BarPart{
			{Value: float64(f.Delivered), Tone: component.ToneOK},
			{Value: float64(f.FailedAgain), Tone: component.ToneBad},
			{Value: float64(max(acted-f.Delivered-f.FailedAgain, 0))},
		}
	}
	return parts
}

// StopOperation asks before an operation is stopped.
type StopOperation struct {
	Action, Cancel string
	Operation      gateway.Operation
	// Waiting is how many are put back; WaitingMore that there are more.
	Waiting     int
	WaitingMore bool
	Heading     bool
}

func (q StopOperation) text() []string {
	o := q.Operation
	one, many := "delivery", "deliveries"
	if o.Kind == gateway.OperationReprocess {
		one, many = "event", "events"
	}
	var text []string
	if left := o.Total - o.Done - o.Failed; left > 0 {
		text = append(text, component.Plural(left, one, many)+" of "+component.Number(o.Total)+" are not touched any more.")
	}
	if o.Kind == gateway.OperationReprocess {
		return append(text, "What was put back to be decided is decided.")
	}
	waiting := component.Plural(q.Waiting, one, many)
	if q.WaitingMore {
		waiting = "More than " + waiting
	}
	if q.Waiting > 0 {
		text = append(text, waiting+" that wait and were not tried since are put back to what they were.")
	}
	return append(text, "What was tried or is on its way stays as it is.")
}

// fared is a number of what was opened; with a plus where there may be more.
func (v Operation) fared(n int) string {
	if v.Fared.More {
		return component.Number(n) + "+"
	}
	return component.Number(n)
}

func (v Operation) skippedNote() string {
	if v.Operation.Restored > 0 {
		return component.Number(v.Operation.Restored) + " put back"
	}
	if v.Operation.Failed > 0 {
		return component.Number(v.Operation.Failed) + " skipped"
	}
	return "none skipped"
}

func (v Operation) waitingLabel() string {
	if v.Held != "" {
		return "Held"
	}
	return "Waiting"
}

func (v Operation) waitingNote() string {
	if v.Held != "" && v.Fared.Waiting > 0 {
		return "the endpoint is " + v.Held
	}
	return "on their way or to be retried"
}

// notes say what the numbers mean, and what comes next.
func (v Operation) notes() []string {
	o, w := v.Operation, v.words()
	var lines []string
	add := func(when bool, line string) {
		if when {
			lines = append(lines, line)
		}
	}
	add(o.PerSecond > 0, "At most "+component.Number(o.PerSecond)+" a second.")
	opening := o.State == gateway.OperationRunning && v.Held == "" && o.Kind != gateway.OperationReprocess
	add(opening && o.Filter.Endpoint != nil, "At most 1,000 wait at a time, behind what comes in: the rest follows as they go out.")
	// A slow endpoint of several does not hold up the others: more wait there.
	add(opening && o.Filter.Endpoint == nil, "They wait behind what comes in: the rest follows as they go out.")
	add(v.Held != "", "The endpoint is "+v.Held+": what was opened is held, and goes out when somebody resumes it.")
	add(o.Failed > 0, component.Plural(o.Failed, w.one+" was", w.many+" were")+" skipped: the payload, the endpoint or the comparison was deleted, or the attempts are used up.")
	add(v.gone() > 0, component.Plural(v.gone(), w.one+" was", w.many+" were")+" taken care of by somebody else meanwhile.")
	stopped := "Stopped"
	if v.StoppedBy != "" {
		stopped += " by " + v.StoppedBy
	}
	add(o.State == gateway.OperationCancelled, stopped+"."+v.restored())
	add(v.Fared != nil && v.Fared.More, "More than "+component.Number(v.Fared.counted())+" were opened: of these so many are counted.")
	add(o.State == gateway.OperationDone && !o.DryRun && v.Fared != nil && v.Fared.FailedAgain > 0, "See why they failed again before you recover them once more.")
	add(len(lines) == 0 && o.State == gateway.OperationDone && !o.DryRun, "Done in "+component.Duration(max(v.endedAt().Sub(o.CreatedAt), 0))+".")
	return lines
}

// restored says what became of what was open when it was stopped, as a sentence
// behind another.
func (v Operation) restored() string {
	w := v.words()
	switch n := v.Operation.Restored; n {
	case 0:
		return ""
	case 1:
		return " 1 " + w.one + " that was not tried yet went back to what it was."
	default:
		return " " + component.Plural(n, w.one, w.many) + " that were not tried yet went back to what they were."
	}
}

func (f *OperationFared) counted() int {
	if f == nil {
		return 0
	}
	return f.Delivered + f.FailedAgain + f.Waiting + f.Other
}
