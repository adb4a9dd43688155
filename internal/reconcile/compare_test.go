package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/store"
)

// missing reads why events are missing, by their keys.
func (b *bundle) missing(t testing.TB, id gateway.ReconciliationID) map[string]gateway.RowReason {
	t.Helper()
	rows, err := b.store.MissingRows(t.Context(), b.account, id, "", store.Page[gateway.EventID]{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]gateway.RowReason{}
	for _, row := range rows {
		found[row.Key] = row.Reason
	}
	return found
}

// listed reads the partner's rows with a result, by their keys.
func (b *bundle) listed(t testing.TB, id gateway.ReconciliationID, result gateway.RowResult) map[string]gateway.RowReason {
	t.Helper()
	rows, err := b.store.PartnerRows(t.Context(), b.account, id, result, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]gateway.RowReason{}
	for _, row := range rows {
		found[row.Key] = row.Reason
	}
	return found
}

func want(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestEveryDifferenceIsFoundWithItsReason(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.send(t,
		sent{key: "both", delivery: gateway.DeliveryDelivered},
		sent{key: "both, unconfirmed", delivery: gateway.DeliveryFailed},
		sent{key: "never", status: gateway.EventNoEndpoints},
		sent{key: "undecided", status: gateway.EventRuleError},
		sent{key: "failed", delivery: gateway.DeliveryFailed},
		sent{key: "suppressed", delivery: gateway.DeliverySuppressed},
		sent{key: "open", delivery: gateway.DeliveryPending},
		sent{key: "cancelled", delivery: gateway.DeliveryCancelled},
		sent{key: "expired", delivery: gateway.DeliveryExpired},
		sent{key: "delivered", delivery: gateway.DeliveryDelivered},
		sent{key: "not asked for", eventType: "mail.sent"},
		sent{key: "ignored", status: gateway.EventIgnored},
		sent{key: "before", delivery: gateway.DeliveryDelivered, age: 2 * time.Hour},
		sent{delivery: gateway.DeliveryDelivered},
	)
	b.knowKeys(t)
	list := strings.Join([]string{"both", "\"both, unconfirmed\"", "both", "nobody's", "not asked for", "before", "both"}, "\n")
	id := b.create(t, b.comparison(gateway.MatchByKey), list)
	r := b.work(t, id)
	want(t, "numbers", numbersOf(r), numbers{Rows: 7, Matched: 3, Unknown: 2, Repeated: 2, Ours: 11, Missing: 8, Sendable: 6, Unnamed: 1})
	want(t, "missing", b.missing(t, id), map[string]gateway.RowReason{
		"never": gateway.ReasonNeverCreated, "undecided": gateway.ReasonNeverCreated, "failed": gateway.ReasonFailed,
		"suppressed": gateway.ReasonSuppressed, "open": gateway.ReasonOpen, "cancelled": gateway.ReasonCancelled,
		"expired": gateway.ReasonExpired, "delivered": gateway.ReasonDelivered,
	})
	want(t, "matched", b.listed(t, id, gateway.RowMatched), map[string]gateway.RowReason{
		"both": "", "both, unconfirmed": gateway.ReasonUnconfirmed, "before": gateway.ReasonOutside,
	})
	want(t, "unknown", b.listed(t, id, gateway.RowUnknown), map[string]gateway.RowReason{
		"nobody's": gateway.ReasonNoEvent, "not asked for": gateway.ReasonOtherEndpoint,
	})
	want(t, "repeated", b.listed(t, id, gateway.RowRepeated), map[string]gateway.RowReason{"both": ""})
}

// knowKeys has the keys of all events known as accepting them does.
func (b *bundle) knowKeys(t testing.TB) {
	t.Helper()
	b.exec(t, `
		INSERT INTO event_keys (account_id, source_id, key_hash, event_id, body_hash)
		SELECT account_id, source_id, sha256(key), id, ''
		FROM events
		WHERE key IS NOT NULL`)
}

func TestWhatWaitsAtAPausedEndpointIsHeld(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.send(t, sent{subject: "o1", delivery: gateway.DeliveryPending}, sent{subject: "o2", delivery: gateway.DeliveryDelivered})
	b.in(t, func(tx store.Tx) error {
		_, err := tx.PauseEndpoint(t.Context(), b.account, b.endpoint)
		return err
	})
	id := b.create(t, b.comparison(gateway.MatchBySubject), "o2\n")
	want(t, "numbers", numbersOf(b.work(t, id)), numbers{Rows: 1, Matched: 1, Ours: 2, Missing: 1})
	want(t, "missing", b.missing(t, id), map[string]gateway.RowReason{"o1": gateway.ReasonHeld})
}

func TestListsAreComparedByEventID(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.send(t, sent{delivery: gateway.DeliveryDelivered}, sent{delivery: gateway.DeliveryFailed},
		sent{delivery: gateway.DeliveryDelivered, age: 3 * time.Hour})
	strange := gateway.EventID(b.clock.NewID())
	id := b.create(t, b.comparison(gateway.MatchByEvent), lines(ids[0], ids[2], strange)+"order-1\n")
	want(t, "numbers", numbersOf(b.work(t, id)), numbers{Rows: 3, Faulty: 1, Matched: 2, Unknown: 1, Ours: 2, Missing: 1, Sendable: 1})
	want(t, "missing", b.missing(t, id), map[string]gateway.RowReason{ids[1].String(): gateway.ReasonFailed})
	want(t, "unknown", b.listed(t, id, gateway.RowUnknown), map[string]gateway.RowReason{strange.String(): gateway.ReasonNoEvent})
	faulty, err := b.store.FaultyRows(t.Context(), b.account, id, 0, 10)
	if err != nil || len(faulty) != 1 || faulty[0].N != 4 || !strings.Contains(faulty[0].Why, "evt_") {
		t.Errorf("faulty rows %v, %v; want line 4", faulty, err)
	}
}

// With types, a subject that was told three things is three rows.
func TestTypesMakeRowsTogetherWithSubjects(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.send(t,
		sent{subject: "o1", eventType: "order.created", delivery: gateway.DeliveryDelivered},
		sent{subject: "o1", eventType: "order.paid", delivery: gateway.DeliveryFailed},
		sent{subject: "o1", eventType: "order.sent", delivery: gateway.DeliveryDelivered},
		sent{subject: "o1", eventType: "order.sent", delivery: gateway.DeliveryDelivered},
	)
	in := b.comparison(gateway.MatchBySubject)
	in.NoHeader, in.TypeColumn = false, "what"
	typed := b.create(t, in, "subject,what\no1,order.created\no1,order.sent\no1,order.lost\n")
	want(t, "with types", numbersOf(b.work(t, typed)), numbers{Rows: 3, Matched: 2, Unknown: 1, Ours: 4, Missing: 1, Sendable: 1})
	want(t, "unknown", b.listed(t, typed, gateway.RowUnknown), map[string]gateway.RowReason{"o1": gateway.ReasonOtherType})
	plain := b.create(t, b.comparison(gateway.MatchBySubject), "o1\n")
	want(t, "without types", numbersOf(b.work(t, plain)), numbers{Rows: 1, Matched: 1, Ours: 4})
}

func TestAnEndpointsFilterSaysWhatWasForIt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint = b.newEndpoint(t, gateway.Endpoint{EventTypes: []string{"order.*"}, Filter: `body.total > 10`})
	var all []sent
	for range 20 {
		all = append(all, sent{key: "low", data: `{"total":3}`}, sent{key: "broken", data: `{}`})
	}
	b.send(t, append(all, sent{key: "high", data: `{"total":30}`})...)
	id := b.create(t, b.comparison(gateway.MatchByKey), "x\n")
	want(t, "numbers", numbersOf(b.work(t, id)), numbers{Rows: 1, Unknown: 1, Ours: 1, Missing: 1, Sendable: 1})
	want(t, "missing", b.missing(t, id), map[string]gateway.RowReason{"high": gateway.ReasonNeverCreated})
}

// What has no payload, and what the receiver has confirmed as done, is missing
// and cannot be sent with the others.
func TestNotAllThatIsMissingCanBeSent(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.send(t, sent{key: "gone", delivery: gateway.DeliveryFailed}, sent{key: "done", delivery: gateway.DeliveryDelivered},
		sent{key: "fine", delivery: gateway.DeliveryFailed})
	b.in(t, func(tx store.Tx) error {
		_, err := tx.DeletePayload(t.Context(), b.account, ids[0])
		return err
	})
	b.exec(t, `
		WITH c AS (
			INSERT INTO claims (id, account_id, scope, key_hash, key, event_type, subject, state, holder, fence, on_doubt, claimed_at, lease_expires_at)
			VALUES (gen_random_uuid(), $1, 's', '', 'k', 't', 's', 'done', 'h', 1, 'hold', now(), now())
			RETURNING id)
		UPDATE deliveries SET claim_id = (SELECT id FROM c) WHERE id = $2`, b.account, gateway.DeriveDeliveryID(ids[1], b.endpoint))
	id := b.create(t, b.comparison(gateway.MatchByKey), "x\n")
	want(t, "numbers", numbersOf(b.work(t, id)), numbers{Rows: 1, Unknown: 1, Ours: 3, Missing: 3, Sendable: 1})
}

func TestNumbersAsKeysKeepEveryDigit(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.send(t, sent{key: "9007199254740992", delivery: gateway.DeliveryDelivered}, sent{key: "9007199254740993", delivery: gateway.DeliveryDelivered})
	in := b.comparison(gateway.MatchByKey)
	in.Format = reconcile.FormatNDJSON
	id := b.create(t, in, `{"key":9007199254740993}`)
	want(t, "numbers", numbersOf(b.work(t, id)), numbers{Rows: 1, Matched: 1, Ours: 2, Missing: 1, Sendable: 1})
	want(t, "missing", b.missing(t, id), map[string]gateway.RowReason{"9007199254740992": gateway.ReasonDelivered})
}

// What failed here and went to the next of the chain was perhaps confirmed there:
// it is missing for a reason of its own, and nobody sends it twice by one press.
func TestWhatHasFailedOverIsNotSentWithTheOthers(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.send(t, sent{key: "failed", delivery: gateway.DeliveryFailed}, sent{key: "failed over", delivery: gateway.DeliveryFailed},
		sent{key: "delivered at last", delivery: gateway.DeliveryDelivered})
	next := b.newEndpoint(t, gateway.Endpoint{EventTypes: []string{"mail.*"}})
	b.exec(t, `UPDATE deliveries SET failover_to = $1 WHERE id = ANY ($2)`, next, []gateway.DeliveryID{
		gateway.DeriveDeliveryID(ids[1], b.endpoint), gateway.DeriveDeliveryID(ids[2], b.endpoint),
	})
	id := b.create(t, b.comparison(gateway.MatchByKey), "x\n")
	want(t, "numbers", numbersOf(b.work(t, id)), numbers{Rows: 1, Unknown: 1, Ours: 3, Missing: 3, Sendable: 2})
	want(t, "missing", b.missing(t, id), map[string]gateway.RowReason{
		"failed": gateway.ReasonFailed, "failed over": gateway.ReasonFailedOver, "delivered at last": gateway.ReasonDelivered,
	})
}

// Of several events that a row may mean, one that was confirmed is it, also if
// another one was compared before.
func TestAConfirmedEventIsTheMatch(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.send(t,
		sent{subject: "o1", delivery: gateway.DeliveryFailed}, sent{subject: "o1", delivery: gateway.DeliveryDelivered},
		sent{subject: "o1", delivery: gateway.DeliveryFailed}, sent{subject: "o2", delivery: gateway.DeliveryFailed},
	)
	id := b.create(t, b.comparison(gateway.MatchBySubject), "o1\no2\no1\n")
	want(t, "numbers", numbersOf(b.work(t, id)), numbers{Rows: 3, Matched: 2, Repeated: 1, Ours: 4})
	want(t, "matched", b.listed(t, id, gateway.RowMatched), map[string]gateway.RowReason{"o1": "", "o2": gateway.ReasonUnconfirmed})
	rows, err := b.store.PartnerRows(t.Context(), b.account, id, gateway.RowMatched, 0, 1)
	if err != nil || len(rows) != 1 || *rows[0].EventID != ids[1] {
		t.Errorf("%v, %v; want a match with %s", rows, err, ids[1])
	}
}

// What gets its delivery while the comparison goes on came in within its range.
func TestWhatIsDeliveredMeanwhileIsNotOutside(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.send(t, sent{key: "a", status: gateway.EventNoEndpoints}, sent{key: "b", status: gateway.EventNoEndpoints},
		sent{key: "old", delivery: gateway.DeliveryPending, age: 2 * time.Hour})
	b.knowKeys(t)
	id := b.create(t, b.comparison(gateway.MatchByKey), "a\nb\nold\n")
	b.stepOnce(t, id) // ours: none has a delivery
	b.in(t, func(tx store.Tx) error {
		_, err := tx.InsertDeliveries(t.Context(), []store.NewDelivery{
			{AccountID: b.account, EventID: ids[0], EndpointID: b.endpoint}, {AccountID: b.account, EventID: ids[1], EndpointID: b.endpoint},
		})
		return err
	})
	b.exec(t, `UPDATE deliveries SET status = 'delivered', closed_at = now(), next_attempt_at = NULL WHERE event_id = $1`, ids[0])
	want(t, "numbers", numbersOf(b.work(t, id)), numbers{Rows: 3, Matched: 3, Ours: 2})
	want(t, "matched", b.listed(t, id, gateway.RowMatched), map[string]gateway.RowReason{
		"a": "", "b": gateway.ReasonUnconfirmed, "old": gateway.ReasonOutside,
	})
}

// A subject of which much is told, such as a customer, has newer events of other
// types than the one that the partner lists.
func TestAnOlderEventOfItsTypeIsFound(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	all := []sent{{subject: "c1", eventType: "order.paid", delivery: gateway.DeliveryDelivered, age: 3 * time.Hour}}
	for range 30 {
		all = append(all, sent{subject: "c1", eventType: "order.created", delivery: gateway.DeliveryDelivered, age: 2 * time.Hour})
	}
	b.send(t, all...)
	in := b.comparison(gateway.MatchBySubject)
	in.TypeColumn = "2"
	id := b.create(t, in, "c1,order.paid\nc1,order.lost\n")
	want(t, "numbers", numbersOf(b.work(t, id)), numbers{Rows: 2, Matched: 1, Unknown: 1})
	rows, err := b.store.PartnerRows(t.Context(), b.account, id, gateway.RowMatched, 0, 9)
	if err != nil || len(rows) != 1 || rows[0].Type != "order.paid" || rows[0].Reason != gateway.ReasonOutside {
		t.Errorf("matched %v, %v", rows, err)
	}
}

// The range takes in what came at its begin, and leaves out what came at its end.
func TestARangeHasItsBeginAndNotItsEnd(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.send(t, sent{key: "before", age: 31 * time.Second, delivery: gateway.DeliveryFailed}, sent{key: "begin", age: 30 * time.Second, delivery: gateway.DeliveryFailed},
		sent{key: "within", age: 20 * time.Second, delivery: gateway.DeliveryFailed}, sent{key: "end", age: 10 * time.Second, delivery: gateway.DeliveryFailed})
	b.knowKeys(t)
	in := b.comparison(gateway.MatchByKey)
	in.Since, in.Until = ids[1].Time(), ids[3].Time()
	id := b.create(t, in, "end\nbefore\n")
	want(t, "numbers", numbersOf(b.work(t, id)), numbers{Rows: 2, Matched: 2, Ours: 2, Missing: 2, Sendable: 2})
	want(t, "missing", b.missing(t, id), map[string]gateway.RowReason{"begin": gateway.ReasonFailed, "within": gateway.ReasonFailed})
	want(t, "matched", b.listed(t, id, gateway.RowMatched), map[string]gateway.RowReason{"end": gateway.ReasonOutside, "before": gateway.ReasonOutside})
}
