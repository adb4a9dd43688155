package dashboard

import (
	"errors"
	"net/http"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	fieldEndpoint = "endpoint"
	// everyEndpoint stands for all that the event was for.
	everyEndpoint = "all"
)

func askRedeliverEvent(v *visit) error {
	event, err := v.event()
	if err != nil {
		return err
	}
	return v.askWhere(http.StatusOK, event, v.QueryParam(fieldEndpoint), nil)
}

// askWhere asks to which endpoints an event is sent again.
func (v *visit) askWhere(status int, event gateway.Event, chosen string, wrong page.Errors) error {
	options, err := v.redeliverOptions(event, chosen)
	if err != nil {
		return err
	}
	return v.askAgain(status, "Redeliver", layout.SectionEvents, page.RedeliverEventQuestion(page.RedeliverEvent{
		Path: v.at("events", event.ID.String()), Type: event.Type, Options: options,
		NewEndpoint: v.addHref("endpoints"), Heading: !v.scripted(), Errors: wrong,
	}))
}

// redeliverOptions are where an event can be sent: to all that it was for, and
// to each endpoint, whether that had it or not.
func (v *visit) redeliverOptions(event gateway.Event, chosen string) ([]component.Option, error) {
	states, _, err := v.meantFor(event)
	if err != nil {
		return nil, err
	}
	endpoints, err := v.endpointOptions()
	if err != nil {
		return nil, err
	}
	var options []component.Option
	if len(states) > 0 {
		options = append(options, component.Option{
			Value: everyEndpoint, Label: "Every endpoint that it was for (" + component.Number(len(states)) + ")",
		})
	}
	for _, o := range endpoints {
		state, had := states[o.Value]
		if !had {
			state = "was not meant for it"
		}
		o.Label, o.Selected = o.Label+": "+state, o.Value == chosen
		options = append(options, o)
	}
	return options, nil
}

// meantFor is how far an event got at each endpoint that it was for and that
// is still there, by the endpoint's id, and how many it was for in all.
func (v *visit) meantFor(event gateway.Event) (states map[string]string, all int, err error) {
	deliveries, err := v.d.Store.DeliveryRows(v.ctx(), v.account(), store.DeliveryFilter{Event: &event.ID}, store.Page[gateway.DeliveryID]{Limit: eventDeliveries})
	states = map[string]string{}
	for _, d := range deliveries {
		if !d.Endpoint.Deleted {
			states[d.EndpointID.String()] = hadIt(d.Delivery)
		}
	}
	return states, len(deliveries), err
}

// noneToSend says why there is nothing to send an event to again; empty when
// there is.
func (v *visit) noneToSend(event gateway.Event) (string, error) {
	states, all, err := v.meantFor(event)
	switch {
	case err != nil || len(states) > 0 || event.PayloadDeletedAt != nil:
		return "", err
	case all > 0:
		return "Not sent: every endpoint that it was for was deleted. Choose another one.", nil
	case decidable(event.Status):
		return "Not sent: it was for no endpoint yet. Process it again, or choose an endpoint.", nil
	default:
		return "Not sent: it was for no endpoint yet. Choose one.", nil
	}
}

// decidable tells that an event in a status can be decided again.
func decidable(status gateway.EventStatus) bool {
	return status == gateway.EventRuleError || status == gateway.EventUnresolved || status == gateway.EventNoEndpoints
}

// hadIt says whether an endpoint has an event already.
func hadIt(d gateway.Delivery) string {
	switch {
	case d.Status == gateway.DeliveryDelivered:
		return "has it"
	case isOpen(d.Status):
		return "is still to get it"
	default:
		return component.Word(d.Status)
	}
}

func redeliverEvent(v *visit) error {
	event, err := v.event()
	if err != nil {
		return err
	}
	f, err := v.readForm()
	if err != nil {
		return err
	}
	to := v.at("events", event.ID.String())
	chosen := f.text(fieldEndpoint)
	var only *gateway.EndpointID
	if chosen == everyEndpoint {
		why, err := v.noneToSend(event)
		if err != nil {
			return err
		}
		if why != "" {
			return v.refused(to, why)
		}
	} else {
		id, err := gateway.ParseID[gateway.EndpointID](chosen)
		if err != nil {
			return v.askWhere(http.StatusUnprocessableEntity, event, chosen, page.Errors{fieldEndpoint: "Choose where to send it."})
		}
		only = &id
	}
	deliveries, err := v.d.Deliver.RedeliverEvent(v.ctx(), v.account(), v.actor(), event.ID, only)
	switch {
	case errors.Is(err, gateway.ErrPayloadGone):
		return v.refused(to, "Not sent: the payload was deleted.")
	case errors.Is(err, gateway.ErrNotFound) && only != nil:
		return v.askWhere(http.StatusUnprocessableEntity, event, chosen, page.Errors{fieldEndpoint: "This endpoint was deleted. Choose another one."})
	case err != nil:
		return err
	}
	return v.sentAgain(to, deliveries)
}

// sentAgain says to how many endpoints an event goes again. What is still closed
// was left alone: a fact that its endpoint has confirmed, or attempts that are
// used up.
func (v *visit) sentAgain(to string, deliveries []deliver.Redelivered) error {
	left := 0
	for _, d := range deliveries {
		if !isOpen(d.Status) {
			left++
		}
	}
	sent := component.Plural(len(deliveries)-left, "endpoint", "endpoints")
	switch left {
	case 0:
		return v.done(to, "Sent again to "+sent+".")
	case len(deliveries):
		return v.refused(to, "Not sent: no delivery of it goes again by itself, as each says. One of a confirmed fact is redelivered with a reason.")
	default:
		return v.done(to, "Sent again to "+sent+"; "+component.Plural(left, "delivery was", "deliveries were")+" left alone, as each says.")
	}
}
