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
	// Late leads to the request that was refused at first; empty for none.
	Late string
}

// Sibling is an event that came in the same request.
type Sibling struct {
	ID, Type, Href string
}

func (r EventRequest) title() string {
	switch {
	case r.More:
		return "One of many events of one request"
	case len(r.Siblings) > 1:
		return "One of " + component.Number(len(r.Siblings)) + " events of one request"
	case r.Late != "":
		return "Accepted late"
	default:
		return "Came in a request with others"
	}
}
