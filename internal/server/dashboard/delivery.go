package dashboard

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// deliveryAttempts is how many attempts a page of a delivery shows.
const deliveryAttempts = 25

// sight is a delivery with what it belongs to.
type sight struct {
	gateway.Delivery

	endpoint store.EndpointLabel
	// eventType is empty when the event is not there any more.
	eventType string
	sending   sending
	failovers []page.Failover
	// claim is that of a single-fire type's fact; nil where there is none, or none
	// yet.
	claim *gateway.Claim
}

// showDelivery is the page of one delivery.
func showDelivery(v *visit) error {
	s, err := v.sight()
	if err != nil {
		return err
	}
	frame, left, err := v.frame("Delivery to "+called(s.endpoint), layout.SectionDeliveries)
	if err != nil {
		return err
	}
	view := v.deliveryView(s)
	if view.Open {
		frame.Live = v.live()
	}
	view.Frame = frame
	if err := v.deliveryAttempts(s, &view); err != nil {
		return err
	}
	showSigned(&view, s.sending, left)
	return v.page(page.DeliveryPage(view))
}

// deliveryView shows a delivery without its attempts.
func (v *visit) deliveryView(s sight) page.Delivery {
	id := s.ID.String()
	view := page.Delivery{
		Now: v.now(), ID: id, Path: v.at("deliveries", id), List: v.at("deliveries"),
		Type: s.eventType, Event: s.EventID.String(), EventHref: v.at("events", s.EventID.String()),
		Endpoint: called(s.endpoint), EndpointURL: cmp.Or(s.endpoint.URL, page.ListenedFor), Status: deliveryState(s.Delivery),
		Line: v.deliveryLine(s.Delivery, s.endpoint, s.sending.gone), CreatedAt: s.CreatedAt, ClosedAt: s.ClosedAt,
		Trigger: triggerWords(s.Trigger), Note: v.deliveryNote(s), Manages: v.operates(),
		Cancel: isOpen(s.Status), Open: s.Status == gateway.DeliveryPending || s.Status == gateway.DeliverySending,
	}
	view.Line.Failovers = append(s.failovers, v.claimLinks(s.Delivery, s.claim)...)
	if !s.endpoint.Deleted {
		view.EndpointHref = v.at("endpoints", s.EndpointID.String())
	}
	return view
}

// isOpen tells that a delivery is still to be sent.
func isOpen(status gateway.DeliveryStatus) bool {
	return status == gateway.DeliveryPending || status == gateway.DeliverySending || status == gateway.DeliveryHeld
}

// delivery reads the delivery in the address.
func (v *visit) delivery() (gateway.Delivery, error) {
	id, err := gateway.ParseID[gateway.DeliveryID](v.Param("id"))
	if err != nil {
		return gateway.Delivery{}, err
	}
	d, err := v.d.Store.Delivery(v.ctx(), v.account(), id)
	if errors.Is(err, gateway.ErrExpired) {
		return d, v.expired("delivery", id.Time())
	}
	return d, err
}

// sight reads the delivery in the address with what it belongs to.
func (v *visit) sight() (s sight, err error) {
	if s.Delivery, err = v.delivery(); err != nil {
		return s, err
	}
	labels, err := v.d.Store.EndpointLabels(v.ctx(), v.account(), chainOf(s.Delivery))
	if err != nil {
		return s, err
	}
	s.endpoint, s.failovers = labels[s.EndpointID], v.failoverLinks(s.Delivery, labels)
	if s.claim, err = v.claimOf(s.Delivery); err != nil {
		return s, err
	}
	event, err := v.d.Store.Event(v.ctx(), v.account(), s.EventID)
	if err != nil && !isMissing(err) && !errors.Is(err, gateway.ErrExpired) {
		return s, err
	}
	s.eventType = event.Type
	body, err := v.d.Store.Body(v.ctx(), v.account(), s.EventID)
	s.sending = story{Event: event, body: body}.sendingTo(s.endpoint)
	s.sending.gone = err != nil
	if errors.Is(err, gateway.ErrPayloadGone) || isMissing(err) || errors.Is(err, gateway.ErrExpired) {
		err = nil
	}
	return s, err
}

// deliveryAttempts adds the newest attempts, or those that begin with the one
// in the address, which is open.
func (v *visit) deliveryAttempts(s sight, view *page.Delivery) error {
	asked, first := v.askedAttempt(s.Attempts)
	var before *store.AttemptCursor
	if first < s.Attempts {
		before = &store.AttemptCursor{N: max(first+1, 1)}
		view.Newest = view.Path
	}
	attempts, err := v.d.Store.Attempts(v.ctx(), v.account(), store.AttemptFilter{Delivery: &s.ID}, before, deliveryAttempts+1)
	if err != nil {
		return err
	}
	if len(attempts) > deliveryAttempts {
		attempts = attempts[:deliveryAttempts]
		view.Older = view.Path + "?" + paramAfter + "=" + strconv.Itoa(attempts[deliveryAttempts-1].N)
	}
	for i, a := range attempts {
		shown := v.attemptView(a, called(s.endpoint), s.sending, a.N == asked || i == 0 && asked == 0)
		if i > 0 {
			shown.Next = againAfter(a, attempts[i-1])
		}
		view.Attempts = append(view.Attempts, shown)
	}
	return nil
}

// askedAttempt is which attempt the address asks for, if any, and with which
// the page begins: the newest, if that page has the one that is asked for.
func (v *visit) askedAttempt(newest int) (asked, first int) {
	if after, err := strconv.Atoi(v.QueryParam(paramAfter)); err == nil {
		return 0, after - 1
	}
	asked, err := strconv.Atoi(v.QueryParam("attempt"))
	switch {
	case err != nil, asked < 1:
		return 0, newest
	case asked > newest-deliveryAttempts:
		return asked, newest
	default:
		return asked, asked
	}
}

// deliveryNote says what a state means where the badge does not say it all.
func (v *visit) deliveryNote(s sight) component.Callout {
	if s.claim != nil && s.WaitingOn != nil {
		return v.waitingNote(s.Delivery, *s.claim)
	}
	switch s.Status {
	case gateway.DeliveryHeld:
		return component.Callout{
			Tone: component.ToneInfo, Icon: "pause", Title: "Held: the endpoint is " + string(s.endpoint.State) + ".",
			Text: "It goes on when somebody resumes the endpoint. Nothing is lost meanwhile.",
		}
	case gateway.DeliveryFailed:
		return failedNote(s.Delivery, s.failovers)
	case gateway.DeliverySuppressed:
		return suppressedNote(s.claim)
	case gateway.DeliveryExpired:
		return component.Callout{Tone: component.ToneWarn, Title: "Expired.", Text: "Its retention ended before the endpoint confirmed it."}
	case gateway.DeliveryPending, gateway.DeliverySending, gateway.DeliveryDelivered, gateway.DeliveryCancelled:
	}
	if s.sending.gone {
		return component.Callout{Tone: component.ToneInfo, Title: "The payload was deleted.", Text: "There is nothing left to send again."}
	}
	return component.Callout{}
}
