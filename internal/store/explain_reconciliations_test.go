package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// addReconciled lets all of the history be compared with a list that names each
// event, of which half were matched and the others are missing, and with as long
// a list of another account.
func (p *past) addReconciled(t *testing.T, b bundle) {
	t.Helper()
	id := gateway.ReconciliationID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateReconciliation(t.Context(), p.owner.ID, gateway.Reconciliation{
			ID: id, EndpointID: p.endpoint, MatchBy: gateway.MatchBySubject, Actor: gateway.ActorRowlock,
			Since: p.now.Add(-30 * time.Hour), Until: p.now,
		}, time.Hour)
		return err
	})
	for _, reconciliation := range []gateway.ReconciliationID{id, gateway.ReconciliationID(b.clock.NewID())} {
		_, err := b.pool.Exec(t.Context(), `
			INSERT INTO reconciliation_rows (reconciliation_id, n, hash, key, type, result)
			SELECT $1, row_number() OVER (ORDER BY id), sha256(id::text::bytea), subject, type, CASE WHEN subject < 'm' THEN 'matched' END
			FROM events
			WHERE subject IS NOT NULL`, reconciliation)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.pool.Exec(t.Context(), `
			INSERT INTO reconciliation_missing (reconciliation_id, event_id, delivery_id, key, type, reason, event_status, attempts, sendable)
			SELECT $1, event_id, id, '', '', 'failed', '', 0, true
			FROM deliveries
			ON CONFLICT DO NOTHING`, reconciliation)
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := b.pool.Exec(t.Context(), `UPDATE reconciliations SET state = 'comparing', next_run_at = now(), leased_until = NULL, last_row = 1000`)
	if err != nil {
		t.Fatal(err)
	}
	if err := fill.Settle(t.Context(), b.pool); err != nil {
		t.Fatal(err)
	}
	run, mine, err := b.ClaimReconciliation(t.Context(), p.owner.ID, id, time.Hour)
	if err != nil || !mine {
		t.Fatalf("claim reconciliation: %t, %v", mine, err)
	}
	p.reconciled = run
}

// reconciliations are what comparisons ask and do.
func (x *explained) reconciliations() []call {
	account, run := x.owner.ID, x.reconciled
	id := run.ID
	return append(x.reconciledLists(),
		only("events to compare", func(ctx context.Context) ([]store.ComparedEvent, error) {
			return x.EventsToCompare(ctx, account, run, listed)
		}),
		only("deliveries now", func(ctx context.Context) (map[gateway.DeliveryID]store.DeliveryNow, error) {
			return x.DeliveriesNow(ctx, account, []gateway.DeliveryID{x.delivery.ID, gateway.DeliveryID(x.b.clock.NewID())})
		}),
		only("sendable events", func(ctx context.Context) (map[gateway.EventID]bool, error) {
			return x.SendableEvents(ctx, account, []gateway.EventID{x.event.ID, gateway.EventID(x.b.clock.NewID())})
		}),
		only("listed", func(ctx context.Context) (map[gateway.RowHash]bool, error) {
			return x.Listed(ctx, account, id, []gateway.RowHash{{1}, {2}})
		}),
		only("open rows", func(ctx context.Context) ([]store.OpenRow, error) { return x.OpenRows(ctx, account, run, listed) }),
		x.named(gateway.MatchByEvent, x.event.ID.String()),
		x.named(gateway.MatchByKey, string(x.event.Key)),
		x.named(gateway.MatchBySubject, *x.event.Subject),
		done("step of a reconciliation", x.stepReconciliation),
		done("upload of a list", x.uploadList),
		inTx("cancel reconciliation", func(ctx context.Context, tx store.Tx) (bool, error) {
			return tx.CancelReconciliation(ctx, account, id)
		}),
		done("delete reconciliation", func(ctx context.Context, tx store.Tx) error {
			if err := tx.DeleteReconciliation(ctx, account, id); err != nil {
				return err
			}
			_, err := tx.EmptyReconciliation(ctx, x.now.Add(time.Hour), listed)
			return err
		}),
		inTx("ring reconciliations", func(ctx context.Context, tx store.Tx) ([]store.ReconciliationRef, error) {
			return tx.RingReconciliations(ctx, 100)
		}),
		inTx("leave reconciliation", func(ctx context.Context, tx store.Tx) (bool, error) {
			return tx.LeaveReconciliation(ctx, account, id, time.Second)
		}),
		only("claim reconciliation", func(ctx context.Context) (bool, error) {
			_, ok, err := x.ClaimReconciliation(ctx, account, id, time.Hour)
			return ok, err
		}),
	)
}

// named looks for events by what a list may name them.
func (x *explained) named(by gateway.MatchBy, text string) call {
	r := x.reconciled.Reconciliation
	r.MatchBy = by
	return only("events named by "+string(by), func(ctx context.Context) (map[int][]store.NamedEvent, error) {
		return x.EventsNamed(ctx, x.owner.ID, r, []store.OpenRow{{N: 1, Key: text}, {N: 2, Key: "nobody's"}})
	})
}

// reconciledLists are the lists of what was found.
func (x *explained) reconciledLists() (all []call) {
	account, id := x.owner.ID, x.reconciled.ID
	for _, reason := range []gateway.RowReason{"", gateway.ReasonFailed, gateway.ReasonHeld} {
		for _, p := range x.parts() {
			all = append(all, only("missing rows by "+string(reason)+" "+p.name, func(ctx context.Context) ([]gateway.MissingRow, error) {
				return x.MissingRows(ctx, account, id, reason, pageOf(p, x.event.ID))
			}))
		}
	}
	for _, result := range []gateway.RowResult{gateway.RowMatched, gateway.RowUnknown} {
		all = append(all, only("partner's rows "+string(result), func(ctx context.Context) ([]gateway.PartnerRow, error) {
			return x.PartnerRows(ctx, account, id, result, 10, listed)
		}))
	}
	return append(all,
		only("reconciliation", func(ctx context.Context) (gateway.Reconciliation, error) { return x.Reconciliation(ctx, account, id) }),
		only("reconciliations", func(ctx context.Context) ([]gateway.Reconciliation, error) {
			return x.Reconciliations(ctx, account, store.Page[gateway.ReconciliationID]{Limit: listed})
		}),
		only("faulty rows", func(ctx context.Context) ([]gateway.FaultyRow, error) {
			return x.FaultyRows(ctx, account, id, 0, listed)
		}),
		only("sendable rows", func(ctx context.Context) ([]gateway.MissingRow, error) {
			return x.SendableRows(ctx, account, id, x.reconciled.Cursor, gateway.FirstIDAt[gateway.EventID](x.now), listed)
		}),
		only("missing reasons", func(ctx context.Context) (map[gateway.RowReason]int, error) {
			return x.MissingReasons(ctx, account, id)
		}),
	)
}

// stepReconciliation is the transaction of a step, with all that one can do.
func (x *explained) stepReconciliation(ctx context.Context, tx store.Tx) error {
	account, run := x.owner.ID, x.reconciled
	if mine, err := tx.HoldReconciliation(ctx, run, time.Hour); err != nil || !mine {
		return errors.Join(errors.New("the reconciliation is not held"), err)
	}
	if _, err := tx.MatchRows(ctx, account, run.ID, map[gateway.RowHash]store.Match{{1}: {EventID: x.event.ID}}); err != nil {
		return err
	}
	missing := gateway.MissingRow{EventID: gateway.EventID(x.b.clock.NewID()), DeliveryID: x.delivery.ID, Reason: gateway.ReasonFailed}
	if err := tx.AddMissing(ctx, account, run.ID, []gateway.MissingRow{missing}); err != nil {
		return err
	}
	judged := gateway.PartnerRow{N: 1, Result: gateway.RowUnknown, EventID: &x.event.ID}
	if _, err := tx.JudgeRows(ctx, account, run.ID, []gateway.PartnerRow{judged, {N: 2, Result: gateway.RowRepeated}}); err != nil {
		return err
	}
	_, err := tx.MoveReconciliation(ctx, run, store.ReconciliationStep{Cursor: x.event.ID, OursDone: true, Done: true})
	return err
}

// uploadList makes a reconciliation, and has its list come in and fail.
func (x *explained) uploadList(ctx context.Context, tx store.Tx) error {
	account := x.owner.ID
	r, err := tx.CreateReconciliation(ctx, account, gateway.Reconciliation{
		ID: gateway.ReconciliationID(x.b.clock.NewID()), EndpointID: x.endpoint, MatchBy: gateway.MatchByKey, Since: x.now, Until: x.now,
	}, time.Hour)
	if err != nil {
		return err
	}
	part := store.UploadedPart{Rows: []gateway.PartnerRow{{N: 1, Key: "k"}}, Faulty: 1, Faults: []gateway.FaultyRow{{N: 2, Why: "w"}}, Last: 2}
	_, added := tx.AddRows(ctx, account, r.ID, part, time.Hour)
	_, begun := tx.BeginComparing(ctx, account, r.ID)
	_, failed := tx.FailReconciliation(ctx, account, r.ID, "why")
	_, read := tx.Reconciliation(ctx, account, r.ID)
	return errors.Join(added, begun, failed, read)
}
