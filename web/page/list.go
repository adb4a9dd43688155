package page

import (
	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/web/component"
)

// Period is the time that a list is narrowed to, as its filter shows it. There
// always is one, and it is always seen: nothing is hidden by a bound that
// nobody set.
type Period struct {
	// Label says what the time is of: "Received".
	Label string
	// Text is the period in words.
	Text string
	// Presets lead to the same list of another period.
	Presets []component.Choice
	// Name is the preset that goes with the form; empty for the usual one and
	// for a period between two times.
	Name string
	// Since and Until are the fields' values, in UTC; empty is no bound.
	Since, Until string
}

// TextFilter is a filter whose value is typed in.
type TextFilter struct {
	Label, Name, Value, Hint string
	// Suggestions are offered while typing.
	Suggestions []string
	Mono        bool
}

func (f TextFilter) listID() string { return "known-" + f.Name }

func (f TextFilter) attrs() templ.Attributes {
	attrs := templ.Attributes{"spellcheck": "false"}
	if len(f.Suggestions) > 0 {
		attrs["list"] = f.listID()
	}
	return attrs
}

// refreshed marks a part that will change by itself, so that the page's script
// reads it anew. It needs an id.
func refreshed(open bool) templ.Attributes {
	if !open {
		return nil
	}
	return templ.Attributes{"data-live-refresh": "attempts"}
}

// pagerText says what part of a list is shown.
func pagerText(n int, first bool, one, many string) string {
	switch {
	case n == 0:
		return "There are no older ones"
	case first:
		return "Newest " + component.Plural(n, one, many)
	default:
		return component.Plural(n, one, many)
	}
}

// noMatch is what a list says that has nothing of what it is narrowed to.
type noMatch struct {
	title    string
	period   Period
	wider    component.Choice
	filtered bool
	clear    string
	// found says what the wider list has; empty where that is not known.
	found string
}

func (n noMatch) text() string {
	text := n.period.Label + ": " + n.period.Text + "."
	if n.found != "" {
		text += " " + n.found
	}
	return text
}
