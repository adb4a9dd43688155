package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// SentList is what the lists of deliveries and of attempts have in common.
type SentList struct {
	layout.Frame

	Now  time.Time
	Path string
	// Views are the two lists.
	Views []component.Choice
	// Outcomes, Causes and Endpoints are the choices of filters, and the texts
	// what is chosen.
	Outcomes, Causes, Endpoints          []component.Option
	OutcomeText, CauseText, EndpointText string
	Code                                 TextFilter
	Period                               Period
	Newest, Older                        string
	Filtered                             bool
	Clear                                string
	Wider                                component.Choice
	// None tells that there is none at all; Events and NewEndpoint are where it
	// begins.
	None                bool
	Events, NewEndpoint string
}

// sentWords are what one of the lists says.
type sentWords struct {
	lede      string
	one, many string
	// outcome names the filter by outcome; topic, newOne and newMany are what is
	// told when something is new.
	outcome                string
	topic, newOne, newMany string
}

// begins is a plural that begins a sentence.
func (w sentWords) begins() string { return component.Word(w.many) }

// empty says what was looked for in vain.
func (v SentList) empty(w sentWords) noMatch {
	title := "No " + w.many + " in this time"
	if v.Filtered {
		title = "No " + w.one + " matches these filters"
	}
	return noMatch{title: title, period: v.Period, wider: v.Wider, filtered: v.Filtered, clear: v.Clear}
}
