package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// EndpointNow is how an endpoint does at this moment.
type EndpointNow struct {
	// Recent are its last attempts, oldest first.
	Recent []gateway.Outcome
	// Waiting is how many deliveries are open, WaitingMore that there are more.
	Waiting     int
	WaitingMore bool
	// Oldest is when the event of the oldest of them came in; nil when none is.
	Oldest *time.Time
	// Due are those of them that are due, Later those that wait for a later
	// attempt; DueMore and LaterMore tell that there are more.
	Due, Later         int
	DueMore, LaterMore bool
	// DueSince is when the first of those became due, and NextAt when the first
	// of these does; nil when there is none.
	DueSince, NextAt *time.Time
	// Flow is how many sends may be under way at once.
	Flow gateway.Flow
	// Trouble is why the last attempt failed; nil when none of the recent did.
	Trouble *gateway.Cause
}

// EndpointResumed tells that an endpoint was resumed and has failures from
// before.
type EndpointResumed struct {
	At     time.Time
	Failed int
	More   bool
	// Send is where the newest of them is sent again, Attempts how many it had.
	Send     string
	Attempts int
}

// title says what happened.
func (r EndpointResumed) title(now time.Time) string {
	text := component.Plural(r.Failed, "delivery had", "deliveries had")
	if r.More {
		text = "More than " + component.Number(r.Failed) + " deliveries had"
	}
	return "Resumed " + agoWords(now, r.At) + ". " + text + " failed before."
}

// waiting is what is open: held while the endpoint is not active.
func (v Endpoint) waiting() component.Stat {
	n := v.At
	stat := component.Stat{Label: "Waiting", Value: atLeast(n.Waiting, n.WaitingMore), Note: "none"}
	if !v.active() {
		stat.Label = "Held"
		if n.Waiting > 0 {
			stat.Note = "until it is resumed"
		}
		return stat
	}
	var parts []string
	if n.Due > 0 {
		parts = append(parts, atLeast(n.Due, n.DueMore)+" due now")
	}
	if n.Later > 0 {
		parts = append(parts, atLeast(n.Later, n.LaterMore)+" later")
	}
	if len(parts) > 0 {
		stat.Note = strings.Join(parts, ", ")
	}
	return stat
}

// oldestWaiting is how long ago the event came in that waits for longest.
func (v Endpoint) oldestWaiting() component.Stat {
	n := v.At
	stat := component.Stat{Label: "Oldest waiting", Value: "–", Note: "nothing waits"}
	if n.Oldest == nil {
		return stat
	}
	stat.Value, stat.Unit = numberAndUnit(roundedDown(v.Now.Sub(*n.Oldest)))
	switch {
	case !v.active():
		stat.Note = "its event came in " + ClockText(*n.Oldest, v.Now)
	case n.DueSince != nil:
		stat.Note = "the first is due " + dueText(v.Now.Sub(*n.DueSince))
	case n.NextAt != nil:
		stat.Note = "the next in " + component.Duration(roundedUp(n.NextAt.Sub(v.Now)))
	default:
		stat.Note = "being sent"
	}
	return stat
}

func dueText(d time.Duration) string {
	if d < time.Second {
		return "now"
	}
	return "for " + component.Duration(roundedDown(d))
}

// atOnce is how many sends may be under way now, and why.
func (v Endpoint) atOnce() component.Stat {
	limit := v.Endpoint.MaxInFlight
	stat := component.Stat{Label: "At once", Value: "0", Note: "nothing is sent"}
	if !v.active() {
		return stat
	}
	flow := v.At.Flow
	stat.Value, stat.Unit = component.Number(min(max(flow.Cap, 1), limit)), "of "+component.Number(limit)
	stat.Note = v.flowText()
	if rate := v.Endpoint.RatePerSecond; rate > 0 {
		stat.Note = "paced to " + component.Number(rate) + " a second; " + stat.Note
	}
	return stat
}

// flowText says why the lane is as wide as it is.
func (v Endpoint) flowText() string {
	flow, limit := v.At.Flow, v.Endpoint.MaxInFlight
	switch {
	case flow.SleepUntil.After(v.Now):
		return "one probe at a time, the next in " + component.Duration(roundedUp(flow.SleepUntil.Sub(v.Now)))
	case flow.FailedProbes > 0:
		return "one probe at a time, until one is answered"
	case flow.Cap >= limit:
		return "as many as it may have"
	case flow.NarrowedAt.IsZero():
		return "starts low, one more with each success"
	default:
		return "halved after " + v.troubleText() + " " + agoWords(v.Now, flow.NarrowedAt) + ", one more with each success"
	}
}

// troubleText is why the lane was narrowed, in a word or two.
func (v Endpoint) troubleText() string {
	switch cause := v.At.Trouble; {
	case v.At.Flow.TimingOut:
		return "a timeout"
	case cause == nil:
		return "trouble"
	case cause.ErrorKind == "" && cause.StatusCode != 0:
		return "an answer of " + strconv.Itoa(cause.StatusCode)
	default:
		return "“" + CauseName(*cause) + "”"
	}
}

// laterText says what waits for a later attempt, and when it is due.
func (v Endpoint) laterText() string {
	text := atLeast(v.At.Later, v.At.LaterMore) + " " + noun(v.At.Later, "delivery waits", "deliveries wait") + " for a later attempt"
	if v.At.NextAt != nil {
		text += ", the next in " + component.Duration(roundedUp(v.At.NextAt.Sub(v.Now)))
	}
	return text + "."
}

// gaveUp is how many deliveries ended without a success.
func (v Endpoint) gaveUp() component.Stat {
	n := v.Numbers
	stat := component.Stat{Label: "Given up", Value: component.Number(n.GaveUp), Note: "as many as before"}
	switch {
	case n.GaveUp == 0 && n.BeforeGaveUp == 0:
		stat.Note = "none before, too"
	case n.GaveUp > n.BeforeGaveUp:
		stat.Change, stat.Note, stat.Tone = component.Number(n.GaveUp-n.BeforeGaveUp)+" more", "than before", component.ToneBad
	case n.GaveUp < n.BeforeGaveUp:
		stat.Change, stat.Note, stat.Tone = component.Number(n.BeforeGaveUp-n.GaveUp)+" fewer", "than before", component.ToneOK
	}
	return stat
}
