package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// pace is one at which what was gathered is due at once, and again in an hour.
var pace = store.DigestPace{Between: time.Hour}

// gather adds failed deliveries of an endpoint.
func (b bundle) gather(t *testing.T, lane store.Lane, causes map[string]int64) {
	t.Helper()
	b.in(t, func(tx store.Tx) error { return tx.GatherFailed(t.Context(), lane, causes, pace) })
}

func TestFailuresAreGatheredForThoseWhoAsk(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	user := b.newMember(t, b.account, "ada", gateway.RoleOwner)
	other := b.newAccount(t, "other")
	b.choose(t, other, b.newMember(t, other, "eve", gateway.RoleOwner), gateway.AlertDeliveryFailed)
	b.choose(t, b.account, user, gateway.AlertEndpointDisabled)
	b.gather(t, lane, map[string]int64{"503": 3})
	if n := b.count(t, `SELECT count(*) FROM failure_digests`); n != 0 {
		t.Fatal("something is gathered for nobody")
	}
	b.choose(t, b.account, user, gateway.AlertDeliveryFailed)
	b.gather(t, lane, map[string]int64{"503": 3, "timeout": 1})
	b.gather(t, lane, map[string]int64{"503": 2, "": 1})
	due, err := b.DueDigests(t.Context(), 10)
	if diff := cmp.Diff([]store.LaneRef{{AccountID: b.account, EndpointID: lane.EndpointID}}, due); err != nil || diff != "" {
		t.Fatalf("%v %s", err, diff)
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.TakeDigest(t.Context(), other, lane.EndpointID)
		wantErrors(t, []error{err}, 0, gateway.ErrNotFound)
		d, err := tx.TakeDigest(t.Context(), b.account, lane.EndpointID)
		if diff := cmp.Diff(map[string]int64{"503": 5, "timeout": 1, "": 1}, d.Causes); diff != "" || d.Failed != 7 || d.Since.IsZero() {
			t.Errorf("%+v %s", d, diff)
		}
		return err
	})
}

// What is gathered after a mail waits until the hour is over, and begins anew.
func TestADigestKeepsItsPace(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	b.choose(t, b.account, b.newMember(t, b.account, "ada", gateway.RoleViewer), gateway.AlertDeliveryFailed)
	b.gather(t, lane, map[string]int64{"503": 3})
	take := func(tx store.Tx, _ int) error {
		_, err := tx.TakeDigest(t.Context(), b.account, lane.EndpointID)
		return err
	}
	wantErrors(t, b.atOnce(t.Context(), poolSize, take), 1, gateway.ErrNotFound)
	b.gather(t, lane, map[string]int64{"404": 1})
	wantErrors(t, b.atOnce(t.Context(), 1, take), 0, gateway.ErrNotFound)
	b.exec(t, 1, `
		UPDATE failure_digests
		SET due_at = due_at - interval '1 hour', told_at = told_at - interval '1 hour'
		WHERE due_at = told_at + interval '1 hour'
		  AND failed = 1`)
	b.in(t, func(tx store.Tx) error {
		d, err := tx.TakeDigest(t.Context(), b.account, lane.EndpointID)
		if diff := cmp.Diff(map[string]int64{"404": 1}, d.Causes); diff != "" || d.Failed != 1 {
			t.Errorf("%+v %s", d, diff)
		}
		return err
	})
}

// What is gathered while a mail takes what is there is in the next one.
func TestNothingGatheredIsLost(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	b.choose(t, b.account, b.newMember(t, b.account, "ada", gateway.RoleViewer), gateway.AlertDeliveryFailed)
	b.gather(t, lane, map[string]int64{"503": 1})
	var told int64
	add := func(tx store.Tx) error { return tx.GatherFailed(t.Context(), lane, map[string]int64{"503": 1}, pace) }
	take := func(tx store.Tx) error {
		d, err := tx.TakeDigest(t.Context(), b.account, lane.EndpointID)
		told += d.Failed
		return err
	}
	nothing := func(store.Tx) error { return nil }
	if err := b.whileWaiting(t, take, add, nothing); err != nil {
		t.Fatal(err)
	}
	b.exec(t, 1, `UPDATE failure_digests SET due_at = now()`)
	if err := b.whileWaiting(t, add, take, nothing); err != nil {
		t.Fatal(err)
	}
	if told != 3 {
		t.Errorf("%d were told, want 3", told)
	}
}
