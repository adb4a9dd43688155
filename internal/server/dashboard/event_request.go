package dashboard

import (
	"errors"
	"time"

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
	if err := v.addLate(shown, e); err != nil {
		return nil, err
	}
	if len(siblings) > 1 && e.PayloadDeletedAt == nil {
		shown.Whole = v.at("events", e.ID.String(), "request")
	}
	return shown, nil
}

// lateAfter is longer than a request waits for its events to get their ids: the
// events of an older one were accepted late.
const lateAfter = 10 * time.Second

// addLate adds the request that was refused at first, if it was.
func (v *visit) addLate(shown *page.EventRequest, e gateway.Event) error {
	r, err := v.d.Store.Request(v.ctx(), v.account(), e.SourceID, *e.RequestID)
	switch {
	case err == nil:
		shown.Late, shown.LateCause = true, r.Cause
		shown.LateHref = v.at("sources", e.SourceID.String(), "requests", e.RequestID.String())
	case !isMissing(err) && !errors.Is(err, gateway.ErrExpired):
		return err
	default: // it was never refused, or newer ones have pushed it out
		shown.Late = e.ID.Time().Sub(e.RequestID.Time()) > lateAfter
	}
	return nil
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
