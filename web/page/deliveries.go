package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
)

// Deliveries is the list of all deliveries, those of the newest events first.
type Deliveries struct {
	SentList

	// Statuses are the choices of a filter, StatusText what is chosen.
	Statuses   []component.Option
	StatusText string
	// Operation is the bulk operation whose deliveries are shown; its href leads
	// there. Empty for all.
	Operation   component.Choice
	OperationID string
	// Claim is the same of a claim whose deliveries are shown.
	Claim   component.Choice
	ClaimID string
	Rows    []DeliveryRow
	// Bulk lets several be chosen; empty for who may not.
	Bulk DeliveryBulk
}

var deliveryWords = sentWords{
	lede: "Events on their way to endpoints: how each stands.", one: "delivery", many: "deliveries", outcome: "Last outcome",
	topic: "events", newOne: "new event", newMany: "new events",
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
func (v Deliveries) selectable() bool {
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

// label names a row for who cannot see it.
func (r DeliveryRow) label() string {
	if r.Type == "" {
		return r.Event + " to " + r.Endpoint
	}
	return r.Type + " to " + r.Endpoint
}
