package page

import "github.com/rowlock/rowlock/web/layout"

// Search says that nothing was found.
type Search struct {
	layout.Frame

	// Action is where the form is sent.
	Action, Query string
	// Looked are the places in which it was looked for.
	Looked []string
	Events string
	// Further looks for the same in what came in with events.
	Further string
}
