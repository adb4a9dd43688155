package fill

import (
	"math/rand/v2"
	"net/http"

	"github.com/rowlock/rowlock/internal/gateway"
)

// million is what the shares of a choice add up to.
const million = 1_000_000

// share is a value and how many of a million have it. What the shares leave of
// the million is the first value's.
type share[V any] struct {
	value V
	of    int
}

func pick[V any](r *rand.Rand, shares []share[V]) V {
	at := r.IntN(million)
	for _, s := range shares[1:] {
		if at -= s.of; at < 0 {
			return s.value
		}
	}
	return shares[0].value
}

// RareType is the type of some fifty in a million events.
const RareType = "account.closed"

var eventTypes = []share[string]{
	{value: "order.created"},
	{"order.paid", 200_000},
	{"order.shipped", 150_000},
	{"invoice.sent", 100_000},
	{"invoice.paid", 80_000},
	{"customer.updated", 50_000},
	{"refund.made", 5_000},
	{RareType, 50},
}

var eventStatuses = []share[gateway.EventStatus]{
	{value: gateway.EventProcessed},
	{gateway.EventIgnored, 20_000},
	{gateway.EventNoEndpoints, 10_000},
	{gateway.EventDuplicateFact, 3_000},
	{gateway.EventStaleFact, 1_000},
	{gateway.EventRuleError, 500},
	{gateway.EventUnresolved, 100},
	{gateway.EventHeld, 50},
}

var deliveryStatuses = []share[gateway.DeliveryStatus]{
	{value: gateway.DeliveryDelivered},
	{gateway.DeliveryFailed, 5_000},
	{gateway.DeliverySuppressed, 500},
	{gateway.DeliveryCancelled, 300},
	{gateway.DeliveryExpired, 50},
	{gateway.DeliveryPending, 1_000},
}

// RareCause is that of one in some thousand failures.
var RareCause = gateway.Cause{StatusCode: http.StatusTeapot}

// failures are why the attempts failed; an unknown outcome has no cause.
var failures = []share[gateway.Cause]{
	{value: gateway.Cause{StatusCode: http.StatusInternalServerError}},
	{gateway.Cause{StatusCode: http.StatusServiceUnavailable}, 300_000},
	{gateway.Cause{ErrorKind: gateway.ErrorTimeout}, 250_000},
	{gateway.Cause{ErrorKind: gateway.ErrorConnect}, 50_000},
	{gateway.Cause{}, 2_000},
	{RareCause, 500},
}

var causes = []share[string]{
	{value: gateway.CauseDuplicate},
	{"signature_invalid", 200_000},
	{"body_too_large", 500},
}
