package gateway

import "slices"

// Rule says in CEL what the events of a source mean. An expression that is
// empty says nothing.
type Rule struct {
	// Key tells repeats of an event apart from other events, in place of what the
	// source's kind knows; Type names what came in. Both are asked when an event
	// comes in.
	Key  string `json:"key,omitempty"`
	Type string `json:"type,omitempty"`
	// Subject is what an event is about, State what it reports of it: null for
	// nothing. Both together are a fact, which is told once.
	Subject string `json:"subject,omitempty"`
	State   string `json:"state,omitempty"`
	// Emit is the type that the event is told as; null has it told to nobody.
	Emit string `json:"emit,omitempty"`

	// Terminal are the states after which nothing is told of a subject.
	Terminal []string `json:"terminal,omitempty"`
	// Rank are states in the order in which they come: one that is told is not
	// followed by one before it. A state that is not among them has no rank.
	Rank []string `json:"rank,omitempty"`
	// Repeats tells that a state may be told of a subject again.
	Repeats bool `json:"repeats,omitempty"`
	// RequiresExisting has a report wait until something else told of its
	// subject.
	RequiresExisting bool `json:"requires_existing,omitempty"`
}

// Awaits tells whether an event is told only after something else told of its
// subject. Where the rule reads a state, an event that reports none is told at
// once: it is what the others wait for.
func (r *Rule) Awaits(subject, state string) bool {
	return r.RequiresExisting && subject != "" && (state != "" || r.State == "")
}

// RankOf is the place of a state in the order; nil where it has none.
func (r *Rule) RankOf(state string) *int {
	if at := slices.Index(r.Rank, state); at >= 0 {
		return &at
	}
	return nil
}

// IsTerminal tells whether a state is the last word.
func (r *Rule) IsTerminal(state string) bool { return slices.Contains(r.Terminal, state) }

const (
	// MaxRuleStates is how many states a rule may name, in each of its lists.
	MaxRuleStates = 100
	// MaxStateLength bounds a state, in bytes.
	MaxStateLength = 256
	// MaxKeyLength bounds a key that a rule makes, in bytes.
	MaxKeyLength = 1024
	// MaxSubjectLength keeps a subject within what an index can hold, in bytes.
	MaxSubjectLength = 1024
)
