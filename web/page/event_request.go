package page

import "github.com/rowlock/rowlock/web/component"

// EventRequest is the request that an event came in.
type EventRequest struct {
	// Siblings are the events that came in it, this one included.
	Siblings []Sibling
	// More tells that there are others.
	More bool
	// Whole leads to its bytes; empty where they are not kept by themselves.
	Whole string
	// Late tells that it was refused at first, for LateCause in words; LateHref leads to
	// that request, and is empty when it is no longer kept.
	Late                bool
	LateHref, LateCause string
}

// Sibling is an event that came in the same request.
type Sibling struct {
	ID, Type, Href string
}

// short is the end of its id, which differs between neighbours.
func (s Sibling) short() string {
	const tail = 8
	return "…" + s.ID[max(0, len(s.ID)-tail):]
}

// lateText says why it was accepted late.
func (r EventRequest) lateText() string {
	switch {
	case r.LateHref == "":
		return "It was refused at first, and accepted later. The request is no longer kept."
	case r.LateCause == "":
		return "It was refused at first, and accepted later."
	default:
		return "It was refused at first (" + r.LateCause + "), and accepted later."
	}
}

func (r EventRequest) title() string {
	switch {
	case r.More:
		return "One of many events of one request"
	case len(r.Siblings) > 1:
		return "One of " + component.Number(len(r.Siblings)) + " events of one request"
	case r.Late:
		return "Accepted late"
	default:
		return "Came in a request with others"
	}
}
