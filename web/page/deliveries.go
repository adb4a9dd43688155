package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Deliveries is the list of every attempt, those that started last first.
type Deliveries struct {
	layout.Frame

	Now  time.Time
	Path string
	// Views are the list of deliveries and this one.
	Views []component.Choice
	// Outcomes, Causes and Endpoints are the choices of filters, and the texts
	// what is chosen.
	Outcomes, Causes, Endpoints          []component.Option
	OutcomeText, CauseText, EndpointText string
	Code                                 TextFilter
	Period                               Period
	Rows                                 []AttemptLine
	Newest, Older                        string
	Filtered                             bool
	Clear                                string
	Wider                                component.Choice
	// None tells that nothing was ever sent; Events and NewEndpoint are where
	// it begins.
	None                bool
	Events, NewEndpoint string
}

// AttemptLine is an attempt as a line of a list.
type AttemptLine struct {
	ID, Href string
	Code     int
	Failure  string
	Tone     component.Tone
	// Type is the event's; empty when it is no longer kept.
	Type      string
	Event     string
	Endpoint  string
	Host      string
	N         int
	Trigger   string
	Took      time.Duration
	StartedAt time.Time
}

// empty says what was looked for in vain.
func (v Deliveries) empty() noMatch {
	title := "No attempts in this time"
	if v.Filtered {
		title = "No attempt matches these filters"
	}
	return noMatch{title, v.Period, v.Wider, v.Filtered, v.Clear}
}
