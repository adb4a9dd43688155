package page

import (
	"github.com/rowlock/rowlock/web/component"
)

// Bulk asks before something is done to many.
type Bulk struct {
	Action, Cancel string
	Title          string
	// Verb is the button's word, before the number: "Redeliver".
	Verb string
	// One and Many are what it is done to.
	One, Many string
	// Count is how many; More tells that there are more than were counted.
	Count int
	More  bool
	// About says which they are, as a sentence.
	About string
	// Text is what will happen.
	Text []string
	// Hidden are fields that go with the form: what is asked about.
	Hidden []component.Option
	// Speed is the choice of how many a second; nil for none.
	Speed []component.Option
	// Which are the choices of what is meant, of which each is counted; nil for none.
	Which  []component.Option
	Errors Errors
	// Refused says why it cannot be done; empty when it can.
	Refused string
	Heading bool
}

// submit is the button, with the number on it.
func (q Bulk) submit() component.Button {
	b := component.Button{Label: q.Verb + " " + component.Number(q.Count), Icon: "rotate-cw", Disabled: q.Count == 0}
	switch {
	case q.More:
		b.Label = q.Verb + " all"
	case q.Count == 0:
		b.Label = q.Verb
	}
	return b
}

// note is what stands below how many match.
func (q Bulk) note() string {
	if q.Count == 0 && !q.More && len(q.Which) > 0 {
		return "What is still open goes out by itself."
	}
	return "You can stop it at any time."
}

// countText says how many match.
func countText(n int, more bool, one, many, none string) string {
	switch {
	case more:
		return "More than " + component.Plural(n, one, many) + " match."
	case n == 0:
		return none
	case n == 1:
		return "1 " + one + " matches."
	default:
		return component.Number(n) + " " + many + " match."
	}
}

// SpeedOptions are how fast an operation may be: a value is a number a second,
// zero as fast as they go out.
func SpeedOptions(chosen string) []component.Option {
	all := []component.Option{
		{Value: "0", Label: "As fast as they are taken"},
		{Value: "1", Label: "1 a second"},
		{Value: "5", Label: "5 a second"},
		{Value: "10", Label: "10 a second"},
		{Value: "50", Label: "50 a second"},
		{Value: "100", Label: "100 a second"},
		{Value: "500", Label: "500 a second"},
	}
	for i := range all {
		all[i].Selected = all[i].Value == chosen
	}
	return all
}

// WhichOptions are which deliveries of events are sent again.
func WhichOptions(all bool) []component.Option {
	return []component.Option{
		{Value: "failed", Label: "What failed", Selected: !all, Hint: "Deliveries that were given up."},
		{Value: "all", Label: "Everything that is closed", Selected: all, Hint: "Also what was delivered: its receiver gets it a second time."},
	}
}

// RecoverQuestion asks what to recover at an endpoint.
type RecoverQuestion struct {
	EndpointQuestion

	// What is "failed", "missing" or "both".
	What string
	// Failed and Missing are how many there are; the More say that there are
	// more than were counted.
	Failed, Missing         int
	FailedMore, MissingMore bool
	// Since is the choice of from when on, Custom the time that is entered for
	// the last of them.
	Since  []component.Option
	Custom string
	// CustomShown shows the field for it.
	CustomShown bool
	Speed       []component.Option
	// Pace is how many a second the chosen speed is; zero for no limit.
	Pace int
	// Cause says which failures alone are meant; empty for all. Hidden are the
	// fields that say so.
	Cause  string
	Hidden []component.Option
	// First offers to send one before: the endpoint was failing lately.
	First bool
	// State is why what is recovered waits; empty when it does not.
	State string
	// Failover: the endpoint has one, and what that got is left out.
	Failover bool
}

func (q RecoverQuestion) count() (n int, more bool) {
	switch q.What {
	case "missing":
		return q.Missing, q.MissingMore
	case "both":
		return q.Failed + q.Missing, q.FailedMore || q.MissingMore
	default:
		return q.Failed, q.FailedMore
	}
}

func (q RecoverQuestion) submit() component.Button {
	n, more := q.count()
	return Bulk{Verb: "Recover", Count: n, More: more}.submit()
}

// title says how many match, text how long that takes.
func (q RecoverQuestion) title() string {
	n, more := q.count()
	return countText(n, more, "delivery", "deliveries", "Nothing to recover in this time.")
}

func (q RecoverQuestion) text() string {
	n, _ := q.count()
	text := "You can stop it at any time."
	switch {
	case n == 0:
		return "Choose a longer time, or another kind. What is held or still retried needs no recovery: it goes out by itself."
	case q.Pace > 0:
		return "About " + component.Duration(secondsFor(n, q.Pace)) + ". " + text
	}
	return text
}

// kinds are the choices of what to recover.
func (q RecoverQuestion) kinds() []component.Option {
	options := []component.Option{
		{Value: "failed", Label: "Failed", Hint: numberOf(q.Failed, q.FailedMore, "delivery was", "deliveries were") + " given up."},
		{Value: "missing", Label: "Never created", Hint: numberOf(q.Missing, q.MissingMore, "event in that time was", "events in that time were") + " never made for this endpoint."},
		{Value: "both", Label: "Both", Hint: "As two operations."},
	}
	if q.Cause != "" {
		options = options[:1]
	}
	for i := range options {
		options[i].Selected = options[i].Value == q.What
	}
	return options
}

func numberOf(n int, more bool, one, many string) string {
	if more {
		return "More than " + component.Plural(n, one, many)
	}
	return component.Plural(n, one, many)
}
