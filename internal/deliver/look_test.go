package deliver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// A lane that is kept busy by answers that trickle in finds work whose wake-up
// went to another node: it does not wait for the last answer.
func TestBusyLaneFindsWorkItWasNotToldOf(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const slow = 8
	trickle := make(chan struct{})
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request, n int) {
		if n <= slow {
			held(t, trickle)(w, req, n)
		}
	})
	e := b.endpoint(t, r.URL)
	b.exec(t, `UPDATE lanes SET in_flight_cap = 20`)
	b.publish(t, e, slow)
	r.until(t, slow)
	untold := b.queue(t, e, 1)[0]
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	answered := 0
	for b.delivery(t, untold).Status != gateway.DeliveryDelivered {
		<-tick.C
		trickle <- struct{}{} // lets one answer go
		if answered++; answered == slow {
			t.Fatal("it waited for the last answer")
		}
	}
	close(trickle)
	b.untilCount(t, 0, open)
}
