package page

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Endpoint is the page of one endpoint.
type Endpoint struct {
	layout.Frame

	// Now is the time that everything is relative to.
	Now time.Time
	// Endpoint holds its own headers by their names alone.
	Endpoint gateway.Endpoint
	// Listener is who makes its attempts, if it has no address.
	Listener EndpointListener
	// Manages tells that the reader may change it and see its secrets.
	Manages bool
	// Operates tells that the reader may pause and resume it, send tests and
	// recover what failed.
	Operates bool
	// State is what EndpointState says.
	State string
	// At is how it does at this moment.
	At EndpointNow
	// Resumed is set when it was resumed lately and had failures before.
	Resumed *EndpointResumed
	// Failures are the open ones.
	Failures FailureCard
	// Recover asks before what failed there is sent again; empty when nothing is
	// open.
	Recover string
	// Failover is the endpoint that gets what this one could not be given; its
	// path is empty when there is none.
	Failover FailedEndpoint
	// Trouble is why nothing, or not everything, arrives; nil when all is well.
	Trouble *EndpointTrouble
	// Test is the answer to the test event that was just sent; nil is none.
	Test     *EndpointTest
	Numbers  EndpointNumbers
	Chart    EndpointChart
	Attempts EndpointAttempts
	Secrets  []EndpointSecret
	Server   EndpointDefaults
}

// EndpointDefaults are what the server does where an endpoint has no choice of
// its own.
type EndpointDefaults struct {
	Schedule []time.Duration
	Timeout  time.Duration
}

// EndpointTrouble is why nothing arrives, since when, and what to do.
type EndpointTrouble struct {
	Tone        component.Tone
	Title, Text string
	// Resume offers to make the endpoint active again.
	Resume bool
}

// EndpointTest is the answer to a test event.
type EndpointTest struct {
	gateway.Attempt

	EventType string
}

// EndpointNumbers are what happened in a time, and in the time before it.
type EndpointNumbers struct {
	// Attempts and Succeeded are of the time, BeforeAttempts and
	// BeforeSucceeded of the one before.
	Attempts, Succeeded, BeforeAttempts, BeforeSucceeded int64
	// P95 is how long 19 of 20 answers took; zero when none came.
	P95, BeforeP95 time.Duration
	// GaveUp is how many attempts were the last of their delivery and failed.
	GaveUp, BeforeGaveUp int64
}

// EndpointChart is what happened over time.
type EndpointChart struct {
	Bins  []component.Bin
	Marks []string
	// Title names the time: "Last 24 hours".
	Title string
	// Range is the length that is shown, Ranges those that can be chosen.
	Range  string
	Ranges []component.Choice
}

// EndpointAttempts is a part of the list of attempts.
type EndpointAttempts struct {
	Rows    []EndpointAttempt
	Filters []component.Choice
	// Filtered tells that not all are asked for, and All leads to them.
	Filtered bool
	All      string
	// Most is how many attempts a delivery gets by the schedule.
	Most int
	// Newest and Older lead through the list; empty where there is nothing.
	Newest, Older string
}

// EndpointAttempt is one attempt as a line of the list.
type EndpointAttempt struct {
	gateway.Attempt

	// EventType is empty when the event is gone.
	EventType string
}

// EndpointSecret is a live signing secret.
type EndpointSecret struct {
	ID        gateway.SecretID
	CreatedAt time.Time
	// EndsAt is when it stops signing; nil for the current one.
	EndsAt *time.Time
	// Replaced is when the overlap began that ends with EndsAt.
	Replaced time.Time
	// Public is what verifies signatures of an Ed25519 key, which is shown to
	// everybody; empty for a secret that both sides share.
	Public string
	// Value is the secret itself where it is shown; empty where it is not.
	Value string
}

func (v Endpoint) name() string { return EndpointName(v.Endpoint.URL, v.Endpoint.Description) }

// at is an address below the endpoint's own.
func (v Endpoint) at(parts ...string) string {
	return v.Account.Path + "/endpoints/" + strings.Join(append([]string{v.Endpoint.ID.String()}, parts...), "/")
}

// attemptAt is where one attempt is shown: on its delivery's page.
func (v Endpoint) attemptAt(a EndpointAttempt) string {
	return v.Account.Path + "/deliveries/" + a.DeliveryID.String() + "?attempt=" + strconv.Itoa(a.N) + "#" + a.ID().String()
}

func (v Endpoint) active() bool { return v.Endpoint.State == gateway.EndpointActive }

// success is the share of attempts that succeeded, beside that of the time
// before.
func (v Endpoint) success() component.Stat {
	n := v.Numbers
	stat := component.Stat{Label: "Success, " + v.Chart.Range, Value: "–", Note: "no attempts"}
	if n.Attempts == 0 {
		return stat
	}
	stat.Value, stat.Unit, stat.Note = successShare(n.Succeeded, n.Attempts), "%", "nothing to compare with"
	if n.BeforeAttempts == 0 {
		return stat
	}
	const percent, seen = 100, 0.05
	points := percent * (float64(n.Succeeded)/float64(n.Attempts) - float64(n.BeforeSucceeded)/float64(n.BeforeAttempts))
	switch {
	case points >= seen:
		stat.Change, stat.Note, stat.Tone = pointsText(points), "higher", component.ToneOK
	case points <= -seen:
		stat.Change, stat.Note, stat.Tone = pointsText(-points), "lower", component.ToneBad
	default:
		stat.Note = "as in the " + v.Chart.Range + " before"
	}
	return stat
}

func pointsText(points float64) string { return strconv.FormatFloat(points, 'f', 1, 64) + " pts" }

// latency is how long answers took, beside that of the time before.
func (v Endpoint) latency() component.Stat {
	n := v.Numbers
	stat := component.Stat{Label: "p95 latency", Value: "–", Note: "no answers"}
	if n.P95 == 0 {
		return stat
	}
	stat.Value, stat.Unit = numberAndUnit(n.P95)
	stat.Note = "nothing to compare with"
	const part = 20 // a change of less than a twentieth is none
	switch d := n.P95 - n.BeforeP95; {
	case n.BeforeP95 == 0:
	case d > n.BeforeP95/part:
		stat.Change, stat.Note, stat.Tone = component.Duration(d), "slower", component.ToneBad
	case d < -n.BeforeP95/part:
		stat.Change, stat.Note, stat.Tone = component.Duration(-d), "faster", component.ToneOK
	default:
		stat.Note = "as in the " + v.Chart.Range + " before"
	}
	return stat
}

// numberAndUnit parts "412 ms"; a length of two units stays whole.
func numberAndUnit(d time.Duration) (number, unit string) {
	text := component.Duration(d)
	number, unit, _ = strings.Cut(text, " ")
	if strings.ContainsAny(number, "mhd") {
		return text, ""
	}
	return number, unit
}

func (v Endpoint) delivered() component.Stat {
	return component.Stat{
		Label: "Delivered", Value: component.Number(v.Numbers.Succeeded),
		Note: "of " + component.Plural(v.Numbers.Attempts, "attempt", "attempts"),
	}
}

// succeeded tells that the test was confirmed.
func (t EndpointTest) succeeded() bool { return t.Outcome == gateway.OutcomeSucceeded }

func (t EndpointTest) tone() component.Tone {
	if t.succeeded() {
		return component.ToneOK
	}
	return component.ToneBad
}

// title says what came of the test.
func (t EndpointTest) title() string {
	took := component.Duration(t.Duration)
	switch {
	case t.StatusCode != 0:
		answer := strings.TrimSpace(strconv.Itoa(t.StatusCode) + " " + http.StatusText(t.StatusCode))
		return "The endpoint answered the test event with " + answer + " in " + took + "."
	case t.Detail != "":
		return "The test event did not get through." // the detail says the rest
	default:
		return "The test event got no answer in " + took + "."
	}
}

func (t EndpointTest) headers() []component.Header { return HeaderList(t.ResponseHeaders) }

// schedule says in words when a delivery is tried again.
func (v Endpoint) schedule() string {
	waits, whose := v.Endpoint.RetrySchedule, ""
	if waits == nil {
		waits, whose = v.Server.Schedule, " (the server’s)"
	}
	return ScheduleText(waits) + whose
}

// ScheduleText says in words how often and when a delivery is tried.
func ScheduleText(waits []time.Duration) string {
	if len(waits) == 0 {
		return "One attempt, no retries"
	}
	texts := make([]string, len(waits))
	for i, wait := range waits {
		texts[i] = component.Duration(wait)
	}
	return strconv.Itoa(len(waits)+1) + " attempts: after " + strings.Join(texts, ", ")
}

func (v Endpoint) timeout() string {
	if v.Endpoint.Timeout == 0 {
		return component.Duration(v.Server.Timeout) + " (the server’s)"
	}
	return component.Duration(v.Endpoint.Timeout)
}

func (v Endpoint) stopOn() string {
	codes := make([]string, len(v.Endpoint.StopOn))
	for i, code := range v.Endpoint.StopOn {
		codes[i] = strconv.Itoa(code)
	}
	return strings.Join(codes, ", ")
}

// ClockText is a time as a sentence names it, of today without its date.
func ClockText(at, now time.Time) string {
	at, now = at.UTC(), now.UTC()
	switch {
	case at.Format(time.DateOnly) == now.Format(time.DateOnly):
		return at.Format("15:04 UTC")
	case at.Year() == now.Year():
		return at.Format("2 Jan, 15:04 UTC")
	default:
		return at.Format("2 Jan 2006, 15:04 UTC")
	}
}

// left is how long a secret still signs, whole how long its overlap is in all.
func (s EndpointSecret) left(now time.Time) (left, whole time.Duration) {
	return s.EndsAt.Sub(now), s.EndsAt.Sub(s.Replaced)
}

// overlapping tells that more than one secret signs.
func (v Endpoint) overlapping() bool { return len(v.Secrets) > 1 }
