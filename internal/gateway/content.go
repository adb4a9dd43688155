package gateway

// Content is what a filter can look at of an event.
type Content struct {
	Type string
	// Subject is empty when there is none.
	Subject string
	// Source has its id, uid, name and kind.
	Source Source
	// Body is empty when the payload was deleted.
	Body Body
}
