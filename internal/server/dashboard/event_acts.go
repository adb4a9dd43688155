package dashboard

import (
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// actAccept is what the audit log calls the late acceptance of a request.
const actAccept = "request.accept"

// acts are what people do to an event or a delivery, by what the audit log
// calls it.
var acts = map[string]struct {
	icon, title string
	tone        component.Tone
}{
	"event.process":        {"refresh-cw", "Processed again", component.ToneInfo},
	"event.redeliver":      {"rotate-cw", "Redelivered", component.ToneInfo},
	"event.delete_payload": {"trash-2", "Payload deleted", component.ToneWarn},
	"delivery.redeliver":   {"rotate-cw", "Redelivered", component.ToneInfo},
	"delivery.sign":        {"terminal", "Signed as cURL", component.ToneInfo},
	"delivery.cancel":      {"ban", "Cancelled", component.ToneWarn},
}

// actSteps are what people did to the event and to its deliveries.
func actSteps(s story) []page.EventStep {
	names := map[string]string{}
	for _, d := range s.deliveries {
		names[d.ID.String()] = called(d.Endpoint)
	}
	var steps []page.EventStep
	for _, entry := range s.acts {
		if entry.Action == actAccept {
			continue // it made the event: lateSteps tell of it
		}
		act, known := acts[entry.Action]
		if !known {
			act.icon, act.title = "user", component.Word(strings.ReplaceAll(entry.Action, ".", " "))
		}
		title := act.title
		if name := names[entry.Object]; name != "" {
			title += ": " + name
		}
		steps = append(steps, stepOf(entry.CreatedAt, act.tone, act.icon, title, "By "+actorName(entry)+"."))
	}
	return steps
}

// actorName is who did something.
func actorName(e gateway.AuditEntry) string {
	_, isKey := e.Actor.Key()
	switch {
	case e.ActorName == "":
		return "somebody who is not known any more"
	case isKey:
		return "the API key " + e.ActorName
	default:
		return e.ActorName
	}
}

// closedSteps tell of deliveries that ended without being confirmed, and not
// by what a person did to them.
func closedSteps(s story) []page.EventStep {
	cancelled := map[string]bool{}
	for _, entry := range s.acts {
		cancelled[entry.Object] = cancelled[entry.Object] || entry.Action == "delivery.cancel" || entry.Action == "event.delete_payload"
	}
	var steps []page.EventStep
	for _, d := range s.deliveries {
		if d.ClosedAt == nil {
			continue
		}
		name := called(d.Endpoint)
		switch d.Status {
		case gateway.DeliveryFailed:
			title, note := gaveUp(d.Delivery, name)
			steps = append(steps, stepOf(*d.ClosedAt, component.ToneBad, "circle-x", title, note))
		case gateway.DeliveryCancelled:
			if !cancelled[d.ID.String()] && !cancelled[s.ID.String()] {
				steps = append(steps, stepOf(*d.ClosedAt, component.ToneWarn, "ban", "Cancelled: "+name, "Its endpoint was deleted."))
			}
		case gateway.DeliveryExpired:
			steps = append(steps, stepOf(*d.ClosedAt, component.ToneWarn, "hourglass", "Expired: "+name, "Its retention ended before it was confirmed."))
		case gateway.DeliverySuppressed:
			steps = append(steps, stepOf(*d.ClosedAt, component.ToneDup, "layers", "Suppressed: "+name, "The fact is confirmed: the endpoint had been told before, and was not told again."))
		case gateway.DeliveryPending, gateway.DeliverySending, gateway.DeliveryHeld, gateway.DeliveryDelivered:
		}
	}
	return steps
}
