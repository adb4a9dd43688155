package fill

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// fanOut is how many of a hundred events go to a second endpoint.
	fanOut = 30
	// secondTries is how many of a hundred delivered ones needed another.
	secondTries = 5
	// busyFanOut and busySecondTries are those of a busy history: two attempts
	// beside each event.
	busyFanOut, busySecondTries = 95, 15
	// triesToFail is how many attempts a failed delivery has had.
	triesToFail = 8
	// retryWait is the time between two attempts.
	retryWait = time.Minute
	// pausedFor is how long the paused endpoints have been so.
	pausedFor = day
	// inTheAir is how many of the last decided events are still being sent.
	inTheAir = 50
)

// delivery is one event on its way to one endpoint.
type delivery struct {
	id       gateway.DeliveryID
	endpoint gateway.EndpointID
	status   gateway.DeliveryStatus
	answers  []answer
}

// answer is how an attempt ended.
type answer struct {
	outcome gateway.Outcome
	cause   gateway.Cause
}

// deliveries sends an event to one or two endpoints that stand side by side.
func (h *history) deliveries(e *event, r *rand.Rand) []delivery {
	count := 1
	if r.IntN(100) < h.busy(fanOut, busyFanOut) && h.Endpoints > 1 {
		count = 2
	}
	first := r.IntN(h.Endpoints)
	all := make([]delivery, count)
	for i := range all {
		all[i] = h.delivery(e, (first+i)%h.Endpoints, r)
	}
	return all
}

func (h *history) delivery(e *event, endpoint int, r *rand.Rand) delivery {
	d := delivery{endpoint: e.account.Endpoints[endpoint], status: pick(r, deliveryStatuses)}
	d.id = gateway.DeriveDeliveryID(e.id, d.endpoint)
	switch {
	case h.isPaused(endpoint) && h.Until.Sub(e.at) < pausedFor:
		d.status = gateway.DeliveryPending
		return d
	case e.n >= h.Events-h.undecided()-inTheAir:
		d.status = gateway.DeliverySending
		return d
	}
	d.answers = h.answers(d.status, r)
	return d
}

// isPaused tells whether an account's nth endpoint is: of several, the last.
func (h *history) isPaused(endpoint int) bool { return endpoint > 0 && endpoint == h.Endpoints-1 }

// busy is a share, or that of a busy history.
func (h *history) busy(usual, busy int) int {
	if h.Busy {
		return busy
	}
	return usual
}

// answers are how a delivery's attempts ended, in their order.
func (h *history) answers(status gateway.DeliveryStatus, r *rand.Rand) (all []answer) {
	failed := 0
	switch status {
	case gateway.DeliveryDelivered:
		if r.IntN(100) < h.busy(secondTries, busySecondTries) {
			failed = 1
		}
	case gateway.DeliveryFailed, gateway.DeliveryExpired:
		failed = triesToFail
	case gateway.DeliveryPending, gateway.DeliveryCancelled:
		failed = 1
	case gateway.DeliverySending, gateway.DeliverySuppressed, gateway.DeliveryHeld:
	}
	for range failed {
		cause := pick(r, failures)
		all = append(all, answer{cause.Outcome(), cause})
	}
	if status == gateway.DeliveryDelivered {
		all = append(all, answer{gateway.OutcomeSucceeded, gateway.Cause{StatusCode: http.StatusOK}})
	}
	return all
}

// last is how the newest attempt ended; no outcome is nil.
func (d *delivery) last() (outcome any, cause gateway.Cause) {
	if len(d.answers) == 0 {
		return nil, cause
	}
	a := d.answers[len(d.answers)-1]
	return string(a.outcome), a.cause
}

// attempts is how many began: one that is in the air has no outcome yet.
func (d *delivery) attempts() int {
	if d.status == gateway.DeliverySending {
		return len(d.answers) + 1
	}
	return len(d.answers)
}

// priority is that of a retry once there was an attempt.
func (d *delivery) priority() int {
	if len(d.answers) > 0 {
		return gateway.PriorityRetry
	}
	return gateway.PriorityFirst
}

// startedAt is when the nth attempt began.
func (e *event) startedAt(n int) time.Time {
	return e.at.Add(5*time.Millisecond + time.Duration(n-1)*retryWait)
}

// nextAttempt is when a pending delivery is due; nil for the others.
func (h *history) nextAttempt(e *event, d *delivery) any {
	if d.status != gateway.DeliveryPending {
		return nil
	}
	if len(d.answers) == 0 {
		return e.at
	}
	return h.Until.Add(retryWait + time.Duration(e.n%3600)*time.Second)
}

// closedAt is when a delivery ended; nil for an open one.
func (e *event) closedAt(d *delivery) any {
	if d.status == gateway.DeliveryPending || d.status == gateway.DeliverySending {
		return nil
	}
	return e.startedAt(max(d.attempts(), 1)).Add(20 * time.Millisecond)
}
