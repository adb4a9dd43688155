package page

import (
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Names of the fields of the form for rules.
const (
	RuleKey      = "key"
	RuleType     = "type"
	RuleSubject  = "subject"
	RuleState    = "state"
	RuleEmit     = "emit"
	RuleTerminal = "terminal"
	RuleRank     = "rank"
	RuleRepeats  = "repeats"
	RuleRequires = "requires_existing"
	RuleHeaders  = "try_headers"
	RuleBody     = "try_body"
)

// SourceRule is the page of a source's rule.
type SourceRule struct {
	layout.Frame

	Source SourceHead
	Now    time.Time
	// Rule is the one that the source has; nil for none.
	Rule *gateway.Rule
	// Chosen are the values of the form's fields, and Errors what is wrong with
	// them.
	Chosen map[string]string
	Errors Errors
	// Templates are rules to begin with.
	Templates []RuleTemplate
	// NewestHref leads to the event on which a rule is tried where no body is
	// entered, and NewestAt is when it came in; empty for none.
	NewestHref string
	NewestAt   time.Time
	// Tried is what a rule would say; nil when none was tried.
	Tried []RuleTrial
	// Manages shows the form.
	Manages bool
}

// RuleTemplate is a rule to begin with.
type RuleTemplate struct{ Title, Text, Href string }

// RuleTrial is what a rule says of an event, and what would become of it.
type RuleTrial struct {
	// Key is by what repeats would be known; empty for nothing. FirstHref leads to
	// the event that came under it.
	Key, FirstHref string
	// Received is what came in, Type what it is told as; Silent is to nobody.
	Received, Type string
	Silent         bool
	Subject, State string
	// Status and Reason are what would become of it.
	Status, Reason string
	// Known is the state that was told last of the subject, and KnownHref leads to
	// it; empty for nothing.
	Known, KnownHref string
}

func (v SourceRule) path() string { return v.Source.Path + "/rule" }

// ruleHints say what each field is for, with an example.
var ruleHints = map[string]string{
	RuleSubject:  "What the event is about: body.message_id. A text or a whole number.",
	RuleState:    "What it reports of that: body.status. Null reports nothing. Subject and state together are a fact, which is told once.",
	RuleEmit:     `The type that receivers see: "message." + body.status. Null tells nobody. Left empty, it is what came in.`,
	RuleTerminal: "One on each line. The first of them that comes is the last word: nothing more is told of the subject.",
	RuleRank:     "One on each line, in the order in which they come. None is told after a later one. States that are not listed have no place in the order.",
}

// keyHint says what the kind knows of repeats.
func (v SourceRule) keyHint() string {
	return "By what repeats of an event are known: body.event_id. Left empty, it is " + strings.TrimSuffix(v.Source.Kind.Key, ".") + "."
}

// typeHint says what comes in without an expression.
func (v SourceRule) typeHint() string {
	return "What comes in, before it is told as something else: body.event. Left empty, it is what this kind of source reads, or " + gateway.DefaultEventType + "."
}

// keyText says by what repeats of the kind's events are known.
func (k SourceKind) keyText() string {
	if k.Key == "" {
		return "Nothing tells repeats apart."
	}
	return "Repeats are known by " + strings.TrimSuffix(k.Key, ".") + "."
}

// tryHint says on what a rule is tried.
func (v SourceRule) tryHint() string {
	if v.NewestHref == "" {
		return "Paste what the sender sends. Nothing is stored, and nothing is told."
	}
	return "Left empty, it is the event that came in last. Nothing is stored, and nothing is told."
}

// ruleLines are the parts of a rule as they are shown.
func ruleLines(r *gateway.Rule) []Fact {
	var lines []Fact
	add := func(name, value string, code bool) {
		if value != "" {
			lines = append(lines, Fact{name, value, code})
		}
	}
	add("Key", r.Key, true)
	add("Type", r.Type, true)
	add("Subject", r.Subject, true)
	add("State", r.State, true)
	add("Told as", r.Emit, true)
	add("Last words", strings.Join(r.Terminal, ", "), false)
	add("Order", strings.Join(r.Rank, " → "), false)
	if r.Repeats {
		add("Repeats", "States may be told again.", false)
	}
	if r.RequiresExisting {
		add("Waits", "For its subject to be known.", false)
	}
	return lines
}

// told says as what a trial's event would be told.
func (t RuleTrial) told() string {
	if t.Silent {
		return "nobody is told"
	}
	return t.Type
}

// outcome says what would become of it.
func (t RuleTrial) outcome() string {
	switch t.Status {
	case string(gateway.EventProcessed):
		return "It goes to every endpoint that asks for " + component.Shorten(t.Type, 100) + "."
	case string(gateway.EventAccepted):
		return "It waits."
	case string(gateway.EventIgnored):
		return "It is told to nobody."
	case string(gateway.EventRuleError):
		return "It is kept, and told to nobody until the rule is mended."
	default:
		return "It tells nothing new, and is told to nobody."
	}
}
