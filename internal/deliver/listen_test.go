package deliver_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// listened makes an endpoint that is listened for.
func (b *bundle) listened(t *testing.T, change ...func(*gateway.Endpoint)) gateway.Endpoint {
	t.Helper()
	return b.endpoint(t, "", append(change, func(e *gateway.Endpoint) { e.Kind = gateway.EndpointListen })...)
}

// followNotices has a node told of what others change, as a process does.
func (b *bundle) followNotices(t *testing.T, node *deliver.Service) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { b.store.FollowNotices(ctx, store.Notices{Sources: func() {}, Relays: node.HearRelays}) })
	t.Cleanup(func() {
		cancel()
		ended.Wait()
	})
}

// ears is a listener that asks when it is told to.
type ears struct {
	b    *bundle
	node *deliver.Service
	e    gateway.Endpoint
	id   string
	hold []gateway.AttemptID
}

func (b *bundle) ears(e gateway.Endpoint, id string) *ears {
	return &ears{b: b, node: b.Service, e: e, id: id}
}

// ask returns what there is to send. It waits for something.
func (l *ears) ask(t *testing.T) []deliver.Order {
	t.Helper()
	for {
		orders, err := l.node.Listen(t.Context(), l.b.account, actor, l.e.ID, deliver.Listening{
			Listener: gateway.Listener{ID: l.id, Host: "here"}, Holding: l.hold,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(orders) > 0 {
			for i := range orders {
				l.hold = append(l.hold, orders[i].ID)
			}
			return orders
		}
	}
}

// askBriefly asks and goes away when nothing comes at once.
func (l *ears) askBriefly(t *testing.T) ([]deliver.Order, error) {
	t.Helper()
	over := make(chan struct{})
	close(over)
	return l.node.Listen(t.Context(), l.b.account, actor, l.e.ID, deliver.Listening{
		Listener: gateway.Listener{ID: l.id, Host: "here"}, Holding: l.hold, Stop: over,
	})
}

// report tells how orders went, and returns how many of them are known.
func (l *ears) report(t *testing.T, status int, orders ...deliver.Order) int {
	t.Helper()
	reports := make([]deliver.Report, len(orders))
	for i := range orders {
		reports[i] = deliver.Report{ID: orders[i].ID, Status: status, Header: http.Header{"X-Answer": {"yes"}}, Body: []byte("ok"), Duration: time.Millisecond}
		l.hold = slices.DeleteFunc(l.hold, func(id gateway.AttemptID) bool { return id == orders[i].ID })
	}
	known, err := l.node.Report(t.Context(), l.b.account, l.e.ID, l.id, reports)
	if err != nil {
		t.Fatal(err)
	}
	return len(known)
}

// silence has a listener be gone for long.
func (b *bundle) silence(t *testing.T) {
	t.Helper()
	b.exec(t, `UPDATE listeners SET seen_at = clock_timestamp() - interval '1 minute'`)
}

const listenerID = "listener-number-1"

// What is due is given to the listener, as any receiver gets it, and recorded as
// it says.
func TestListen(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.followNotices(t, b.Service)
	e := b.listened(t, func(e *gateway.Endpoint) { e.Headers = []byte("X-Own: theirs\r\n") })
	l := b.ears(e, listenerID)
	id := b.publish(t, e, 1)[0]
	orders := l.ask(t)
	if len(orders) != 1 || orders[0].Delivery != id || orders[0].N != 1 || orders[0].Timeout != patience || orders[0].EventType != eventType {
		t.Fatalf("orders %+v", orders)
	}
	o := orders[0]
	if !verify(t, request{header: o.Header, body: o.Body}, b.secrets(t, e)[0]) || string(o.Body) != eventBody || o.Header.Get("X-Own") != "theirs" ||
		o.Header.Get("Idempotency-Key") != id.String() || o.Header.Get("Content-Type") != "application/x-odd" {
		t.Errorf("order %+v", o)
	}
	if d := b.delivery(t, id); d.Status != gateway.DeliverySending {
		t.Errorf("delivery %+v", d)
	}
	if n := l.report(t, 200, o); n != 1 {
		t.Error("the report is not known")
	}
	d := b.untilStatus(t, id, gateway.DeliveryDelivered)
	if d.Attempts != 1 {
		t.Errorf("delivery %+v", d)
	}
	a := b.attempts(t, id)
	if len(a) != 1 || a[0].Outcome != gateway.OutcomeSucceeded || a[0].StatusCode != 200 || string(a[0].ResponseBody) != "ok" || a[0].Duration != time.Millisecond ||
		gateway.DecodeHeaders(a[0].RequestHeaders).Get("X-Own") != gateway.Redacted || gateway.DecodeHeaders(a[0].ResponseHeaders).Get("X-Answer") != "yes" {
		t.Errorf("attempts %+v", a)
	}
	b.untilCount(t, 0, `SELECT count(*) FROM relays`)
	if n := l.report(t, 200, o); n != 1 {
		t.Error("the report of what is recorded is not known")
	}
	if audit := b.audit(t); !slices.Equal(audit, []string{"endpoint.listen here"}) {
		t.Errorf("audit %q", audit)
	}
}

// While nobody listens deliveries wait: they are not taken, no attempts are
// counted, and nothing fails.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.followNotices(t, b.Service)
	e := b.listened(t)
	id := b.publish(t, e, 1)[0]
	b.untilReleased(t, e)
	if _, err := b.RingAlarms(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := b.delivery(t, id); d.Status != gateway.DeliveryPending || d.Attempts != 0 {
		t.Errorf("delivery %+v", d)
	}
	if _, err := b.Test(t.Context(), b.account, actor, e.ID, ""); !errors.Is(err, gateway.ErrNobodyListens) {
		t.Errorf("a test: %v", err)
	}
	l := b.ears(e, listenerID)
	l.report(t, 204, l.ask(t)...)
	if d := b.untilStatus(t, id, gateway.DeliveryDelivered); d.Attempts != 1 {
		t.Errorf("delivery %+v", d)
	}
	if now := b.readEndpoint(t, e); now.ConsecutiveFailures != 0 {
		t.Errorf("endpoint %+v", now)
	}
}

// What a listener never took goes back as if it had not been tried.
func TestListenerGoneBeforeItTook(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.followNotices(t, b.Service)
	e := b.listened(t)
	l := b.ears(e, listenerID)
	if orders, err := l.askBriefly(t); err != nil || len(orders) != 0 {
		t.Fatalf("orders %v, %v", orders, err)
	}
	id := b.publish(t, e, 1)[0]
	b.untilStatus(t, id, gateway.DeliverySending)
	if err := b.StopListening(t.Context(), b.account, e.ID, l.id); err != nil {
		t.Fatal(err)
	}
	d := b.untilStatus(t, id, gateway.DeliveryPending)
	if d.Attempts != 0 || d.LastOutcome != nil || len(b.attempts(t, id)) != 0 {
		t.Errorf("delivery %+v", d)
	}
	b.untilReleased(t, e)
	other := b.ears(e, "listener-number-2")
	other.report(t, 200, other.ask(t)...)
	if d := b.untilStatus(t, id, gateway.DeliveryDelivered); d.Attempts != 1 {
		t.Errorf("delivery %+v", d)
	}
}

// Of what a listener had when it went nobody knows how it went: that is said, it
// is no failure, and the next one gets it.
func TestListenerGoneWithIt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.followNotices(t, b.Service)
	e := b.listened(t, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{} })
	l := b.ears(e, listenerID)
	id := b.publish(t, e, 1)[0]
	first := l.ask(t)[0]
	b.silence(t)
	b.untilAttempts(t, id, 1)
	if n := l.report(t, 200, first); n != 0 {
		t.Error("a report is known although the order was given up")
	}
	second := l.ask(t)[0]
	if second.Delivery != id || second.N != 2 || second.Header.Get("Idempotency-Key") != first.Header.Get("Idempotency-Key") {
		t.Errorf("order %+v", second)
	}
	l.report(t, 200, second)
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	if a := b.attempts(t, id); len(a) != 2 || a[0].Outcome != gateway.OutcomeUnknown || a[0].Detail == "" || a[1].Outcome != gateway.OutcomeSucceeded {
		t.Errorf("attempts %+v", a)
	}
	if now := b.readEndpoint(t, e); now.ConsecutiveFailures != 0 {
		t.Errorf("endpoint %+v", now)
	}
}

// An order that was lost on the way is given again, as the same attempt.
func TestOrderLostOnTheWay(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.followNotices(t, b.Service)
	e := b.listened(t)
	l := b.ears(e, listenerID)
	id := b.publish(t, e, 1)[0]
	lost := l.ask(t)[0]
	l.hold = nil
	found := l.ask(t)[0]
	if found.ID != lost.ID {
		t.Errorf("got %+v, want %+v again", found, lost)
	}
	if orders, err := l.askBriefly(t); err != nil || len(orders) != 0 {
		t.Errorf("whoever holds it got %+v, %v", orders, err)
	}
	l.report(t, 200, found)
	if d := b.untilStatus(t, id, gateway.DeliveryDelivered); d.Attempts != 1 || len(b.attempts(t, id)) != 1 {
		t.Errorf("delivery %+v", d)
	}
}

// What the local program refuses, or does not answer, is tried again on the
// schedule, as everywhere.
func TestListenRetries(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.followNotices(t, b.Service)
	e := b.listened(t)
	l := b.ears(e, listenerID)
	id := b.publish(t, e, 1)[0]
	l.report(t, 500, l.ask(t)...)
	second := l.ask(t)[0]
	known, err := b.Report(t.Context(), b.account, e.ID, l.id, []deliver.Report{{ID: second.ID, Kind: gateway.ErrorConnect, Detail: "nobody\x00there"}})
	if err != nil || !known[second.ID] {
		t.Fatalf("known %v, %v", known, err)
	}
	l.report(t, 200, l.ask(t)...)
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	a := b.attempts(t, id)
	if len(a) != 3 || a[0].StatusCode != 500 || a[0].Outcome != gateway.OutcomeRejected || a[1].ErrorKind != gateway.ErrorConnect ||
		a[1].Outcome != gateway.OutcomeUnreachable || a[1].Detail != "nobody�there" || a[2].Outcome != gateway.OutcomeSucceeded {
		t.Errorf("attempts %+v", a)
	}
}

// A node that stops leaves what a listener has to the next one, which hears the
// report: nothing is sent again, and nothing unknown.
func TestRelaySurvivesItsNode(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.listened(t)
	first, _, stopFirst := b.node(t, "n2")
	b.followNotices(t, first)
	l := b.ears(e, listenerID)
	if _, err := l.askBriefly(t); err != nil { // so that the lane can be had
		t.Fatal(err)
	}
	ids := b.queue(t, e, 2)
	first.Wake([]store.LaneRef{laneOf(e)})
	l.node = first
	orders := l.ask(t)
	for len(orders) < 2 {
		orders = append(orders, l.ask(t)...)
	}
	stopFirst()
	if n := l.report(t, 200, orders[0]); n != 1 {
		t.Error("a report that nobody waits for is not known")
	}
	b.exec(t, `INSERT INTO nodes (node, seen_at, steady_since, started_at, roles, version) VALUES ('n1', now(), now() - interval '1 minute', now(), 'worker', '')`)
	b.wake(e)
	l.node = b.Service
	b.untilStatus(t, orders[0].Delivery, gateway.DeliveryDelivered)
	l.report(t, 200, orders[1])
	b.untilStatus(t, orders[1].Delivery, gateway.DeliveryDelivered)
	for _, id := range ids {
		if a := b.attempts(t, id); len(a) != 1 || a[0].Outcome != gateway.OutcomeSucceeded {
			t.Errorf("attempts %+v", a)
		}
	}
}

// Two cannot listen for one endpoint, and nobody for one with an address.
func TestListenRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.listened(t)
	if _, err := b.ears(e, listenerID).askBriefly(t); err != nil {
		t.Fatal(err)
	}
	_, err := b.ears(e, "listener-number-2").askBriefly(t)
	var held *gateway.ListenerHeldError
	if !errors.Is(err, gateway.ErrListenerConnected) || !errors.As(err, &held) || held.Host != "here" || held.ID != listenerID {
		t.Errorf("a second one: %v", err)
	}
	if _, err := b.ears(b.endpoint(t, "https://example.com"), listenerID).askBriefly(t); !errors.Is(err, gateway.ErrHasAddress) {
		t.Errorf("one with an address: %v", err)
	}
	stranger := b.newAccount(t, "other")
	if _, err := b.Listen(t.Context(), stranger, actor, e.ID, deliver.Listening{}); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
	if _, err := b.Report(t.Context(), stranger, e.ID, listenerID, nil); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account's report: %v", err)
	}
	if err := b.StopListening(t.Context(), stranger, e.ID, listenerID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account's leaving: %v", err)
	}
}

// What no listener can mean is refused, and nothing of the call is noted.
func TestReportRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.listened(t)
	good := gateway.DeriveAttemptID(gateway.DeriveDeliveryID(gateway.EventID(b.clock.NewID()), e.ID), 1)
	for name, reports := range map[string][]deliver.Report{
		"no attempt":       {{ID: gateway.AttemptID(b.clock.NewID()), Status: 200}, {}},
		"nothing":          {{ID: good}},
		"both":             {{ID: good, Status: 200, Kind: gateway.ErrorConnect}},
		"unknown kind":     {{ID: good, Kind: "disabled"}},
		"no status":        {{ID: good, Status: 600}},
		"twice":            {{ID: good, Status: 200}, {ID: good, Status: 200}},
		"too many headers": {{ID: good, Status: 200, Header: http.Header{"X": {string(make([]byte, 70<<10))}}}},
	} {
		var invalid *gateway.InvalidError
		if _, err := b.Report(t.Context(), b.account, e.ID, listenerID, reports); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A test is sent by the listener, whatever the endpoint's state.
func TestTestOfWhatIsListenedFor(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.followNotices(t, b.Service)
	e := b.listened(t)
	b.pause(t, e)
	l := b.ears(e, listenerID)
	if _, err := l.askBriefly(t); err != nil {
		t.Fatal(err)
	}
	var a gateway.Attempt
	var err error
	var tested sync.WaitGroup
	tested.Go(func() { a, err = b.Test(t.Context(), b.account, actor, e.ID, "") })
	l.report(t, 418, l.ask(t)...)
	tested.Wait()
	if err != nil || a.StatusCode != 418 || a.Outcome != gateway.OutcomeRejected || a.Trigger != gateway.TriggerTest {
		t.Errorf("attempt %+v, %v", a, err)
	}
	if d := b.delivery(t, a.DeliveryID); d.Status != gateway.DeliveryFailed {
		t.Errorf("delivery %+v", d)
	}
	if n := b.count(t, `SELECT count(*) FROM relays`); n != 0 {
		t.Errorf("%d relays are left", n)
	}
}

// A fact is claimed for a listener as for any receiver. When it goes with the
// fact in its hands, the claim stays in doubt.
func TestListenSingleFire(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.followNotices(t, b.Service)
	b.singleFire(t, gateway.OnDoubtHold)
	e := b.listened(t)
	l := b.ears(e, listenerID)
	first := b.report(t, e, 1)[0]
	b.wake(e)
	order := l.ask(t)[0]
	if order.Header.Get("Rowlock-Fence") != "1" || order.Header.Get("Idempotency-Key")[:4] != "clm_" {
		t.Errorf("order %+v", order)
	}
	l.report(t, 200, order)
	b.untilStatus(t, first, gateway.DeliveryDelivered)
	b.untilCount(t, 1, `SELECT count(*) FROM claims WHERE state = 'done'`)
	b.exec(t, `UPDATE claims SET state = 'released'`)
	second := b.report(t, e, 1)[0]
	b.wake(e)
	l.ask(t)
	b.silence(t)
	b.untilAttempts(t, second, 1)
	b.untilCount(t, 1, `SELECT count(*) FROM claims WHERE state = 'in_progress'`)
}

// While many events come, each reaches the listener once, in whatever way its
// askings and reports are cut.
func TestListenLosesNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.followNotices(t, b.Service)
	e := b.listened(t)
	l := b.ears(e, listenerID)
	ids := b.publish(t, e, 40)
	confirmed := map[gateway.DeliveryID]int{}
	for turn := 0; len(confirmed) < len(ids); turn++ {
		if turn%3 == 1 { // the answer to this asking is lost
			holding := slices.Clone(l.hold)
			l.ask(t)
			l.hold = holding
			continue
		}
		for _, o := range l.ask(t) {
			if o.N != 1 {
				t.Errorf("order %+v", o)
			}
			confirmed[o.Delivery]++
			l.report(t, 200, o)
			if turn%3 == 2 { // the answer to this report is lost
				l.report(t, 200, o)
			}
		}
	}
	for _, id := range ids {
		b.untilStatus(t, id, gateway.DeliveryDelivered)
		if n := len(b.attempts(t, id)); n != 1 || confirmed[id] != 1 {
			t.Errorf("%s: %d attempts, confirmed %d times", id, n, confirmed[id])
		}
	}
	pgtest.Until(t, "no relay is left", func() bool { return b.count(t, `SELECT count(*) FROM relays`) == 0 })
}
