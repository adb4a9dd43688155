package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// compared makes a reconciliation with a row of each kind, which is compared.
func (b bundle) compared(t *testing.T, endpoint gateway.EndpointID) store.ReconciliationRun {
	t.Helper()
	id := gateway.ReconciliationID(b.clock.NewID())
	part := store.UploadedPart{
		Rows:   []gateway.PartnerRow{{N: 1, Key: "matched"}, {N: 2, Key: "unknown"}, {N: 4, Key: "open"}},
		Faulty: 1, Faults: []gateway.FaultyRow{{N: 3, Why: "w"}}, Last: 4,
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateReconciliation(t.Context(), b.account, gateway.Reconciliation{
			ID: id, EndpointID: endpoint, MatchBy: gateway.MatchByKey, Actor: gateway.ActorRowlock,
			Since: b.clock.Now().Add(-time.Hour), Until: b.clock.Now(),
		}, time.Hour)
		if err != nil {
			return err
		}
		_, added := tx.AddRows(t.Context(), b.account, id, part, time.Hour)
		_, begun := tx.BeginComparing(t.Context(), b.account, id)
		_, matched := tx.MatchRows(t.Context(), b.account, id, map[gateway.RowHash]store.Match{gateway.HashRow("matched", ""): {}})
		missing := tx.AddMissing(t.Context(), b.account, id, []gateway.MissingRow{{Reason: gateway.ReasonFailed, Sendable: true, EventID: gateway.EventID{1}}})
		_, judged := tx.JudgeRows(t.Context(), b.account, id, []gateway.PartnerRow{{N: 2, Result: gateway.RowUnknown}})
		return errors.Join(added, begun, matched, missing, judged)
	})
	run, mine, err := b.ClaimReconciliation(t.Context(), b.account, id, 0)
	if err != nil || !mine {
		t.Fatalf("claim: %t, %v", mine, err)
	}
	return run
}

// Whatever names another account's reconciliation finds nothing and changes
// nothing.
func TestAnotherAccountsReconciliationIsNotThere(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	run := b.compared(t, b.newEndpoint(t).ID)
	open := gateway.ReconciliationID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		r := run.Reconciliation
		r.ID = open
		_, err := tx.CreateReconciliation(t.Context(), b.account, r, time.Hour)
		return err
	})
	other, ctx := b.newAccount(t, "other"), t.Context()
	run.AccountID = other
	found := map[string]func(store.Tx) (int, error){
		"Reconciliation": func(store.Tx) (int, error) { return foundOne(b.Reconciliation(ctx, other, run.ID)) },
		"Reconciliation in a transaction": func(tx store.Tx) (int, error) {
			return foundOne(tx.Reconciliation(ctx, other, run.ID))
		},
		"Reconciliations": func(store.Tx) (int, error) {
			return foundMany(b.Reconciliations(ctx, other, store.Page[gateway.ReconciliationID]{Limit: 9}))
		},
		"MissingRows": func(store.Tx) (int, error) {
			return foundMany(b.MissingRows(ctx, other, run.ID, "", store.Page[gateway.EventID]{Limit: 9}))
		},
		"SendableRows": func(store.Tx) (int, error) {
			return foundMany(b.SendableRows(ctx, other, run.ID, gateway.EventID{}, gateway.EventID{9}, 9))
		},
		"PartnerRows": func(store.Tx) (int, error) {
			return foundMany(b.PartnerRows(ctx, other, run.ID, gateway.RowMatched, 0, 9))
		},
		"FaultyRows": func(store.Tx) (int, error) { return foundMany(b.FaultyRows(ctx, other, run.ID, 0, 9)) },
		"OpenRows":   func(store.Tx) (int, error) { return foundMany(b.OpenRows(ctx, other, run, 9)) },
		"MissingReasons": func(store.Tx) (int, error) {
			counts, err := b.MissingReasons(ctx, other, run.ID)
			return len(counts), err
		},
		"Listed": func(store.Tx) (int, error) {
			listed, err := b.Listed(ctx, other, run.ID, []gateway.RowHash{gateway.HashRow("open", "")})
			return len(listed), err
		},
		"ClaimReconciliation": func(store.Tx) (int, error) {
			_, mine, err := b.ClaimReconciliation(ctx, other, run.ID, 0)
			return foundIf(mine, err)
		},
		"HoldReconciliation": func(tx store.Tx) (int, error) { return foundIf(tx.HoldReconciliation(ctx, run, 0)) },
		"MoveReconciliation": func(tx store.Tx) (int, error) {
			_, err := tx.MoveReconciliation(ctx, run, store.ReconciliationStep{Done: true})
			return foundIf(err == nil, notFoundIsFine(err))
		},
		"LeaveReconciliation":  func(tx store.Tx) (int, error) { return foundIf(tx.LeaveReconciliation(ctx, other, run.ID, 0)) },
		"CancelReconciliation": func(tx store.Tx) (int, error) { return foundIf(tx.CancelReconciliation(ctx, other, run.ID)) },
		"FailReconciliation":   func(tx store.Tx) (int, error) { return foundIf(tx.FailReconciliation(ctx, other, open, "x")) },
		"BeginComparing":       func(tx store.Tx) (int, error) { return foundIf(tx.BeginComparing(ctx, other, open)) },
		"AddRows": func(tx store.Tx) (int, error) {
			return foundIf(tx.AddRows(ctx, other, open, store.UploadedPart{Rows: []gateway.PartnerRow{{N: 7, Key: "x"}}}, 0))
		},
		"DeleteReconciliation": func(tx store.Tx) (int, error) {
			err := tx.DeleteReconciliation(ctx, other, run.ID)
			return foundIf(err == nil, notFoundIsFine(err))
		},
		"MatchRows": func(tx store.Tx) (int, error) {
			return tx.MatchRows(ctx, other, run.ID, map[gateway.RowHash]store.Match{gateway.HashRow("open", ""): {}})
		},
		"JudgeRows": func(tx store.Tx) (int, error) {
			return tx.JudgeRows(ctx, other, run.ID, []gateway.PartnerRow{{N: 4, Result: gateway.RowUnknown}})
		},
	}
	for name, find := range found {
		b.in(t, func(tx store.Tx) error {
			if n, err := find(tx); err != nil || n != 0 {
				t.Errorf("%s: found %d, %v; want nothing", name, n, err)
			}
			return nil
		})
	}
	if n := b.count(t, `SELECT count(*) FROM reconciliation_rows WHERE result IS NULL`); n != 1 {
		t.Errorf("%d rows are open, want the one that was", n)
	}
	if n := b.count(t, `SELECT count(*) FROM reconciliations WHERE state IN ('uploading', 'comparing') AND deleted_at IS NULL`); n != 2 {
		t.Errorf("%d are open, want both", n)
	}
}

func foundIf(found bool, err error) (int, error) {
	if found {
		return 1, err
	}
	return 0, err
}

func foundOne[T any](_ T, err error) (int, error) { return foundIf(err == nil, notFoundIsFine(err)) }

func foundMany[T any](all []T, err error) (int, error) { return len(all), err }

func notFoundIsFine(err error) error {
	if errors.Is(err, gateway.ErrNotFound) {
		return nil
	}
	return err
}

// Each list of what was found goes on where it ended.
func TestWhatWasFoundIsListedInParts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	run := b.compared(t, b.newEndpoint(t).ID)
	var rows []gateway.PartnerRow
	var missing []gateway.MissingRow
	for i := range 5 {
		rows = append(rows, gateway.PartnerRow{N: 10 + i, Key: "more"})
		missing = append(missing, gateway.MissingRow{EventID: gateway.EventID{2, byte(i)}, Reason: gateway.ReasonHeld, Key: "\xff\x00"})
	}
	b.in(t, func(tx store.Tx) error { return tx.AddMissing(t.Context(), b.account, run.ID, missing) })
	b.exec(t, 5, `
		INSERT INTO reconciliation_rows (reconciliation_id, n, hash, key, type, result)
		SELECT $1, n, '', 'more', '', 'unknown'
		FROM generate_series(10, 14) AS n`, run.ID)
	after, seen := 0, 0
	for {
		part, err := b.PartnerRows(t.Context(), b.account, run.ID, gateway.RowUnknown, after, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(part) == 0 {
			break
		}
		seen, after = seen+len(part), part[len(part)-1].N
	}
	if seen != len(rows)+1 {
		t.Errorf("%d rows in parts, want %d", seen, len(rows)+1)
	}
	page := store.Page[gateway.EventID]{Limit: 4}
	first, err := b.MissingRows(t.Context(), b.account, run.ID, gateway.ReasonHeld, page)
	if err != nil || len(first) != 4 || first[0].Key != "\uFFFD\uFFFD" {
		t.Fatalf("%v, %v; want four, with keys that are text", first, err)
	}
	page.Before = &first[3].EventID
	if rest, err := b.MissingRows(t.Context(), b.account, run.ID, gateway.ReasonHeld, page); err != nil || len(rest) != 1 {
		t.Errorf("%v, %v; want the last", rest, err)
	}
	counts, err := b.MissingReasons(t.Context(), b.account, run.ID)
	if err != nil || counts[gateway.ReasonHeld] != 5 || counts[gateway.ReasonFailed] != 1 || len(counts) != 2 {
		t.Errorf("counted %v, %v", counts, err)
	}
}

// What was deleted goes wholly, and of what is old, or was never read to its end,
// the numbers stay; several nodes at once do it once.
func TestRowsOfOldReconciliationsGo(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	endpoint := b.newEndpoint(t).ID
	deleted, old, young, unread := b.compared(t, endpoint), b.compared(t, endpoint), b.compared(t, endpoint), b.compared(t, endpoint)
	b.in(t, func(tx store.Tx) error { return tx.DeleteReconciliation(t.Context(), b.account, deleted.ID) })
	b.exec(t, 1, `UPDATE reconciliations SET created_at = now() - interval '40 days' WHERE id = $1`, old.ID)
	b.exec(t, 1, `UPDATE reconciliations SET state = 'failed', finished_at = now(), uploaded_at = NULL WHERE id = $1`, unread.ID)
	before := b.clock.Now().AddDate(0, 0, -30)
	pgtest.AtOnce(4, func(int) {
		for more := true; more; {
			err := b.InTx(t.Context(), func(tx store.Tx) (err error) {
				more, err = tx.EmptyReconciliation(t.Context(), before, 2)
				return err
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	if n := b.count(t, `SELECT count(*) FROM reconciliations`); n != 3 {
		t.Errorf("%d are left, want the old, the young and the unread one", n)
	}
	for table, want := range map[string]int{"reconciliation_rows": 3, "reconciliation_missing": 1, "reconciliation_faults": 1} {
		if n := b.count(t, `SELECT count(*) FROM `+table); n != want {
			t.Errorf("%d of %s are left, want the young one's %d", n, table, want)
		}
	}
	for _, id := range []gateway.ReconciliationID{old.ID, unread.ID} {
		if r, err := b.Reconciliation(t.Context(), b.account, id); err != nil || r.EmptiedAt == nil || r.Rows != 3 {
			t.Errorf("the old or unread one: %+v, %v; want its numbers", r, err)
		}
	}
	if r, err := b.Reconciliation(t.Context(), b.account, young.ID); err != nil || r.EmptiedAt != nil {
		t.Errorf("the young one: %+v, %v", r, err)
	}
}

// A row is matched once, by whichever of its events was confirmed.
func TestARowIsMatchedOnceByAConfirmedEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	run := b.compared(t, b.newEndpoint(t).ID)
	for i, step := range []struct {
		reason  gateway.RowReason
		matched int
		want    byte
	}{{gateway.ReasonUnconfirmed, 1, 1}, {gateway.ReasonUnconfirmed, 0, 1}, {"", 0, 3}, {"", 0, 3}, {gateway.ReasonUnconfirmed, 0, 3}} {
		b.in(t, func(tx store.Tx) error {
			n, err := tx.MatchRows(t.Context(), b.account, run.ID, map[gateway.RowHash]store.Match{
				gateway.HashRow("open", ""): {EventID: gateway.EventID{byte(i + 1)}, Reason: step.reason}, gateway.HashRow("nobody's", ""): {},
			})
			if n != step.matched {
				t.Errorf("step %d matched %d, want %d", i, n, step.matched)
			}
			return err
		})
		rows, err := b.PartnerRows(t.Context(), b.account, run.ID, gateway.RowMatched, 2, 9)
		if err != nil || len(rows) != 1 || *rows[0].EventID != (gateway.EventID{step.want}) {
			t.Errorf("step %d: %v, %v; want event %d", i, rows, err, step.want)
		}
	}
}
