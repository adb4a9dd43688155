package deliver_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// once makes an endpoint whose deliveries have one attempt.
func once(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{} }

// asking makes an endpoint that asks for types by name.
func asking(types ...string) func(*gateway.Endpoint) {
	return func(e *gateway.Endpoint) { e.EventTypes = types }
}

// told reads the data of the account's own events of a type, oldest first.
func told[D any](t *testing.T, b *bundle, eventType string) []D {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `SELECT body FROM events JOIN event_bodies USING (id) WHERE type = $1 AND status = 'accepted' ORDER BY id`, eventType)
	if err != nil {
		t.Fatal(err)
	}
	bodies, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		t.Fatal(err)
	}
	all := make([]D, len(bodies))
	for i, body := range bodies {
		if err := json.Unmarshal(body, &all[i]); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
	}
	return all
}

// alerts counts what members are to be told.
func (b *bundle) alerts(t *testing.T, eventType string) int {
	t.Helper()
	return b.count(t, `SELECT count(*) FROM alerts WHERE type = $1`, eventType)
}

// asks has a member of the account ask for mails about failed deliveries.
func (b *bundle) asks(t *testing.T) {
	t.Helper()
	user := gateway.UserID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		if err := tx.CreateUser(t.Context(), store.User{ID: user, Email: "ada@example.com", Name: "Ada"}, ""); err != nil {
			return err
		}
		if err := tx.AddMember(t.Context(), b.account, user, gateway.RoleViewer); err != nil {
			return err
		}
		_, err := tx.ChooseAlerts(t.Context(), b.account, user, []gateway.AlertKind{gateway.AlertDeliveryFailed}, []bool{true})
		return err
	})
}

func TestAnEndpointIsToldToFailBeforeItIsDisabled(t *testing.T) {
	t.Parallel()
	const limit = 10
	b := newBundle(t, func(o *deliver.Options) { o.DisableAfter = limit })
	r := newReceiver(t, b.uncounted(t, status(400)))
	e := b.endpoint(t, r.URL+"/hook?token=secret", narrow, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{time.Hour} })
	b.publish(t, e, limit)
	b.untilCount(t, 1, `SELECT count(*) FROM endpoints WHERE state = 'disabled'`)
	b.untilReleased(t, e)
	cause := gateway.LastCause{Outcome: gateway.OutcomeRejected, StatusCode: 400}
	var want []gateway.EndpointFailingData
	for _, percent := range []int{50, 70, 90} {
		want = append(want, gateway.EndpointFailingData{
			EndpointID: e.ID, URL: r.URL + "/hook", Percent: percent, Failures: percent / 10, DisableAfter: limit, LastCause: cause,
		})
	}
	got := told[gateway.EndpointFailingData](t, b, gateway.TypeEndpointFailing)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(gateway.EndpointFailingData{}, "FailingSince")); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	disabled := told[gateway.EndpointDisabledData](t, b, gateway.TypeEndpointDisabled)
	if len(disabled) != 1 || disabled[0].LastCause != cause || disabled[0].FailingSince == nil || !disabled[0].FailingSince.Equal(got[0].FailingSince) {
		t.Errorf("disabled: %+v", disabled)
	}
	if failing, disabled := b.alerts(t, gateway.TypeEndpointFailing), b.alerts(t, gateway.TypeEndpointDisabled); failing != 3 || disabled != 1 {
		t.Errorf("members are told %d and %d times, want 3 and 1", failing, disabled)
	}
}

func TestFailedDeliveriesAreToldToWhoAsks(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, newReceiver(t, status(400)).URL+"/?token=secret", once)
	other := b.newAccount(t, "other")
	b.endpoint(t, "https://example.com", asking("rowlock.*"), func(e *gateway.Endpoint) { e.AccountID = other })
	b.endpoint(t, "https://example.com", asking("*", "rowlock.endpoint.*"))
	b.publish(t, e, 3)
	b.untilCount(t, 3, `SELECT count(*) FROM deliveries WHERE status = 'failed'`)
	b.untilReleased(t, e)
	if n := b.count(t, `SELECT count(*) FROM events WHERE type = $1`, gateway.TypeDeliveryFailed); n != 0 {
		t.Fatalf("%d own events that nobody asks for", n)
	}
	if n := b.count(t, `SELECT count(*) FROM failure_digests`); n != 0 {
		t.Error("failures are gathered that nobody wants to be told")
	}

	b.endpoint(t, "https://example.com", asking("rowlock.delivery.failed"))
	b.asks(t)
	ids := b.publish(t, e, 5)
	for _, id := range ids {
		b.untilStatus(t, id, gateway.DeliveryFailed)
	}
	b.untilReleased(t, e)
	got := told[gateway.DeliveryFailedData](t, b, gateway.TypeDeliveryFailed)
	gotIDs := make([]gateway.DeliveryID, len(got))
	for i, d := range got {
		gotIDs[i] = d.DeliveryID
		want := gateway.DeliveryFailedData{
			DeliveryID: d.DeliveryID, EventID: b.delivery(t, d.DeliveryID).EventID, EventType: eventType, EndpointID: e.ID,
			URL: gateway.PlainURL(e.URL), Attempts: 1, FailedAt: d.FailedAt,
			LastCause: gateway.LastCause{Outcome: gateway.OutcomeRejected, StatusCode: 400},
		}
		if diff := cmp.Diff(want, d); diff != "" || d.FailedAt.IsZero() {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	}
	slices.SortFunc(ids, gateway.DeliveryID.Compare)
	slices.SortFunc(gotIDs, gateway.DeliveryID.Compare)
	if diff := cmp.Diff(ids, gotIDs); diff != "" {
		t.Errorf("told of (-want +got):\n%s", diff)
	}
	if n := b.count(t, `SELECT count(*) FROM failure_digests WHERE failed = 5 AND causes = '{"400": 5}'`); n != 1 {
		t.Error("the failures are not gathered for the mail")
	}
	if n := b.count(t, `SELECT jsonb_array_length(args->'event_ids') FROM river_job WHERE kind = 'process' ORDER BY 1 DESC LIMIT 1`); n < 1 {
		t.Error("no job decides the own events")
	}
}

// An endpoint that gets Rowlock's own events and fails on each of them causes
// no further ones; members are told all the same.
func TestFailuresOfOwnEventsCauseNone(t *testing.T) {
	t.Parallel()
	const limit = 4
	b := newBundle(t, func(o *deliver.Options) { o.DisableAfter = limit })
	e := b.endpoint(t, newReceiver(t, b.uncounted(t, status(500))).URL, narrow, once, asking("rowlock.*"))
	b.asks(t)
	for i := range limit {
		own := b.newEvent(t, b.account, gateway.TypeDeliveryFailed)
		if _, err := b.RedeliverEvent(t.Context(), b.account, actor, own, &e.ID); err != nil {
			t.Fatal(err)
		}
		b.untilCount(t, i+1, `SELECT count(*) FROM deliveries WHERE status = 'failed'`)
	}
	b.untilReleased(t, e)
	if now := b.readEndpoint(t, e); now.State != gateway.EndpointDisabled {
		t.Errorf("endpoint %+v", now)
	}
	if n := b.count(t, `SELECT count(*) FROM events`); n != limit {
		t.Errorf("%d events, want the %d that were sent", n, limit)
	}
	if failing, disabled := b.alerts(t, gateway.TypeEndpointFailing), b.alerts(t, gateway.TypeEndpointDisabled); failing != 2 || disabled != 1 {
		t.Errorf("members are told %d and %d times, want twice and once", failing, disabled)
	}
	if n := b.count(t, `SELECT failed FROM failure_digests`); n != limit {
		t.Errorf("%d failed deliveries are gathered", n)
	}
}

// What a transaction earned is told if and only if it commits.
func TestWhatIsRolledBackIsNotTold(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.asks(t)
	b.endpoint(t, "https://example.com", asking("rowlock.*"))
	e := b.endpoint(t, newReceiver(t, status(410)).URL, narrow, once)
	b.exec(t, `
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			PERFORM nextval('refused');
			RAISE EXCEPTION 'not now';
		END $$`)
	b.exec(t, `CREATE SEQUENCE refused`)
	b.exec(t, `CREATE TRIGGER refuse BEFORE INSERT ON failure_digests FOR EACH ROW EXECUTE FUNCTION refuse()`)
	b.publish(t, e, 1)
	b.untilCount(t, 1, `SELECT count(*) FROM refused WHERE last_value > 1`)
	const all = `SELECT (SELECT count(*) FROM events WHERE type LIKE 'rowlock.%%') %s (SELECT count(*) FROM alerts)`
	if n := b.count(t, fmt.Sprintf(all, "+")); n != 0 {
		t.Errorf("%d are told of what did not happen", n)
	}
	b.exec(t, `DROP TRIGGER refuse ON failure_digests`)
	b.untilCount(t, 1, `SELECT count(*) FROM endpoints WHERE state = 'disabled'`)
	b.untilReleased(t, e)
	if events, alerts := b.count(t, `SELECT count(*) FROM events WHERE type LIKE 'rowlock.%'`), b.count(t, `SELECT count(*) FROM alerts`); events != 2 || alerts != 1 {
		t.Errorf("%d events and %d alerts, want one of the endpoint and one of the delivery, and one of the endpoint", events, alerts)
	}
}
