package dashboard

import (
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// peekedDeliveries is how many deliveries are shown beside the list.
	peekedDeliveries = 20
	// peekedPayload is how much of a payload is, in bytes.
	peekedPayload = 4 << 10
)

// peekEvent shows an event beside the list that it stands in. Who has no script
// is led to its page.
func peekEvent(v *visit) error {
	event, err := v.event()
	if err != nil {
		return err
	}
	if !v.scripted() {
		return v.redirect(v.at("events", event.ID.String()))
	}
	s := story{Event: event}
	if s.body, err = v.d.Store.Body(v.ctx(), v.account(), event.ID); err != nil && !errors.Is(err, gateway.ErrPayloadGone) {
		return err
	}
	labels, err := v.d.Store.SourceLabels(v.ctx(), v.account(), []gateway.SourceID{event.SourceID})
	if err != nil {
		return err
	}
	s.source = labels[event.SourceID]
	s.deliveries, err = v.d.Store.DeliveryRows(v.ctx(), v.account(), store.DeliveryFilter{Event: &event.ID}, store.Page[gateway.DeliveryID]{Limit: peekedDeliveries})
	if err != nil {
		return err
	}
	one := []gateway.EventID{event.ID}
	progress, err := v.d.Store.Progress(v.ctx(), v.account(), one)
	if err != nil {
		return err
	}
	copies, err := v.d.Store.Copies(v.ctx(), v.account(), one)
	if err != nil {
		return err
	}
	return v.page(page.EventPeek(v.peekView(s, progress[event.ID], copies[event.ID])))
}

// peekView shows an event as it stands with all of its deliveries, of which it may
// list some.
func (v *visit) peekView(s story, progress store.Progress, copies int) page.Event {
	id := s.ID.String()
	view := page.Event{
		Now: v.now(), ID: id, Path: v.at("events", id), Type: s.Type, Status: overall(s.Status, progress), Source: v.sourceRef(s.SourceID, s.source),
		ReceivedAt: s.ID.Time(), Key: string(s.Key), Duplicates: copiesText(copies),
		Deliveries: v.deliveryLines(s), Reached: reached(s.Event, progress, len(s.deliveries)), Payload: v.payloadView(s),
	}
	view.Some = len(s.deliveries) < progress.Total
	if s.Subject != nil {
		view.Subject, view.SubjectHref = *s.Subject, v.listing(v.at("events")).with("subject", *s.Subject)
	}
	if shown := view.Payload.Shown; len(shown) > peekedPayload {
		view.Payload.Shown = wholeRunes(shown[:peekedPayload])
	}
	return view
}
