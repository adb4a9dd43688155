package retain_test

import (
	"sync"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// More keys than one batch go in one round, from all parts, whoever is at it
// besides.
func TestManyKeysAreForgotten(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.exec(t, `
		INSERT INTO event_keys (account_id, source_id, key_hash, event_id, body_hash, seen_at)
		SELECT $1, $1, sha256(n::text::bytea), $1, '', $2::timestamptz + n * interval '1 ms'
		FROM generate_series(1, 60000) AS n`, b.account, b.clock.Now().Add(-window-time.Hour))
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if err := b.PruneKeys(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := b.PruneKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.number(t, `SELECT count(*) FROM event_keys`); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

func TestRollupsGoWithTheRetention(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.delivery(t, time.Hour, "delivered")
	b.exec(t, `
		INSERT INTO rollups (minute, endpoint_id, node, account_id, succeeded)
		SELECT date_trunc('minute', now()) - n * interval '1 min', e.id, 'n', e.account_id, 1
		FROM endpoints e
		CROSS JOIN generate_series(0, 20159) AS n`) // 14 days
	for range 2 {
		if err := b.PruneRollups(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	left := b.number(t, `SELECT count(*) FROM rollups`)
	if want := int(retention / time.Minute); left < want || left > want+2 {
		t.Errorf("%d minutes are left, want the %d of the retention", left, want)
	}
	if n := b.number(t, `SELECT sum(deliveries)::int FROM usage`); n+left != 20160 {
		t.Errorf("%d deliveries are counted in usage and %d in rollups, want 20160", n, left)
	}
}

func TestKeysAreForgottenAfterTheWindow(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for i, age := range []time.Duration{window + time.Hour, window - time.Hour, 0} {
		b.exec(t, `
			INSERT INTO event_keys (account_id, source_id, key_hash, event_id, body_hash, seen_at)
			VALUES ($1, $1, sha256($2), $1, '', $3)`, b.account, []byte{byte(i)}, b.clock.Now().Add(-age))
	}
	for range 2 {
		if err := b.PruneKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.number(t, `SELECT count(*) FROM event_keys`); n != 2 {
		t.Errorf("%d keys are left, want the 2 within the window", n)
	}
}

func TestRequestsAreTrimmedToTheNewest(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := gateway.SourceID(b.clock.NewID())
	b.exec(t, `INSERT INTO sources (id, account_id, name, kind, token, settings) VALUES ($1, $2, 's', 'none', 't', '')`, source, b.account)
	var requests []gateway.Request
	for range gateway.MaxRequestsKept + 7 {
		requests = append(requests, gateway.Request{
			ID: gateway.RequestID(b.clock.NewID()), AccountID: b.account, SourceID: source, Cause: "signature_missing",
			Body: gateway.Body{Method: "POST"},
		})
	}
	err := b.store.InTx(t.Context(), func(tx store.Tx) error { return tx.InsertRequests(t.Context(), requests) })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.TrimRequests(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.number(t, `SELECT count(*) FROM requests`); n != gateway.MaxRequestsKept {
		t.Errorf("%d requests are left, want %d", n, gateway.MaxRequestsKept)
	}
	if n := b.number(t, `SELECT count(*) FROM requests WHERE id = $1`, requests[0].ID); n != 0 {
		t.Error("the oldest is still there")
	}
}

// What was said of failures goes with them.
func TestDismissalsGoWithTheirFailures(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.delivery(t, time.Hour, "failed")
	b.exec(t, `
		INSERT INTO dismissals (account_id, endpoint_id, error_kind, status_code, until, actor, dismissed_at)
		SELECT account_id, id, '', 500 + n, $1::timestamptz - n * interval '1 hour', 'rowlock', now()
		FROM endpoints
		CROSS JOIN generate_series(-1, 1) AS n`, b.clock.Now().Add(-retention))
	for range 2 {
		if err := b.PruneDismissals(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.number(t, `SELECT count(*) FROM dismissals WHERE status_code = 499`); n != 1 || b.number(t, `SELECT count(*) FROM dismissals`) != 1 {
		t.Errorf("%d dismissals are left, want the one within the retention", b.number(t, `SELECT count(*) FROM dismissals`))
	}
}

// Of a comparison that is older than the retention the numbers stay, and one that
// was deleted goes wholly; the rows of both go in as many batches as it takes.
func TestRowsOfComparisonsGoWithTheRetention(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.delivery(t, time.Hour, "delivered") // has an endpoint
	b.exec(t, `
		INSERT INTO reconciliations (id, account_id, endpoint_id, name, since, until, match_by, with_type, state, rows, cursor, actor, created_at, deleted_at)
		SELECT gen_random_uuid(), account_id, id, '', now(), now(), 'key', false, 'done', 12000, id, 'a', now() - c.age, c.deleted
		FROM endpoints
		CROSS JOIN (VALUES ($1::interval, NULL::timestamptz), ('1 min', now()), ('1 min', NULL)) AS c (age, deleted)`, retention+time.Hour)
	b.exec(t, `
		INSERT INTO reconciliation_rows (reconciliation_id, n, hash, key, type)
		SELECT id, n, '', 'k', ''
		FROM reconciliations
		CROSS JOIN generate_series(1, 12000) AS n`)
	for range 2 {
		if err := b.PruneReconciliations(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.number(t, `SELECT count(*) FROM reconciliation_rows`); n != 12000 {
		t.Errorf("%d rows are left, want the young one's", n)
	}
	if n := b.number(t, `SELECT count(*) FROM reconciliations WHERE deleted_at IS NULL`); n != 2 {
		t.Errorf("%d comparisons are left, want the old and the young one", n)
	}
	if n := b.number(t, `SELECT count(*) FROM reconciliations WHERE emptied_at IS NOT NULL AND rows = 12000`); n != 1 {
		t.Errorf("%d have nothing but their numbers, want the old one", n)
	}
}
