package operate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// reconciled is a comparison that is done and found these missing.
func (b *bundle) reconciled(t *testing.T, endpoint gateway.EndpointID, missing []gateway.MissingRow) gateway.ReconciliationID {
	t.Helper()
	r := gateway.Reconciliation{
		ID: gateway.ReconciliationID(b.clock.NewID()), EndpointID: endpoint, MatchBy: gateway.MatchByKey, Actor: actor,
		Since: b.hourAgo(), Until: b.clock.Now(),
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateReconciliation(t.Context(), b.account, r, patience)
		return errors.Join(err, tx.AddMissing(t.Context(), b.account, r.ID, missing))
	})
	b.exec(t, `UPDATE reconciliations SET state = 'done', next_run_at = NULL WHERE id = $1`, r.ID)
	return r.ID
}

// missingOf are rows about events whose deliveries stand as they do.
func missingOf(endpoint gateway.EndpointID, reason gateway.RowReason, attempts int, events ...gateway.EventID) []gateway.MissingRow {
	rows := make([]gateway.MissingRow, len(events))
	for i, e := range events {
		rows[i] = gateway.MissingRow{
			EventID: e, DeliveryID: gateway.DeriveDeliveryID(e, endpoint), Type: eventType,
			Reason: reason, Attempts: attempts, Sendable: true,
		}
	}
	return rows
}

// eventsOf are the events of deliveries.
func (b *bundle) eventsOf(t *testing.T, deliveries []gateway.DeliveryID) []gateway.EventID {
	t.Helper()
	events := make([]gateway.EventID, len(deliveries))
	for i, id := range deliveries {
		d, err := b.store.Delivery(t.Context(), b.account, id)
		if err != nil {
			t.Fatal(err)
		}
		events[i] = d.EventID
	}
	return events
}

func TestWhatAReconciliationFoundMissingIsSentOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	far := newReceiver(t, nil)
	endpoint := b.endpoint(t, far.URL)
	never := b.events(t, 300, eventType, gateway.EventNoEndpoints)
	failed := b.eventsOf(t, b.failed(t, endpoint, 350))
	since := b.eventsOf(t, b.failed(t, endpoint, 1)) // somebody has tried it again since
	missing := missingOf(endpoint, gateway.ReasonNeverCreated, 0, never...)
	missing = append(missing, missingOf(endpoint, gateway.ReasonFailed, tried, failed...)...)
	missing = append(missing, missingOf(endpoint, gateway.ReasonFailed, tried-1, since...)...)
	id := b.reconciled(t, endpoint, missing)
	request := operate.Request{Kind: gateway.OperationReconcile, Filter: gateway.OperationFilter{Reconciliation: &id}}

	if n, exact, err := b.Count(t.Context(), b.account, request); err != nil || !exact || n != 650 {
		t.Errorf("%d of them, exactly: %t, %v; want 650", n, exact, err)
	}
	first, second := b.start(t, request), b.start(t, request)
	b.delivering(t)
	pgtest.AtOnce(4, func(i int) {
		if err := b.Run(t.Context(), b.account, []gateway.OperationID{first, second}[i%2]); err != nil {
			t.Error(err)
		}
	})
	b.work(t, first)
	b.work(t, second)
	until(t, "all arrive", func() bool { ids, _ := far.numbers(); return ids == 650 })
	b.untilCount(t, 650, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`)
	third := b.work(t, b.start(t, request))
	wantNumbers(t, third, gateway.OperationDone, 0, 0, 0)
	if ids, requests := far.numbers(); ids != 650 || requests != 650 {
		t.Errorf("%d requests with %d events, want 650 once", requests, ids)
	}
	b.wantCount(t, 0, `SELECT count(*) FROM events WHERE status = 'no_endpoints'`)
}

func TestOnlyAReconciliationThatIsDoneIsSent(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	endpoint := b.endpoint(t, "https://example.com")
	id := b.reconciled(t, endpoint, nil)
	start := func(id gateway.ReconciliationID) error {
		_, err := b.Start(t.Context(), b.account, actor, operate.Request{
			Kind: gateway.OperationReconcile, Filter: gateway.OperationFilter{Reconciliation: &id},
		})
		return err
	}
	if err := start(gateway.ReconciliationID{1}); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	for _, state := range []string{"uploading", "comparing", "failed", "cancelled"} {
		b.exec(t, `UPDATE reconciliations SET state = $2 WHERE id = $1`, id, state)
		if err := start(id); !errors.Is(err, gateway.ErrStateChanged) {
			t.Errorf("%s: %v", state, err)
		}
	}
	b.exec(t, `UPDATE reconciliations SET state = 'done', emptied_at = now() WHERE id = $1`, id)
	if err := start(id); !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("one whose rows are gone: %v", err)
	}
	if _, err := b.Start(t.Context(), b.account, actor, operate.Request{Kind: gateway.OperationReconcile}); err == nil {
		t.Error("one without a reconciliation was started")
	}
}

// Stopping it makes what nobody has tried missing again, so that it can be sent
// by the next press.
func TestAStoppedSendingCanGoOnLater(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	endpoint := b.endpoint(t, "https://example.com")
	missing := missingOf(endpoint, gateway.ReasonNeverCreated, 0, b.events(t, 5, eventType, gateway.EventProcessed)...)
	missing = append(missing, missingOf(endpoint, gateway.ReasonFailed, tried, b.eventsOf(t, b.failed(t, endpoint, 5))...)...)
	id := b.reconciled(t, endpoint, missing)
	request := operate.Request{Kind: gateway.OperationReconcile, Filter: gateway.OperationFilter{Reconciliation: &id}, PerSecond: 3}
	first := b.start(t, request)
	pgtest.Background(t, func(ctx context.Context) { _ = b.Run(ctx, b.account, first) })
	until(t, "some are opened", func() bool { return b.operation(t, first).Done > 0 })
	if _, err := b.Cancel(t.Context(), b.account, actor, first); err != nil {
		t.Fatal(err)
	}
	b.work(t, first)
	b.wantCount(t, 5, `SELECT count(*) FROM deliveries`)
	request.PerSecond = 0
	wantNumbers(t, b.work(t, b.start(t, request)), gateway.OperationDone, 10, 10, 0)
	b.wantCount(t, 10, `SELECT count(*) FROM deliveries WHERE status = 'pending'`)
}

// What is left when a reconciliation is deleted is told as skipped, and not as
// sent by somebody else.
func TestSendingWhatADeletedReconciliationFoundSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	endpoint := b.endpoint(t, "https://example.com")
	id := b.reconciled(t, endpoint, missingOf(endpoint, gateway.ReasonFailed, tried, b.eventsOf(t, b.failed(t, endpoint, 10))...))
	request := operate.Request{Kind: gateway.OperationReconcile, Filter: gateway.OperationFilter{Reconciliation: &id}, PerSecond: 3}
	first := b.start(t, request)
	pgtest.Background(t, func(ctx context.Context) { _ = b.Run(ctx, b.account, first) })
	until(t, "some are opened", func() bool { return b.operation(t, first).Done > 0 })
	b.in(t, func(tx store.Tx) error { return tx.DeleteReconciliation(t.Context(), b.account, id) })
	o := b.work(t, first)
	if o.State != gateway.OperationDone || o.Total != 10 || o.Done == 10 || o.Done+o.Failed != o.Total {
		t.Errorf("%s with %d done and %d skipped of %d", o.State, o.Done, o.Failed, o.Total)
	}
}

// What has gone to the failover endpoint since is not sent here again.
func TestWhatHasFailedOverSinceIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	endpoint, next := b.endpoint(t, "https://example.com"), b.endpoint(t, "https://example.com")
	failed := b.failed(t, endpoint, 5)
	id := b.reconciled(t, endpoint, missingOf(endpoint, gateway.ReasonFailed, tried, b.eventsOf(t, failed)...))
	b.exec(t, `UPDATE deliveries SET failover_to = $2 WHERE id = ANY ($1)`, failed[:2], next)
	request := operate.Request{Kind: gateway.OperationReconcile, Filter: gateway.OperationFilter{Reconciliation: &id}}
	wantNumbers(t, b.work(t, b.start(t, request)), gateway.OperationDone, 3, 3, 0)
}

// What was there when it was compared, and has gone since, is skipped: its payload
// was deleted, or its retention has ended.
func TestWhatIsGoneSinceIsSkipped(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	endpoint := b.endpoint(t, "https://example.com")
	events := b.events(t, 3, eventType, gateway.EventNoEndpoints)
	b.in(t, func(tx store.Tx) error {
		_, err := tx.DeletePayload(t.Context(), b.account, events[0])
		return err
	})
	long := gateway.FirstIDAt[gateway.EventID](b.clock.Now().AddDate(0, -3, 0))
	id := b.reconciled(t, endpoint, missingOf(endpoint, gateway.ReasonNeverCreated, 0, append(events, long)...))
	b.exec(t, `UPDATE reconciliations SET since = now() - interval '4 months' WHERE id = $1`, id)
	request := operate.Request{Kind: gateway.OperationReconcile, Filter: gateway.OperationFilter{Reconciliation: &id}}
	if n, exact, err := b.Count(t.Context(), b.account, request); err != nil || !exact || n != 2 {
		t.Errorf("%d of them, exactly: %t, %v; want 2", n, exact, err)
	}
	wantNumbers(t, b.work(t, b.start(t, request)), gateway.OperationDone, 2, 2, 0)
	b.wantCount(t, 2, `SELECT count(*) FROM deliveries`)
}
