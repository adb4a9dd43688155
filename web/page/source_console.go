package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// The fields of the test console's form.
const (
	ConsoleFault   = "fault"
	ConsoleHeaders = "headers"
	ConsoleBody    = "body"
	// ConsoleSample names the sample, ConsoleMade is the digest of what was made
	// of it: whether somebody has changed it since.
	ConsoleSample = "sample"
	ConsoleMade   = "made"
	// ConsoleSend is sent by the button that takes the request in.
	ConsoleSend = "send"
)

// SourceConsole is the page on which a source is tried with a signed sample.
type SourceConsole struct {
	layout.Frame

	Source SourceHead
	// Faults are what can be made wrong, by the names that the API has for them.
	Faults []string
	// CheckOnly tells that nothing signed here can be sent in.
	CheckOnly bool
	// Protects says in a sentence what a signature covers.
	Protects string
	Chosen   map[string]string
	Errors   Errors
	// Tried is what came of the form; nil before it was sent.
	Tried *ConsoleTrial
}

// ConsoleTrial is what came of a request of the test console.
type ConsoleTrial struct {
	// Sent tells that it was taken in, or refused, as one from outside.
	Sent  bool
	Fault string

	Method, URL string
	Headers     []component.Header
	Body        []byte

	// By is who signed: "source", "trial", "stranger" or "nobody".
	By string
	// SignedIn are the headers that the signature added; InBody and InURL tell
	// that it stands there.
	SignedIn      []string
	InBody, InURL bool
	// SignedAt is the time that was signed; nil where none is.
	SignedAt *time.Time

	// Cause is why it was refused, and Detail says it in words; "" if it was not.
	Cause, Detail string
	// RequestHref leads to the request that was refused, or where it is not known
	// to those of its cause.
	RequestHref string
	// Handshake says what kind of request it was that is no event; often "".
	Handshake string
	// Events are the first of those that it brings, More is how many follow.
	Events []ConsoleEvent
	More   int
	// Status and Answer are what the sender is told.
	Status int
	Answer string
}

// ConsoleEvent is one event of a request of the test console.
type ConsoleEvent struct {
	Type, Key string
	// Href leads to the stored event, for a repeat to the first one; "" while
	// nothing is stored under its key.
	Href      string
	Duplicate bool
}

// faultWords are the faults as people choose them.
var faultWords = map[string]string{
	"none":         "Nothing: as the sender sends it",
	"wrong_secret": "Signed with another secret",
	"altered":      "One byte changed after signing",
	"old":          "Signed too long ago",
	"unsigned":     "Not signed",
}

func (v SourceConsole) faults() []component.Option {
	var options []component.Option
	for _, fault := range v.Faults {
		label := faultWords[fault]
		if label == "" {
			label = component.Word(fault)
		}
		options = append(options, component.Option{Value: fault, Label: label, Selected: fault == v.Chosen[ConsoleFault]})
	}
	return options
}

func (v SourceConsole) action() string { return v.Source.Path + "/test" }

// signs says how a sample is signed here.
func (v SourceConsole) signs() string {
	switch {
	case v.Source.Kind.Secret == "":
		return "This kind of source is not signed: a test request is one like any other."
	case v.CheckOnly && v.Source.Kind.Public:
		return "Only the sender has the private half of its key. A test request is signed with a pair of keys that is made for the test, and checked with that: it shows what is signed and how, and cannot be sent in."
	case v.Source.Kind.Bare && !v.CheckOnly:
		return "A test request carries this source’s newest secret, as the sender’s do. The secret itself is not shown."
	case v.CheckOnly:
		return "This source has no secret yet that could sign. A test request is signed with one that is made up, and checked with that: it cannot be sent in."
	default:
		return "A test request is signed with this source’s newest secret, as the sender does it. The secret itself is not shown."
	}
}

// faultHint explains the choice of what is to be wrong.
func (v SourceConsole) faultHint() string {
	if v.Source.Kind.Secret == "" {
		return "Nothing is verified here, so that nothing can be wrong with a request."
	}
	return "See what this source makes of it, and what you would see."
}

// consoleStep is one step of what happened.
type consoleStep struct {
	component.Step

	// part is what stands below: "request", "signature", "refusal", "events", "answer" or "".
	part string
}

// steps tells what happened, in order.
func (v SourceConsole) steps() []consoleStep {
	t := *v.Tried
	steps := []consoleStep{
		{component.Step{Icon: "braces", Title: "Made", Note: t.Method + " with " + component.Bytes(len(t.Body)), Tone: component.ToneInfo}, "request"},
		{component.Step{Icon: "key-round", Title: v.signedTitle(), Note: t.signedNote(), Tone: t.signedTone()}, "signature"},
	}
	if t.Cause != "" {
		return append(steps,
			consoleStep{component.Step{Icon: "shield-x", Title: "Refused: " + lowerFirst(v.Source.Kind.CauseWord(t.Cause)), Note: t.Detail, Tone: component.ToneBad}, "refusal"},
			t.answered())
	}
	steps = append(steps, v.verified())
	if t.Handshake != "" {
		steps = append(steps, consoleStep{component.Step{Icon: "check", Title: "No event", Note: t.Handshake, Tone: component.ToneOK}, ""})
	} else {
		steps = append(steps, consoleStep{t.stored(), "events"})
	}
	return append(steps, t.answered())
}

// signedTitle says with what it was signed; where nothing is signed, which
// secret came with it.
func (v SourceConsole) signedTitle() string {
	noun, signed, not := v.Source.Kind.noun(), "Signed with ", "Not signed"
	if v.Source.Kind.Bare {
		signed, not = "Sent with ", "Sent without a secret"
	}
	switch v.Tried.By {
	case "source":
		return signed + "the source’s newest " + noun
	case "trial":
		return signed + "a " + noun + " made for the test"
	case "stranger":
		return signed + "a " + noun + " that the source does not have"
	default:
		return not
	}
}

func (t ConsoleTrial) signedTone() component.Tone {
	switch {
	case t.By == "stranger", t.Fault == "altered", t.Fault == "old", t.Fault == "unsigned":
		return component.ToneWarn
	case t.By == "nobody":
		return ""
	default:
		return component.ToneInfo
	}
}

// signedNote says where the signature stands, and what was done to it.
func (t ConsoleTrial) signedNote() string {
	var where []string
	if len(t.SignedIn) > 0 {
		where = append(where, strings.Join(t.SignedIn, ", "))
	}
	if t.InBody {
		where = append(where, "the body")
	}
	if t.InURL {
		where = append(where, "the address")
	}
	var note []string
	if len(where) > 0 {
		note = append(note, "In "+strings.Join(where, ", ")+".")
	}
	switch {
	case t.Fault == "altered":
		note = append(note, "Then one byte of the body was changed.")
	case t.Fault == "old" && t.SignedAt != nil:
		note = append(note, "Signed as of "+t.SignedAt.UTC().Format("15:04:05")+" UTC, an hour before the oldest time that is taken.")
	}
	return strings.Join(note, " ")
}

// verified says what was proven, or what was not noticed.
func (v SourceConsole) verified() consoleStep {
	step := component.Step{Icon: "shield-check", Title: "Verified", Note: v.Protects, Tone: component.ToneOK}
	switch {
	case v.Source.Kind.Secret == "":
		step.Title, step.Icon, step.Tone = "Not verified", "shield-alert", component.ToneWarn
	case v.Tried.Fault == "none" && v.Source.Kind.Bare:
		step.Title = "Secret matched"
	case v.Tried.Fault != "none":
		step.Title, step.Icon, step.Tone = "Taken all the same", "shield-alert", component.ToneWarn
	}
	return consoleStep{step, ""}
}

// stored says what became of the events.
func (t ConsoleTrial) stored() component.Step {
	count := component.Plural(len(t.Events)+t.More, "event", "events")
	repeats := 0
	for _, e := range t.Events {
		if e.Duplicate {
			repeats++
		}
	}
	switch {
	case repeats > 0 && repeats == len(t.Events):
		return component.Step{Icon: "copy", Title: "A repeat", Note: "It was taken in before: nothing is delivered again.", Tone: component.ToneDup}
	case t.Sent:
		return component.Step{Icon: "inbox", Title: "Stored: " + count, Note: "Decided and delivered as any other.", Tone: component.ToneOK}
	default:
		return component.Step{Icon: "inbox", Title: "Would be " + count, Note: "Nothing was stored: this was a check."}
	}
}

// answered says what the sender is told.
func (t ConsoleTrial) answered() consoleStep {
	title := "The sender is told " + strconv.Itoa(t.Status)
	if !t.Sent {
		title = "The sender would be told " + strconv.Itoa(t.Status)
	}
	return consoleStep{component.Step{Icon: "arrow-left", Title: title}, "answer"}
}

// outcome says in a sentence what came of it.
func (v SourceConsole) outcome() string {
	t := *v.Tried
	switch {
	case t.Cause != "":
		return "Refused: " + lowerFirst(v.Source.Kind.CauseWord(t.Cause)) + "."
	case t.Handshake != "":
		return t.Handshake
	default:
		return t.stored().Title + "."
	}
}

// focused puts what came of the form first for who does not see the page.
func (v SourceConsole) focused() templ.Attributes {
	if v.Tried == nil {
		return nil
	}
	return templ.Attributes{"autofocus": true}
}

// seen says where an operator finds a refused request.
func (t ConsoleTrial) seen() string {
	if t.Sent {
		return "You find it on the source’s page, under “Requests that became no event”:"
	}
	return "Sent in, it would stand on the source’s page, under “Requests that became no event”:"
}

// mend is what the page of the refused request would say is to be mended.
func (v SourceConsole) mend() []string {
	return SourceRequest{Source: v.Source, Cause: v.Tried.Cause}.mend()
}
