package decide_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// filtered makes an endpoint with a filter.
func (b *bundle) filtered(t *testing.T, filter string, types ...string) gateway.EndpointID {
	t.Helper()
	id := b.endpoint(t, types...)
	b.exec(t, `UPDATE endpoints SET filter = $2 WHERE id = $1`, id, filter)
	return id
}

// saying stores an event with this body.
func (b *bundle) saying(t *testing.T, eventType, data string) gateway.EventID {
	t.Helper()
	subject := "s1"
	e := store.NewEvent{
		Event: gateway.Event{
			ID: gateway.EventID(b.clock.NewID()), AccountID: b.account, SourceID: b.source, Type: eventType, Subject: &subject,
			Status: gateway.EventAccepted, BodySize: len(data),
		},
		Body: gateway.Body{Method: "POST", Query: []byte("env=live"), Headers: []byte("X-Env: live\r\n"), Data: []byte(data)},
	}
	b.in(t, func(tx store.Tx) error { return tx.InsertEvents(t.Context(), []store.NewEvent{e}) })
	return e.Event.ID
}

// wantSent fails unless just these endpoints have a delivery of an event.
func (b *bundle) wantSent(t *testing.T, event gateway.EventID, want ...gateway.EndpointID) {
	t.Helper()
	var got []gateway.EndpointID
	b.in(t, func(tx store.Tx) error {
		all, err := tx.EventDeliveries(t.Context(), b.account, event, nil)
		for _, d := range all {
			got = append(got, d.EndpointID)
		}
		return err
	})
	slices.SortFunc(got, gateway.EndpointID.Compare)
	slices.SortFunc(want, gateway.EndpointID.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("sent to %v, want %v", got, want)
	}
}

func TestFiltersDecide(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	all := b.endpoint(t)
	large, live := b.filtered(t, "body.amount > 100"), b.filtered(t, `headers["x-env"] == "live" && query.env == "live" && subject == "s1" && source.kind == "api"`, "order.*")
	refunds, broken := b.filtered(t, "true", "refund.*"), b.filtered(t, "body.amount >")
	b.filtered(t, "body.none > 1")
	many, few, text := b.saying(t, "order.created", `{"amount":250}`), b.saying(t, "order.created", `{"amount":9}`), b.saying(t, "a", "no JSON")
	refund := b.saying(t, "refund.created", `{"amount":101}`)
	b.process(t, many, few, text, refund)
	b.wantSent(t, many, all, large, live)
	b.wantSent(t, few, all, live)
	b.wantSent(t, text, all)
	b.wantSent(t, refund, all, large, refunds)
	b.wantStatus(t, gateway.EventProcessed, many, few, text, refund)
	b.wantCount(t, 0, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, broken)
}

func TestNobodyWantsIt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	check := func(want string) {
		t.Helper()
		id := b.saying(t, "order.created", `{"amount":9}`)
		b.process(t, id)
		if e := b.event(t, id); e.Status != gateway.EventNoEndpoints || e.Decision != want {
			t.Errorf("%s: %q, want %q", e.Status, e.Decision, want)
		}
	}
	check("no endpoint asks for order.created")
	first := b.filtered(t, "body.amount > 100")
	check("one endpoint asks for order.created, and its filter does not match")
	b.exec(t, `UPDATE endpoints SET filter = 'body.amout > 100' WHERE id = $1`, first)
	check("one endpoint asks for order.created, and its filter could not be evaluated: no such key: amout")
	b.filtered(t, "false")
	check("2 endpoints ask for order.created, and the filter of none matches; 1 could not be evaluated, the first: no such key: amout")
	b.exec(t, `UPDATE endpoints SET filter = 'false'`)
	check("2 endpoints ask for order.created, and the filter of none matches")
	b.wantCount(t, 0, alarms)
}

// What nobody wanted is decided again when the filter was mended.
func TestProcessAfterTheFilterWasMended(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	endpoint := b.filtered(t, "body.amout > 1")
	id := b.saying(t, "a", `{"amount":9}`)
	b.process(t, id)
	b.wantStatus(t, gateway.EventNoEndpoints, id)
	b.exec(t, `UPDATE endpoints SET filter = 'body.amount > 1'`)
	if err := b.Reprocess(t.Context(), b.account, actor, id); err != nil {
		t.Fatal(err)
	}
	b.process(t, id)
	b.process(t, id)
	b.wantSent(t, id, endpoint)
	b.wantCount(t, 1, `SELECT sum(events)::int FROM usage WHERE account_id = $1`, b.account)
}

// The filters of one account see nothing of another's events.
func TestFiltersOfSeveralAccounts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	mine := b.filtered(t, "body.n == 1")
	first := b.saying(t, "a", `{"n":1}`)
	account, source := b.account, b.source
	b.account, b.source = b.newAccount(t, "other")
	theirs, strict := b.endpoint(t), b.filtered(t, "body.n == 2")
	second := b.saying(t, "a", `{"n":1}`)
	b.process(t, first, second)
	b.wantSent(t, second, theirs)
	b.wantCount(t, 0, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, strict)
	b.account, b.source = account, source
	b.wantSent(t, first, mine)
}

// A paused source's events are held, whatever the filters say.
func TestHeldIsNotFiltered(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.filtered(t, "false")
	id := b.saying(t, "a", `1`)
	b.exec(t, `UPDATE sources SET state = 'paused' WHERE id = $1`, b.source)
	b.process(t, id)
	b.wantStatus(t, gateway.EventHeld, id)
}

// Bodies that do not fit into memory together are looked at one after another.
func TestFiltersOfLargeBodies(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	endpoint := b.filtered(t, `body.n >= 5`)
	var ids []gateway.EventID
	for n := range 10 {
		ids = append(ids, b.saying(t, "a", fmt.Sprintf(`{"n":%d,"pad":"%s"}`, n, strings.Repeat("x", 900_000))))
	}
	b.process(t, ids...)
	b.wantCount(t, 5, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, endpoint)
	b.wantStatus(t, gateway.EventProcessed, ids[5:]...)
	b.wantStatus(t, gateway.EventNoEndpoints, ids[:5]...)
}

// Whoever decides, and however many at once, each endpoint gets what its filter
// lets through, once.
func TestFiltersAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	even := b.filtered(t, `body.n % 2 == 0`)
	all := b.endpoint(t)
	var ids []gateway.EventID
	for n := range 20 {
		ids = append(ids, b.saying(t, "a", fmt.Sprintf(`{"n":%d}`, n)))
	}
	pgtest.AtOnce(8, func(int) {
		if err := b.Process(t.Context(), ids); err != nil {
			t.Error(err)
		}
	})
	b.wantCount(t, 10, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, even)
	b.wantCount(t, 20, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, all)
}

// Filters as dear as they can be keep an event no longer than they may, and the
// events beside it go out.
func TestDearFiltersDoNotBlock(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for i := range 200 {
		b.filtered(t, fmt.Sprintf(`body.l.all(a, body.l.all(b, a + b > -%d))`, i+1))
	}
	all := b.endpoint(t)
	list := `{"l":[` + strings.Repeat("1,", 2000) + `1]}`
	ids := []gateway.EventID{b.saying(t, "a", list), b.saying(t, "a", list), b.saying(t, "a", `{"l":[]}`)}
	b.process(t, ids...)
	b.wantStatus(t, gateway.EventProcessed, ids...)
	b.wantCount(t, 3, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, all)
	b.wantCount(t, 201, `SELECT count(*) FROM deliveries WHERE event_id = $1`, ids[2])
}

func TestDecisionsAreTold(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.filtered(t, strings.Repeat("x", 4000))
	id := b.saying(t, "a", `1`)
	b.process(t, id)
	if diff := cmp.Diff(true, len(b.event(t, id).Decision) < 1000); diff != "" {
		t.Error("the decision repeats all of the filter")
	}
}
