package deliver_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestTest(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL)
	b.endpoint(t, r.URL) // nobody else gets it
	a, err := b.Test(t.Context(), b.account, actor, e.ID, "")
	if err != nil || a.Outcome != gateway.OutcomeSucceeded || a.StatusCode != 200 || a.Trigger != gateway.TriggerTest || a.N != 1 {
		t.Fatalf("attempt %+v, %v", a, err)
	}
	got := r.requests()
	if len(got) != 1 || !verify(t, got[0], b.secrets(t, e)[0]) || got[0].header.Get("Rowlock-Event-Type") != gateway.TypeTest ||
		got[0].header.Get("Content-Type") != "application/json" {
		t.Errorf("requests %+v", got)
	}
	var data struct {
		Message    string    `json:"message"`
		EndpointID string    `json:"endpoint_id"`
		SentAt     time.Time `json:"sent_at"`
	}
	if err := json.Unmarshal(got[0].body, &data); err != nil || data.Message == "" || data.EndpointID != e.ID.String() || data.SentAt.IsZero() {
		t.Errorf("body %s, %v", got[0].body, err)
	}
	if stored, err := b.store.Attempt(t.Context(), b.account, a.ID()); err != nil || stored.Outcome != a.Outcome {
		t.Errorf("stored %+v, %v", stored, err)
	}
	if d := b.delivery(t, a.DeliveryID); d.Status != gateway.DeliveryDelivered || d.Trigger != gateway.TriggerTest || d.Attempts != 1 || d.ClosedAt == nil {
		t.Errorf("delivery %+v", d)
	}
	event, err := b.store.Event(t.Context(), b.account, a.EventID)
	if err != nil || event.Status != gateway.EventProcessed || event.Type != gateway.TypeTest || !strings.Contains(event.Decision, e.ID.String()) {
		t.Errorf("event %+v, %v", event, err)
	}
	if audit := b.audit(t); !slices.Equal(audit, []string{"endpoint.test rowlock.test"}) {
		t.Errorf("audit %q", audit)
	}
}

// A test is sent once, whatever becomes of it and whatever the endpoint's
// state, and does not count among its failures.
func TestTestOfAnyState(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(410))
	for _, state := range []gateway.EndpointState{gateway.EndpointActive, gateway.EndpointPaused, gateway.EndpointDisabled} {
		e := b.endpoint(t, r.URL)
		b.exec(t, `UPDATE endpoints SET state = $2 WHERE id = $1`, e.ID, string(state))
		a, err := b.Test(t.Context(), b.account, actor, e.ID, "order.tried")
		if err != nil || a.Outcome != gateway.OutcomeRejected || a.StatusCode != 410 {
			t.Errorf("%s: %+v, %v", state, a, err)
		}
		if d := b.delivery(t, a.DeliveryID); d.Status != gateway.DeliveryFailed || d.NextAttemptAt != nil {
			t.Errorf("%s: delivery %+v", state, d)
		}
		if now := b.readEndpoint(t, e); now.State != state || now.ConsecutiveFailures != 0 {
			t.Errorf("%s: endpoint %+v", state, now)
		}
	}
	if n := len(r.requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestTestRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e, deleted := b.endpoint(t, r.URL), b.endpoint(t, r.URL)
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, deleted.ID) })
	var invalid *gateway.InvalidError
	if _, err := b.Test(t.Context(), b.account, actor, e.ID, "rowlock.endpoint.disabled"); !errors.As(err, &invalid) {
		t.Errorf("one of Rowlock's types: %v", err)
	}
	if _, err := b.Test(t.Context(), b.account, actor, deleted.ID, ""); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
	if _, err := b.Test(t.Context(), b.newAccount(t, "other"), actor, e.ID, ""); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
	if n := b.count(t, `SELECT count(*) FROM events`); n != 0 || len(r.requests()) != 0 {
		t.Errorf("%d events, %d requests", n, len(r.requests()))
	}
}
