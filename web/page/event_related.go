package page

// Related are other events that have something in common with one.
type Related struct {
	// What they have in common: "subject".
	What string
	// Value is what it says, and Href leads to all that have it.
	Value, Href string
	Rows        []EventRow
	// More tells that there are more than these.
	More bool
}
