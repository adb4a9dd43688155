package operate_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/store"
)

// told stores n events of a type, about a subject, that say their number, each
// with a failed delivery to every endpoint.
func (b *bundle) told(t *testing.T, n int, eventType, subject string, endpoints ...gateway.EndpointID) []gateway.EventID {
	t.Helper()
	events := make([]store.NewEvent, n)
	ids := make([]gateway.EventID, n)
	var deliveries []store.NewDelivery
	for i := range n {
		ids[i] = gateway.EventID(b.clock.NewID())
		events[i] = store.NewEvent{
			Event: gateway.Event{ID: ids[i], AccountID: b.account, SourceID: b.source, Type: eventType, Subject: &subject, Status: gateway.EventProcessed},
			Body:  gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: fmt.Appendf(nil, `{"n":%d}`, i)},
		}
		for _, e := range endpoints {
			deliveries = append(deliveries, store.NewDelivery{AccountID: b.account, EventID: ids[i], EndpointID: e})
		}
	}
	b.in(t, func(tx store.Tx) error {
		if err := tx.InsertEvents(t.Context(), events); err != nil {
			return err
		}
		_, err := tx.InsertDeliveries(t.Context(), deliveries)
		return err
	})
	b.exec(t, `UPDATE deliveries SET status = 'failed', attempts = 8, closed_at = now(), next_attempt_at = NULL, last_outcome = 'rejected', last_status_code = 503 WHERE event_id = ANY ($1)`, ids)
	return ids
}

func redelivery(f gateway.OperationFilter) operate.Request {
	return operate.Request{Kind: gateway.OperationRedeliver, Filter: f}
}

// Deliveries are found by what their events are, many of them in one
// millisecond; each is counted once, and opened once.
func TestRedeliverByEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, nil)
	one, two := b.endpoint(t, r.URL), b.endpoint(t, r.URL)
	paid := b.told(t, 700, "order.paid", "ord_1", one, two)
	sent := b.told(t, 50, "invoice.sent", "inv_1", one)
	b.told(t, 3, "order.paid", "ord_2")
	b.exec(t, `UPDATE deliveries SET status = 'delivered' WHERE event_id = ANY ($1) AND endpoint_id = $2`, paid[:100], two)
	for name, c := range map[string]struct {
		filter gateway.OperationFilter
		want   int
	}{
		"type":              {gateway.OperationFilter{Type: "order.paid"}, 1400},
		"type, failed":      {gateway.OperationFilter{Type: "order.paid", Status: gateway.DeliveryFailed}, 1300},
		"type to endpoint":  {gateway.OperationFilter{Type: "order.paid", Endpoint: &two}, 700},
		"subject":           {gateway.OperationFilter{Subject: "inv_1"}, 50},
		"source":            {gateway.OperationFilter{Source: &b.source}, 1450},
		"status":            {gateway.OperationFilter{EventStatus: gateway.EventProcessed, Type: "invoice.sent"}, 50},
		"other status":      {gateway.OperationFilter{EventStatus: gateway.EventIgnored}, 0},
		"single ones":       {gateway.OperationFilter{Events: []gateway.EventID{paid[0], sent[0], sent[1]}}, 4},
		"a number":          {gateway.OperationFilter{Search: "$.n < 10"}, 30},
		"a number and type": {gateway.OperationFilter{Search: "$.n < 10", Type: "order.paid"}, 20},
		"a header":          {gateway.OperationFilter{Search: "header.content-type ~ json", Subject: "inv_1"}, 50},
		"nothing":           {gateway.OperationFilter{Search: "$.no.such"}, 0},
		"of a past":         {gateway.OperationFilter{Type: "order.paid", Until: b.hourAgo()}, 0},
		"since":             {gateway.OperationFilter{Type: "order.paid", Since: b.hourAgo()}, 1400},
	} {
		t.Run(name, func(t *testing.T) { b.wantCounted(t, c.want, redelivery(c.filter)) })
	}
	filter := redelivery(gateway.OperationFilter{Type: "order.paid", Status: gateway.DeliveryFailed, Search: "$.n >= 50"})
	first, second := b.start(t, filter), b.start(t, filter)
	b.delivering(t)
	wantNumbers(t, b.work(t, first), gateway.OperationDone, 650+600, 650+600, 0)
	if o := b.work(t, second); o.Done != 0 {
		t.Errorf("the second opened %d once more", o.Done)
	}
	b.untilCount(t, 1250, `SELECT count(*) FROM deliveries WHERE status = 'delivered' AND attempts = 9`)
	b.wantCount(t, 50+50, `SELECT count(*) FROM deliveries WHERE status = 'failed'`)
}

// A count that takes too long says that there are more.
func TestCountIsBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.told(t, 5, "a.b", "s", b.endpoint(t, "http://127.0.0.1:1/"))
	b.CountTime = 1
	if n, exact, err := b.Count(t.Context(), b.account, redelivery(gateway.OperationFilter{Type: "a.b"})); n > 5 || exact || err != nil {
		t.Errorf("counted %d, %t, %v", n, exact, err)
	}
}

// What comes in after the start is not meant, although the filter is.
func TestRedeliverByEventsIsFrozen(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, newReceiver(t, nil).URL)
	before := b.told(t, 5, "a.b", "s", e)
	id := b.start(t, redelivery(gateway.OperationFilter{Type: "a.b"}))
	b.told(t, 5, "a.b", "s", e)
	wantNumbers(t, b.work(t, id), gateway.OperationDone, 5, 5, 0)
	b.wantCount(t, 5, `SELECT count(*) FROM deliveries WHERE operation_id IS NOT NULL AND event_id = ANY ($1)`, before)
}

// A stop puts back what nobody has tried.
func TestRedeliverByEventsStopped(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, "http://127.0.0.1:1/")
	b.told(t, 1500, "a.b", "s", e)
	id := b.start(t, redelivery(gateway.OperationFilter{Subject: "s", Endpoint: &e}))
	if err := b.Run(t.Context(), b.account, id); err != nil { // up to the window: nobody delivers
		t.Fatal(err)
	}
	if _, err := b.Cancel(t.Context(), b.account, actor, id); err != nil {
		t.Fatal(err)
	}
	if o := b.work(t, id); o.Restored == 0 || o.Restored != o.Done {
		t.Errorf("%+v", o)
	}
	b.wantCount(t, 1500, `SELECT count(*) FROM deliveries WHERE status = 'failed'`)
}

func TestEventsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	event := gateway.EventID(b.clock.NewID())
	for name, c := range map[string]struct {
		filter gateway.OperationFilter
		field  string
	}{
		"too many":       {gateway.OperationFilter{Events: slices.Repeat([]gateway.EventID{event}, gateway.MaxOperationIDs+1)}, "events"},
		"and deliveries": {gateway.OperationFilter{Events: []gateway.EventID{event}, Deliveries: []gateway.DeliveryID{{}}}, "ids"},
		"and an event":   {gateway.OperationFilter{Type: "a.b", Event: &event}, "ids"},
		"syntax":         {gateway.OperationFilter{Search: "$.a ="}, "search"},
		"status":         {gateway.OperationFilter{EventStatus: "nonsense"}, "event_status"},
	} {
		_, err := b.Start(t.Context(), b.account, actor, redelivery(c.filter))
		wrong, ok := errors.AsType[*gateway.InvalidError](err)
		if !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.field, wrong.Field); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
