package store_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestPauseEndpoint(t *testing.T) {
	t.Parallel()
	for _, state := range []gateway.EndpointState{gateway.EndpointActive, gateway.EndpointDisabled, gateway.EndpointPaused} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			e := b.newEndpoint(t)
			b.exec(t, 1, `UPDATE endpoints SET state = $2, disabled_reason = 'why', state_changed_at = '2020-01-01' WHERE id = $1`, e.ID, string(state))
			var changed atomic.Int32
			errs := b.atOnce(t.Context(), 5, func(tx store.Tx, _ int) error {
				did, err := tx.PauseEndpoint(t.Context(), b.account, e.ID)
				if did {
					changed.Add(1)
				}
				return err
			})
			wantErrors(t, errs, 5, nil)
			want := int32(1)
			if state == gateway.EndpointPaused {
				want = 0
			}
			got, err := b.Endpoint(t.Context(), b.account, e.ID)
			if err != nil || got.State != gateway.EndpointPaused || changed.Load() != want {
				t.Errorf("state %q, %v; changed %d times, want %d", got.State, err, changed.Load(), want)
			}
			if isNew := got.StateChangedAt.Year() > 2020; isNew != (want == 1) || (got.DisabledReason == "") != (want == 1) {
				t.Errorf("state changed at %v, reason %q", got.StateChangedAt, got.DisabledReason)
			}
		})
	}
}

func TestResumeEndpoint(t *testing.T) {
	t.Parallel()
	for _, state := range []gateway.EndpointState{gateway.EndpointActive, gateway.EndpointDisabled, gateway.EndpointPaused} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			e := b.newEndpoint(t)
			b.exec(t, 1, `
				UPDATE endpoints
				SET state = $2, disabled_reason = 'why', consecutive_failures = 9, failure_counted_at = now(), state_changed_at = '2020-01-01'
				WHERE id = $1`, e.ID, string(state))
			b.exec(t, 1, `UPDATE lanes SET failed_probes = 3, sleep_until = now() + interval '1 h', wake_at = NULL WHERE endpoint_id = $1`, e.ID)
			for range 2 { // the second press changes nothing more
				b.in(t, func(tx store.Tx) error {
					_, err := tx.ResumeEndpoint(t.Context(), b.account, e.ID)
					return err
				})
			}
			got, err := b.Endpoint(t.Context(), b.account, e.ID)
			if err != nil || got.State != gateway.EndpointActive || got.ConsecutiveFailures != 0 || got.DisabledReason != "" {
				t.Errorf("resumed: %+v, %v", got, err)
			}
			if isNew := got.StateChangedAt.Year() > 2020; isNew != (state != gateway.EndpointActive) {
				t.Errorf("state changed at %v", got.StateChangedAt)
			}
			n := b.count(t, `SELECT count(*) FROM lanes WHERE wake_at <= now() AND failed_probes = 0 AND sleep_until IS NULL`)
			if n != 1 {
				t.Error("the lane was not woken")
			}
		})
	}
}

// newDelivery inserts a delivery of the endpoint as fan-out does.
func newDelivery(t *testing.T, b bundle, tx store.Tx, endpoint gateway.EndpointID) (gateway.DeliveryID, error) {
	t.Helper()
	event := gateway.EventID(b.clock.NewID())
	_, err := tx.InsertDeliveries(t.Context(), []store.NewDelivery{{AccountID: b.account, EventID: event, EndpointID: endpoint}})
	return gateway.DeriveDeliveryID(event, endpoint), err
}

func makePartitions(t *testing.T, b bundle) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), `SELECT make_partitions(current_date - 1, current_date + 1)`); err != nil {
		t.Fatal(err)
	}
}

func TestDeleteEndpointCancelsWhatIsOpen(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	makePartitions(t, b)
	e, neighbour := b.newEndpoint(t), b.newEndpoint(t)
	statuses := map[string]string{"pending": "cancelled", "sending": "cancelled", "delivered": "delivered", "failed": "failed"}
	ids := map[string]gateway.DeliveryID{}
	b.in(t, func(tx store.Tx) error {
		for status := range statuses {
			var err error
			if ids[status], err = newDelivery(t, b, tx, e.ID); err != nil {
				return err
			}
		}
		_, err := newDelivery(t, b, tx, neighbour.ID)
		return errors.Join(err, b.addEndpointSecret(t.Context(), tx, e.ID, b.secret("s")))
	})
	for status, id := range ids {
		b.exec(t, 1, `UPDATE deliveries SET status = $2 WHERE id = $1`, id, status)
	}
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, e.ID) })

	for before, want := range statuses {
		n := b.count(t, `
			SELECT count(*)
			FROM deliveries
			WHERE id = $1 AND status = $2 AND (closed_at IS NOT NULL) = ($2 = 'cancelled')`, ids[before], want)
		if n != 1 {
			t.Errorf("a delivery that was %s is not %s", before, want)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'pending'`, neighbour.ID); n != 1 {
		t.Error("another endpoint's delivery was touched")
	}
	if n := b.count(t, `SELECT count(*) FROM endpoint_secrets WHERE ends_at IS NULL OR ends_at > now()`); n != 0 {
		t.Errorf("%d secrets are live", n)
	}
	if n := b.count(t, `SELECT count(*) FROM endpoints WHERE state = 'active' AND id = $1`, e.ID); n != 0 {
		t.Error("a deleted endpoint is active")
	}
}

func TestEndpointIsDeletedOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	errs := b.atOnce(t.Context(), 5, func(tx store.Tx, _ int) error {
		return tx.DeleteEndpoint(t.Context(), b.account, e.ID)
	})
	wantErrors(t, errs, 1, gateway.ErrNotFound)
}

// A fan-out that has seen the endpoint finishes first, and its delivery is
// cancelled by the deletion that waited for it.
func TestDeleteEndpointWaitsForFanOut(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	makePartitions(t, b)
	e := b.newEndpoint(t)
	deleted := b.whileWaiting(t, func(tx store.Tx) error {
		found, err := tx.Candidates(t.Context(), []gateway.AccountID{b.account}, []string{"a"})
		if len(found) != 1 {
			err = errors.Join(err, errors.New("the endpoint is no candidate"))
		}
		return err
	}, func(tx store.Tx) error {
		return tx.DeleteEndpoint(t.Context(), b.account, e.ID)
	}, func(tx store.Tx) error {
		_, err := newDelivery(t, b, tx, e.ID)
		return err
	})
	if deleted != nil {
		t.Fatal(deleted)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE status = 'cancelled'`); n != 1 {
		t.Errorf("%d deliveries were cancelled, want 1", n)
	}
	b.in(t, func(tx store.Tx) error {
		found, err := tx.Candidates(t.Context(), []gateway.AccountID{b.account}, []string{"a"})
		if len(found) != 0 {
			t.Error("a deleted endpoint is a candidate")
		}
		return err
	})
}
