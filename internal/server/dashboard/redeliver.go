package dashboard

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// fieldOverride is why a fact that is confirmed is sent a second time.
const fieldOverride = "override_claim"

func askRedeliver(v *visit) error {
	return v.redeliverQuestion(http.StatusOK, "", nil)
}

// redeliverQuestion asks, at first or again, whether a delivery is sent again. A
// fact that is confirmed takes a reason.
func (v *visit) redeliverQuestion(status int, entered string, wrong page.Errors) error {
	s, err := v.sight()
	if err != nil {
		return err
	}
	var why string
	if s.endpoint.Deleted {
		why = "Its endpoint was deleted, so it cannot be sent again. The event can still go to another endpoint."
	}
	return v.askAgain(status, "Redeliver", layout.SectionDeliveries, page.RedeliverQuestion(page.Redeliver{
		Path: v.at("deliveries", s.ID.String()), Back: v.at("events", s.EventID.String()),
		Type: s.eventType, Endpoint: called(s.endpoint), Attempts: s.Attempts,
		Delivered: s.Status == gateway.DeliveryDelivered || s.Status == gateway.DeliverySuppressed, Refused: why, Heading: !v.scripted(),
		Override: s.claim != nil && s.claim.State == gateway.ClaimDone, Entered: entered, Errors: wrong,
	}))
}

// redeliver has one delivery sent again, if it is still what the reader saw.
func redeliver(v *visit) error {
	d, f, to, err := v.deliveryForm()
	if err != nil {
		return err
	}
	var seen *int
	if text := f.text("if_attempts"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return v.refused(to, "Not sent: the form was not complete. Press the button once more.")
		}
		seen = &n
	}
	override := f.text(fieldOverride)
	now, err := v.d.Deliver.Redeliver(v.ctx(), v.account(), v.actor(), d.ID, seen, override)
	if errors.Is(err, gateway.ErrClaimDone) {
		f.wrong(fieldOverride, "Say why: it stands in the audit log.")
	}
	if !f.ok() || f.take(err, map[string]string{fieldOverride: fieldOverride}, nil) {
		return v.redeliverQuestion(http.StatusUnprocessableEntity, override, f.errors)
	}
	if why := whyNotSent(now, err); why != "" {
		return v.refused(to, why)
	}
	if err != nil {
		return err
	}
	if now.Status == gateway.DeliveryHeld {
		return v.done(to, "It waits: the endpoint gets it when it is resumed.")
	}
	if d.WaitingOn != nil {
		return v.done(to, "It is looked at now, and sent if the claim of its fact is free.")
	}
	return v.done(to, "It is sent again now.")
}

// whyNotSent says why a delivery was not sent again; empty when it was, or
// when something else failed.
func whyNotSent(now gateway.Delivery, err error) string {
	switch {
	case errors.Is(err, gateway.ErrDeliveryInFlight) && now.Status == gateway.DeliveryHeld:
		return "Not sent: its endpoint is not active, and its last attempt is still on its way. Resume the endpoint first."
	case errors.Is(err, gateway.ErrDeliveryInFlight):
		return "Not sent: it is on its way right now. Wait for its answer."
	case errors.Is(err, gateway.ErrClaimInProgress):
		return "Not sent: another delivery of the fact is on its way, or nobody knows whether it arrived. See the claim."
	case errors.Is(err, gateway.ErrDeliveryChanged):
		return "Not sent: it has changed since you looked, perhaps because somebody else pressed first. This is how it is now."
	case errors.Is(err, gateway.ErrPayloadGone):
		return "Not sent: the payload was deleted."
	case errors.Is(err, gateway.ErrNotActive):
		return "Not sent: its endpoint was deleted."
	case errors.Is(err, gateway.ErrAttemptsUsedUp):
		return "Not sent: it has had as many attempts as a delivery can have."
	default:
		return ""
	}
}

// deliveryForm reads the delivery and the form of a button, and where that
// stood: where its answer leads.
func (v *visit) deliveryForm() (gateway.Delivery, form, string, error) {
	d, err := v.delivery()
	if err != nil {
		return d, form{}, "", err
	}
	f, err := v.readForm()
	return d, f, localPath(f.text("next"), v.at("deliveries", d.ID.String())), err
}

func askCancel(v *visit) error {
	s, err := v.sight()
	if err != nil {
		return err
	}
	path := v.at("deliveries", s.ID.String())
	return v.ask("Cancel the delivery?", layout.SectionDeliveries, page.QuestionForm(page.Question{
		Action: path + "/cancel", Cancel: path, Title: "Cancel the delivery to " + called(s.endpoint) + "?",
		Submit: "Cancel delivery", Heading: !v.scripted(),
		Text: []string{
			"It is not sent any more. What is on its way right now still arrives, and its answer is kept.",
			"It can be redelivered later.",
		},
	}))
}

func cancelDelivery(v *visit) error {
	d, _, to, err := v.deliveryForm()
	if err != nil {
		return err
	}
	now, err := v.d.Deliver.Cancel(v.ctx(), v.account(), v.actor(), d.ID)
	if errors.Is(err, gateway.ErrStateChanged) {
		return v.refused(to, "Not cancelled: it is "+component.Word(now.Status)+" already.")
	}
	if err != nil {
		return err
	}
	return v.done(to, "The delivery was cancelled.")
}
