package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// DeliveryList is the list of all deliveries, those of the newest events first.
type DeliveryList struct {
	layout.Frame

	Now  time.Time
	Path string
	// Views are this list and that of every attempt.
	Views []component.Choice
	// Statuses, Outcomes, Causes and Endpoints are the choices of filters, and
	// the texts what is chosen.
	Statuses, Outcomes, Causes, Endpoints            []component.Option
	StatusText, OutcomeText, CauseText, EndpointText string
	Code                                             TextFilter
	// Operation is the bulk operation whose deliveries are shown; its href leads
	// there. Empty for all.
	Operation     component.Choice
	OperationID   string
	Period        Period
	Rows          []DeliveryRow
	Newest, Older string
	Filtered      bool
	Clear         string
	Wider         component.Choice
	// None tells that there is none at all.
	None                bool
	Events, NewEndpoint string
	// Bulk lets several be chosen; empty for who may not.
	Bulk DeliveryBulk
}

// DeliveryBulk is how several deliveries are sent again.
type DeliveryBulk struct {
	// Action is where the chosen ones are asked about.
	Action string
	// All asks about all that match, which AllText offers; empty where that
	// makes no sense.
	All, AllText string
}

// DeliveryRow is a delivery as a line of a list.
type DeliveryRow struct {
	ID, Href string
	Status   string
	// Open tells that its status will change by itself.
	Open bool
	// Selectable tells that it can be sent again together with others.
	Selectable bool
	Code       int
	Failure    string
	Tone       component.Tone
	// Type is the event's; empty when it is no longer kept.
	Type       string
	Event      string
	Endpoint   string
	Host       string
	Attempts   int
	ReceivedAt time.Time
	NextAt     *time.Time
	// Redeliver asks before it is sent again, Recover before all since this one
	// are; each empty where it cannot be done.
	Redeliver, Recover string
}

// selectable tells that a row can be chosen.
func (v DeliveryList) selectable() bool {
	if v.Bulk.Action == "" {
		return false
	}
	for _, row := range v.Rows {
		if row.Selectable {
			return true
		}
	}
	return false
}

// empty says what was looked for in vain.
func (v DeliveryList) empty() noMatch {
	title := "No deliveries in this time"
	if v.Filtered {
		title = "No delivery matches these filters"
	}
	return noMatch{title, v.Period, v.Wider, v.Filtered, v.Clear}
}

// label names a row for who cannot see it.
func (r DeliveryRow) label() string {
	if r.Type == "" {
		return r.Event + " to " + r.Endpoint
	}
	return r.Type + " to " + r.Endpoint
}
