package dashboard

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

const (
	failoverFor  = "Failover for"
	failedOverTo = "Failed over to"
)

// failoverLinks tie a delivery to the ones before and behind it. What their
// endpoints are called must be known; one that is not is left out.
func (v *visit) failoverLinks(d gateway.Delivery, endpoints map[gateway.EndpointID]store.EndpointLabel) []page.Failover {
	var ties []page.Failover
	for _, tie := range []struct {
		says string
		id   *gateway.EndpointID
	}{{failoverFor, d.FailoverOf}, {failedOverTo, d.FailoverTo}} {
		if tie.id == nil {
			continue
		}
		if label, ok := endpoints[*tie.id]; ok {
			ties = append(ties, page.Failover{
				Says: tie.says, Name: called(label), Href: v.at("deliveries", gateway.DeriveDeliveryID(d.EventID, *tie.id).String()),
			})
		}
	}
	return ties
}

// endpoints are what the endpoints of the event's deliveries are called.
func (s story) endpoints() map[gateway.EndpointID]store.EndpointLabel {
	labels := make(map[gateway.EndpointID]store.EndpointLabel, len(s.deliveries))
	for _, d := range s.deliveries {
		labels[d.EndpointID] = d.Endpoint
	}
	return labels
}

// failoverSteps say when an endpoint got the event in another one's place.
func failoverSteps(s story) []page.EventStep {
	endpoints := s.endpoints()
	var steps []page.EventStep
	for _, d := range s.deliveries {
		if d.FailoverOf == nil {
			continue
		}
		note := "In place of an endpoint that could not be given it."
		if label, ok := endpoints[*d.FailoverOf]; ok {
			note = "In place of " + called(label) + ", which could not be given it."
		}
		steps = append(steps, stepOf(d.CreatedAt, component.ToneWarn, "arrow-right", failedOverTo+" "+called(d.Endpoint), note))
	}
	return steps
}

// gaveUp says of a failed delivery how it ended in the timeline of its event.
func gaveUp(d gateway.Delivery, name string) (title, note string) {
	if d.Attempts == 0 {
		return "Not sent to " + name, "Rowlock had disabled the endpoint."
	}
	return "Gave up on " + name, "After " + component.Plural(d.Attempts, "attempt", "attempts") + "."
}

// chainOf are a delivery's endpoint and those that it is tied to.
func chainOf(d gateway.Delivery) []gateway.EndpointID {
	ids := []gateway.EndpointID{d.EndpointID}
	for _, id := range []*gateway.EndpointID{d.FailoverOf, d.FailoverTo} {
		if id != nil {
			ids = append(ids, *id)
		}
	}
	return ids
}

// failedNote says what became of a delivery that was given up: whether another
// endpoint has got the event in its place.
func failedNote(d gateway.Delivery, ties []page.Failover) component.Callout {
	note := component.Callout{
		Tone: component.ToneBad, Title: "Given up after " + component.Plural(d.Attempts, "attempt", "attempts") + ".",
		Text: "It is not tried again by itself. Redeliver it once the endpoint answers with a 2xx.",
	}
	if d.Attempts == 0 {
		note.Title = "Not sent: Rowlock had disabled the endpoint."
	}
	for _, tie := range ties {
		if tie.Says == failedOverTo {
			note.Text = tie.Name + " has the event in its place. Redeliver it if this endpoint is to have it, too."
		}
	}
	return note
}
