package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Delivery is one event on its way to one endpoint, with its attempts.
type Delivery struct {
	layout.Frame

	Now time.Time
	ID  string
	// Path is the page's address, List that of all attempts.
	Path, List string
	// Type and EventHref are the event's; the type is empty when it is gone.
	Type, Event, EventHref string
	// EndpointHref is empty when the endpoint was deleted.
	Endpoint, EndpointURL, EndpointHref string
	Status                              string
	// Line is its state as its event's page shows it.
	Line      DeliveryLine
	CreatedAt time.Time
	ClosedAt  *time.Time
	// Trigger says what started it last.
	Trigger string
	// Note says what the state means, and what comes next.
	Note     component.Callout
	Attempts []Attempt
	// Newest leads to the newest attempts, Older to those before.
	Newest, Older string
	Manages       bool
	// Cancel tells that it can be cancelled.
	Cancel bool
	Open   bool
	// Signed tells that a command is shown that only this page has.
	Signed bool
}
