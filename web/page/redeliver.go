package page

import "github.com/rowlock/rowlock/web/component"

// RedeliverEvent asks to which endpoints an event is sent again.
type RedeliverEvent struct {
	// Path is the event's.
	Path, Type string
	Options    []component.Option
	// NewEndpoint is where one is added when there is none.
	NewEndpoint string
	// Heading tells that the question is a page of its own, and no dialog.
	Heading bool
	Errors  Errors
}

// Redeliver asks whether a delivery is sent again.
type Redeliver struct {
	// Path is the delivery's, Back where the answer leads.
	Path, Back string
	Type       string
	Endpoint   string
	// Attempts is how many the reader saw.
	Attempts int
	// Delivered tells that the receiver has confirmed it before.
	Delivered bool
	// Override tells that the fact is to be told once and is confirmed: a reason
	// is asked for, and Entered is what was given.
	Override bool
	Entered  string
	Errors   Errors
	// Refused says why it cannot be sent; empty when it can.
	Refused string
	Heading bool
}

// Question asks before something is done.
type Question struct {
	// Action is where the answer is posted, Cancel the page to go back to.
	Action, Cancel string
	Title, Submit  string
	// Text are the paragraphs that say what will happen.
	Text    []string
	Heading bool
	// Safe tells that it can be undone, or harms nothing.
	Safe bool
}

// submit is the button that does it.
func (q Question) submit() component.Button {
	if q.Safe {
		return component.Button{Label: q.Submit}
	}
	return component.Button{Label: q.Submit, Variant: component.Danger}
}
