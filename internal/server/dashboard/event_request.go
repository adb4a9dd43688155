package dashboard

import (
	"errors"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// eventSiblings is how many events of one request a page lists.
const eventSiblings = 50

// requestOf is the request that an event came in, where that is kept by itself;
// nil for all others.
func (v *visit) requestOf(story story) (*page.EventRequest, error) {
	e := story.Event
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
	v.addLate(shown, story)
	if len(siblings) > 1 && e.PayloadDeletedAt == nil {
		shown.Whole = v.at("events", e.ID.String(), "request")
	}
	return shown, nil
}

// lateAfter is longer than a request waits for its events to get their ids: the
// events of an older one were accepted late.
const lateAfter = 10 * time.Second

// addLate adds the request that was refused at first, if it was.
func (v *visit) addLate(shown *page.EventRequest, s story) {
	if s.late == nil { // it was never refused, or newer ones have pushed it out
		shown.Late = s.ID.Time().Sub(s.RequestID.Time()) > lateAfter
		return
	}
	shown.Late, shown.LateCause = true, strings.ToLower(kindOf(s.source.Kind).CauseWord(s.late.Cause))
	shown.LateHref = v.at("sources", s.SourceID.String(), "requests", s.late.ID.String())
}

// lateRequest is the request that an event came in, where it was refused at
// first; nil where it was not, or is no longer kept.
func (v *visit) lateRequest(e gateway.Event) (*gateway.Request, error) {
	if e.RequestID == nil {
		return nil, nil
	}
	r, err := v.d.Store.Request(v.ctx(), v.account(), e.SourceID, *e.RequestID)
	switch {
	case err == nil:
		return &r, nil
	case isMissing(err), errors.Is(err, gateway.ErrExpired):
		return nil, nil
	default:
		return nil, err
	}
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
