package page

// Failover ties a delivery to another one of the same event: the one in whose
// place it was made, or one that was made in its place.
type Failover struct {
	// Says is "Failover for" or "Failed over to".
	Says string
	// Name is what the other one's endpoint is called, Href leads to the
	// delivery.
	Name, Href string
	// Wraps tells that it is shown whole, on as many lines as it takes.
	Wraps bool
}
