package page

// Unsent is an endpoint that asks for an event's type and did not get it, for
// its filter.
type Unsent struct {
	// Endpoint is what it is called, and Href its page.
	Endpoint, Href string
	// Text says why.
	Text string
	// Ask is where it is asked whether to send the event nonetheless; empty when
	// it cannot be.
	Ask string
}
