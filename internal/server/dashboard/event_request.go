package dashboard

import (
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// eventSiblings is how many events of one request a page lists.
const eventSiblings = 50

// requestOf is the request that an event came in, where that is kept by itself;
// nil for all others.
func (v *visit) requestOf(e gateway.Event) (*page.EventRequest, error) {
	if e.RequestID == nil {
		return nil, nil
	}
	siblings, err := v.d.Store.Siblings(v.ctx(), v.account(), e, eventSiblings+1)
	if err != nil {
		return nil, err
	}
	shown := &page.EventRequest{More: len(siblings) > eventSiblings}
	for _, s := range siblings[:min(len(siblings), eventSiblings)] {
		id := s.ID.String()
		shown.Siblings = append(shown.Siblings, page.Sibling{ID: id, Type: s.Type, Href: v.at("events", id)})
	}
	switch _, err := v.d.Store.Request(v.ctx(), v.account(), e.SourceID, *e.RequestID); {
	case err == nil:
		shown.Late = v.at("sources", e.SourceID.String(), "requests", e.RequestID.String())
	case !errors.Is(err, gateway.ErrNotFound) && !errors.Is(err, gateway.ErrExpired):
		return nil, err
	}
	if len(siblings) > 1 && e.PayloadDeletedAt == nil {
		shown.Whole = v.at("events", e.ID.String(), "request")
	}
	return shown, nil
}

// wholeRequest sends the bytes of the request that an event came in with others.
func wholeRequest(v *visit) error {
	e, err := v.event()
	if err != nil {
		return err
	}
	if e.RequestID == nil {
		return gateway.ErrNotFound
	}
	body, err := v.d.Store.WholeRequest(v.ctx(), v.account(), *e.RequestID)
	if err != nil {
		return err
	}
	return v.attach(e.RequestID.String(), body)
}
