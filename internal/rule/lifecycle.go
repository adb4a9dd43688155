package rule

import "github.com/rowlock/rowlock/internal/gateway"

// Lifecycle is a rule to begin with, for subjects whose states come in a
// well-known order.
type Lifecycle struct {
	// Name is for addresses, Title and Text are for people.
	Name, Title, Text string
	Rule              gateway.Rule
}

// Lifecycles lists them. Their fields are those that many senders have: where a
// sender calls them otherwise, the expressions are changed.
func Lifecycles() []Lifecycle {
	return []Lifecycle{
		{
			"messages", "Message receipts",
			"Each state of a message is told once: message.sent, message.delivered. After delivered, failed or undelivered nothing more is told of it, and queued is not told after sent.",
			gateway.Rule{
				Subject: `body.message_id`, State: `body.status`, Emit: `"message." + body.status`,
				Rank: []string{"queued", "sending", "sent", "delivered"}, Terminal: []string{"delivered", "failed", "undelivered"},
			},
		},
		{
			"calls", "Calls",
			"Ringing, answered, completed, each once and in this order. A call that was busy, failed, cancelled or not answered is over: what is reported of it later is not told.",
			gateway.Rule{
				Subject: `body.call_id`, State: `body.status`, Emit: `"call." + body.status`,
				Rank: []string{"initiated", "ringing", "answered", "completed"}, Terminal: []string{"completed", "busy", "failed", "canceled", "no-answer"},
			},
		},
		{
			"payments", "Payments",
			"Pending, authorized, succeeded, refunded. A try that failed is told, and success can follow it. After cancelled or refunded nothing more is told.",
			gateway.Rule{
				Subject: `body.payment_id`, State: `body.status`, Emit: `"payment." + body.status`,
				Rank: []string{"pending", "authorized", "succeeded", "refunded"}, Terminal: []string{"canceled", "refunded"},
			},
		},
		{
			"shipments", "Shipments",
			"From created to delivered, each stage once, however often a carrier scans the parcel. Delivered, returned and lost are the last word.",
			gateway.Rule{
				Subject: `body.tracking_number`, State: `body.status`, Emit: `"shipment." + body.status`,
				Rank:     []string{"created", "picked_up", "in_transit", "out_for_delivery", "delivered"},
				Terminal: []string{"delivered", "returned", "lost"},
			},
		},
		{
			"loans", "Loans",
			"Applied, approved, funded, repaid. Declined, withdrawn, repaid and charged off end it: an approval that is reported after that is not told.",
			gateway.Rule{
				Subject: `body.loan_id`, State: `body.status`, Emit: `"loan." + body.status`,
				Rank: []string{"applied", "approved", "funded", "repaid"}, Terminal: []string{"declined", "withdrawn", "repaid", "charged_off"},
			},
		},
	}
}
