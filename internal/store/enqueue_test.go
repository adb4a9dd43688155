package store_test

import (
	"errors"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// Jobs are due at the transaction's time, which is the database's, whatever
// the node's clock says; so an event and its job have one time.
func TestEnqueue(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	event := b.newEvent(b.newSource(t).ID, queuedBody)
	b.in(t, func(tx store.Tx) error {
		return errors.Join(
			tx.InsertEvents(t.Context(), []store.NewEvent{event}),
			tx.Enqueue(t.Context(), job.Process{EventIDs: []gateway.EventID{event.Event.ID}}, job.Deliver{AccountID: b.account}),
			tx.Enqueue(t.Context()))
	})
	for kind, args := range map[string]string{
		"process": `{"event_ids": ["` + event.Event.ID.String() + `"]}`,
		"deliver": `{"account_id": "` + b.account.String() + `", "endpoint_id": "` + gateway.EndpointID{}.String() + `"}`,
	} {
		n := b.count(t, `
			SELECT count(*)
			FROM river_job
			JOIN events
			  ON decide_after = scheduled_at
			WHERE kind = $1
			  AND queue = $1
			  AND args = $2::text::jsonb
			  AND state = 'available'
			  AND created_at = scheduled_at`, kind, args)
		if n != 1 {
			t.Errorf("%d jobs of the kind %s are due at the event's time, want 1", n, kind)
		}
	}
}

// A job exists if and only if its transaction commits.
func TestEnqueueRolledBack(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	err := b.InTx(t.Context(), func(tx store.Tx) error {
		return errors.Join(tx.Enqueue(t.Context(), job.Process{}), errRollBack)
	})
	if !errors.Is(err, errRollBack) {
		t.Fatal(err)
	}
	if n := b.count(t, `SELECT count(*) FROM river_job`); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

func TestEmit(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := gateway.EventID(b.clock.NewID())
	emit := func(account gateway.AccountID, id gateway.EventID, end error) error {
		return b.InTx(t.Context(), func(tx store.Tx) error {
			return errors.Join(tx.Emit(t.Context(), account, id, gateway.TypeEndpointDisabled, []byte(`{"a":1}`)), end)
		})
	}
	if err := emit(b.account, id, nil); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("without a built-in source: %v, want ErrNotFound", err)
	}
	var source gateway.SourceID
	b.in(t, func(tx store.Tx) error {
		source = b.builtIn(t, tx)
		return nil
	})
	if err := emit(b.account, id, nil); err != nil {
		t.Fatal(err)
	}
	if err := emit(b.account, gateway.EventID(b.clock.NewID()), errRollBack); !errors.Is(err, errRollBack) {
		t.Error(err)
	}
	e := b.event(t, id)
	if e.Type != gateway.TypeEndpointDisabled || e.Status != gateway.EventAccepted || e.SourceID != source || e.BodySize != 7 {
		t.Errorf("emitted %+v", e)
	}
	body, err := b.Body(t.Context(), b.account, id)
	if err != nil || string(body.Data) != `{"a":1}` || string(body.Headers) != "Content-Type: application/json\r\n" {
		t.Errorf("body %q, headers %q, %v", body.Data, body.Headers, err)
	}
	if n := b.count(t, `SELECT count(*) FROM river_job WHERE kind = 'process' AND args->'event_ids'->>0 = $1`, id.String()); n != 1 {
		t.Errorf("%d jobs decide it, want 1", n)
	}
	if n := b.count(t, `SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM river_job)`); n != 2 {
		t.Errorf("%d rows, want the event and its job: a rolled back one left something", n)
	}
	found, err := b.APISource(t.Context(), b.account)
	if err != nil || found != source {
		t.Errorf("built-in source %s, %v, want %s", found, err, source)
	}
	if _, err := b.APISource(t.Context(), b.newAccount(t, "bare")); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("an account without one: %v, want ErrNotFound", err)
	}
}
