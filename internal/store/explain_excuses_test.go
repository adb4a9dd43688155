package store_test

// byID are the methods that are given an id, and read one day of each table.
var byID = []string{
	"Store.Event", "Store.Body", "Store.DeliverySummary",
	"Store.Delivery", "Store.DeliveryAttempts", "Store.Attempt", "Store.EventAttempts", "Store.Request",
	"Tx.DeliveryInTx", "Tx.EventDeliveries", "Tx.Reopen", "Tx.CancelDelivery",
	"Tx.ReopenEvent", "Tx.DeletePayload", "Tx.InsertTested", "Tx.ExpireDay", "Tx.NoteOpen",
}

// excuses are the plans that do what others may not, and why. What is the
// fault; part, when there is one, is in the text of the statement.
var excuses = []struct{ method, what, part, why string }{
	{"Store.DeliverySummary", sorted, "", "it counts one event's deliveries"},
	{"Store.Deliveries", sorted, "CROSS JOIN LATERAL", "each endpoint gives a page at the most"},
	{"Store.TrimRequests", readsMany, "", "it counts what each source keeps, in the index alone"},
	{"Store.Failures", sorted, "", "it groups those of a bounded number"},
	{"Store.Retrying", sorted, "", "it groups those of a bounded number"},
	{"Store.CountFailed", sorted, "", "it groups those of a bounded number where something was dismissed"},
	{"Tx.DeletePayload", manyDays, "'duplicate'", "an event's repeats come on any day after it"},
	{"Tx.MakeDue", sorted, "", "it locks a bounded number in the order of their ids"},
	{"Store.SourceCounts", sorted, "requests", "it counts what each source keeps by its cause"},
	{"Store.EndpointHealth", readsMany, "", "it counts each endpoint's in the index alone, up to a bound"},
	{"Store.EventAttempts", sorted, "", "it puts one event's attempts in the order of time"},
	{"Store.SilentLanes", sorted, "", "it joins a bounded number of lanes"},
	{"Store.OperationCounts", sorted, "", "it counts in the index alone, up to a bound"},
	{"Tx.TakeUndecided", sorted, "", "it was given the ids, and locks in their order"},
	{"Tx.TakeRelays", sorted, "", "it puts those of one endpoint in order that nobody has taken yet"},
	{"Store.GiveUpRelays", sorted, "", "it locks those of one endpoint in the order of their keys"},
	{"Store.Standing", sorted, "", "it puts a bounded number of lanes in order, and joins a bounded number of deliveries"},
	{"Store.Standing", readsMany, "status = 'pending'", "it counts what waits up to a bound"},
	{"Store.HeldAtActive", wholeDay, "", "a day that nobody has analyzed is thought to have a page of rows, and sessions read no whole tables"},
}
