package retain_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// tables are those that have an account's rows, by the column that says whose;
// those of comparisons are found by their comparison.
func (b bundle) tables(t *testing.T) map[string]string {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `
		SELECT c.relname
		FROM pg_attribute a
		JOIN pg_class c ON c.oid = a.attrelid
		WHERE a.attname = 'account_id'
		  AND NOT a.attisdropped
		  AND c.relkind IN ('r', 'p')
		  AND NOT c.relispartition
		  AND c.relnamespace = current_schema()::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	where := map[string]string{}
	for _, name := range names {
		where[name] = `account_id = $1`
	}
	for _, part := range []string{"rows", "missing", "faults"} {
		where["reconciliation_"+part] = `reconciliation_id IN (SELECT id FROM reconciliations WHERE account_id = $1)`
	}
	return where
}

// rowsOf counts an account's rows by table.
func (b bundle) rowsOf(t *testing.T, account gateway.AccountID) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for name, where := range b.tables(t) {
		counts[name] = b.number(t, `SELECT count(*) FROM `+name+` WHERE `+where, account)
	}
	return counts
}

// whole fills a database with two accounts that have a row of everything, over
// some days, and more of some than one batch deletes.
func whole(t *testing.T) (b bundle, accounts []gateway.AccountID) {
	t.Helper()
	b = newBundle(t)
	now := b.clock.Now()
	if _, err := b.store.MakePartitions(t.Context(), now.AddDate(0, 0, -3), now); err != nil {
		t.Fatal(err)
	}
	filled, err := fill.Fill(t.Context(), b.pool, fill.Options{
		Events: 6000, Days: 2, Until: now, Accounts: 2, Sources: 2, Endpoints: 2, BodySize: 16,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range filled {
		b.addTheRest(t, a.ID)
		accounts = append(accounts, a.ID)
	}
	for _, account := range accounts {
		for name, n := range b.rowsOf(t, account) {
			if n == 0 {
				t.Fatalf("an account has no row in %s: add one to this test, and the table to those that go with their account", name)
			}
		}
	}
	return b, accounts
}

// addTheRest adds a row of what the history has none of.
func (b bundle) addTheRest(t *testing.T, account gateway.AccountID) {
	t.Helper()
	user, id := gateway.UserID(b.clock.NewID()), gateway.ReconciliationID(b.clock.NewID())
	for _, sql := range []string{
		`INSERT INTO users (id, email, name, password_hash, last_account_id) VALUES ($2::uuid, $2::uuid || '@example.com', 'x', '', $1)`,
		`INSERT INTO members (account_id, user_id, role) VALUES ($1, $2, 'owner')`,
		`INSERT INTO alert_choices (account_id, user_id, kind, wanted) VALUES ($1, $2, 'x', true)`,
		`INSERT INTO alert_channels (id, account_id, sealed, host, kinds) VALUES ($2, $1, '', '', '{}')`,
		`INSERT INTO saved_views (account_id, user_id, name, query) VALUES ($1, $2, 'x', '')`,
		`INSERT INTO api_keys (id, account_id, name, hash, hint, scopes) VALUES ($2, $1, 'x', sha256($2::uuid::text::bytea), '', '{}')`,
		`INSERT INTO invitations (id, hash, email, account_id, role, ends_at, used_by) VALUES ($2, sha256($2::uuid::text::bytea), '', $1, 'viewer', now(), $2)`,
		`INSERT INTO audit_log (id, account_id, actor, action, object) VALUES (gen_random_uuid(), $1, 'x', 'x', $2::uuid::text)`,
		`INSERT INTO alerts (id, account_id, type, data) VALUES ($2, $1, 'x', '')`,
		`INSERT INTO event_types (account_id, name) SELECT $1, $2::uuid::text`,
		`INSERT INTO retention_notices (account_id, day, kind, deliveries, held, accepted) SELECT $1, now()::date, 'warning', 1, 1, 1 WHERE $2::uuid IS NOT NULL`,
		`INSERT INTO operations (id, account_id, kind, filter, dry_run, per_second, bound, count_cursor, cursor, actor) VALUES ($2, $1, 'redeliver', '{}', false, 0, $2, $2, $2, 'x')`,
		`INSERT INTO failure_digests (endpoint_id, account_id, failed, causes) SELECT id, account_id, 1, '{}' FROM endpoints WHERE account_id = $1 AND $2::uuid IS NOT NULL LIMIT 1`,
		`INSERT INTO dismissals (account_id, endpoint_id, error_kind, status_code, dismissed_at, until, actor) SELECT account_id, id, '', 500, now(), now(), 'x' FROM endpoints WHERE account_id = $1 AND $2::uuid IS NOT NULL LIMIT 1`,
		`INSERT INTO source_secrets (id, account_id, source_id, sealed) SELECT $2, account_id, id, '' FROM sources WHERE account_id = $1 LIMIT 1`,
		`INSERT INTO endpoint_secrets (id, account_id, endpoint_id, sealed) SELECT $2, account_id, id, '' FROM endpoints WHERE account_id = $1 LIMIT 1`,
		`INSERT INTO listeners (endpoint_id, account_id, listener, host, connected_at, seen_at) SELECT id, account_id, 'x', 'x', now(), now() FROM endpoints WHERE account_id = $1 AND $2::uuid IS NOT NULL LIMIT 1`,
		`INSERT INTO relays (delivery_id, n, account_id, endpoint_id, event_id, fence, made_at, timeout_ms) SELECT $2, 1, account_id, id, $2, 1, now(), 1 FROM endpoints WHERE account_id = $1 LIMIT 1`,
		`INSERT INTO requests (id, account_id, source_id, cause, method, path, query, headers, body, body_size)
			SELECT e.id, account_id, source_id, 'x', 'POST', '', '', '', '', 0 FROM (SELECT * FROM events WHERE account_id = $1 ORDER BY id LIMIT 5) e WHERE $2::uuid IS NOT NULL`,
		`INSERT INTO facts (id, account_id, source_id, subject_hash, subject, state, terminal, seen, event_id)
			SELECT $2, account_id, id, sha256($2::uuid::text::bytea), 'x', 'x', false, '{}', $2 FROM sources WHERE account_id = $1 LIMIT 1`,
		`INSERT INTO claims (id, account_id, scope, key_hash, key, state, holder, fence, on_doubt, claimed_at, lease_expires_at)
			VALUES ($2, $1, 'x', sha256($2::uuid::text::bytea), 'x', 'done', '', 1, 'resend', now(), now())`,
		`INSERT INTO claim_holds (claim_id, fence, account_id, scope, holder, claimed_at, lease_expires_at) VALUES ($2, 1, $1, 'x', '', now(), now())`,
	} {
		b.exec(t, sql, account, user)
	}
	b.exec(t, `
		INSERT INTO reconciliations (id, account_id, endpoint_id, name, since, until, match_by, with_type, cursor, actor)
		SELECT $2, $1, id, '', now(), now(), 'key', false, $2, 'x' FROM endpoints WHERE account_id = $1 LIMIT 1`, account, id)
	var first gateway.EventID // which came with others, in a request that is kept whole
	if err := b.pool.QueryRow(t.Context(), `SELECT id FROM events WHERE account_id = $1 ORDER BY id LIMIT 1`, account).Scan(&first); err != nil {
		t.Fatal(err)
	}
	request := idAt[gateway.RequestID](b, first.Time())
	b.exec(t, `UPDATE events SET request_id = $2 WHERE id = $1`, first, request)
	b.exec(t, `INSERT INTO event_bodies (id, account_id, method, path, query, headers, body) VALUES ($1, $2, 'POST', '', '', '', '')`, request, account)
	b.exec(t, `INSERT INTO reconciliation_rows (reconciliation_id, n, hash, key, type) SELECT $1, n, '', '', '' FROM generate_series(1, 2500) n`, id)
	b.exec(t, `INSERT INTO reconciliation_faults (reconciliation_id, n, why) VALUES ($1, 1, '')`, id)
	b.exec(t, `
		INSERT INTO reconciliation_missing (reconciliation_id, event_id, delivery_id, key, type, reason, event_status, attempts, sendable)
		VALUES ($1, $1, $1, '', '', 'failed', '', 1, true)`, id)
}

// An account whose time of grace is over goes as a whole, and no other with it:
// first for its members, then its rows, in batches, by whichever node.
func TestDeletedAccountsAreEmptied(t *testing.T) {
	t.Parallel()
	b, accounts := whole(t)
	account, other := accounts[0], accounts[1]
	kept := b.rowsOf(t, other)
	b.exec(t, `UPDATE accounts SET delete_at = now() + interval '1 hour' WHERE id = $1`, account)
	before := b.rowsOf(t, account)
	b.emptyAccounts(t) // its time has not come
	if diff := cmp.Diff(before, b.rowsOf(t, account)); diff != "" {
		t.Errorf("before its time: %s", diff)
	}
	if n := b.number(t, `SELECT count(*) FROM endpoints WHERE account_id = $1 AND state = 'active'`, account); n != 0 {
		t.Errorf("%d endpoints of an account that is about to be deleted are active", n)
	}

	b.exec(t, `UPDATE accounts SET delete_at = now() WHERE id = $1`, account)
	b.emptyAccounts(t)
	if n := b.number(t, `SELECT count(*) FROM members WHERE account_id = $1`, account); n != 0 {
		t.Error("it has members")
	}
	gone := b.rowsOf(t, account)
	b.emptyAccounts(t) // nodes may remember it for some moments
	if diff := cmp.Diff(gone, b.rowsOf(t, account)); diff != "" || gone["events"] == 0 {
		t.Errorf("at once: %s", diff)
	}

	if n := b.number(t, `SELECT count(*) FROM audit_log WHERE account_id = $1 AND action = 'account.delete'`, account); n != 1 {
		t.Errorf("told %d times that it is deleted", n)
	}
	b.exec(t, `UPDATE accounts SET gone_at = now() - interval '1 hour' WHERE id = $1`, account)
	pgtest.AtOnce(3, func(int) { b.emptyAccounts(t) })
	b.emptyAccounts(t)
	for name, n := range b.rowsOf(t, account) {
		if n > 0 {
			t.Errorf("%d rows of %s are left", n, name)
		}
	}
	if diff := cmp.Diff(kept, b.rowsOf(t, other)); diff != "" {
		t.Errorf("the other account: %s", diff)
	}
	if n := b.number(t, `SELECT count(*) FROM accounts WHERE id = $1 AND emptied_at IS NOT NULL AND name = 'Deleted account' AND slug LIKE 'deleted-%'`, account); n != 1 {
		t.Error("the account's own row does not say so")
	}
}

// emptyAccounts is one round. Two at once may ask for the same rows, which is no
// fault of either.
func (b bundle) emptyAccounts(t *testing.T) {
	t.Helper()
	if err := b.EmptyAccounts(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// Restoring and taking away at the same moment: one of them has an effect.
func TestRestoringAtTheLastMoment(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for i := range 8 {
		account, owner := gateway.AccountID(b.clock.NewID()), gateway.UserID(b.clock.NewID())
		b.exec(t, `INSERT INTO accounts (id, name, slug, delete_at) VALUES ($1, 'x', $2, now())`, account, fmt.Sprint("x", i))
		b.exec(t, `INSERT INTO users (id, email, name, password_hash) VALUES ($1, $2, 'x', '')`, owner, owner.String())
		b.exec(t, `INSERT INTO members (account_id, user_id, role) VALUES ($1, $2, 'owner')`, account, owner)
		var took bool
		var restored error
		pgtest.AtOnce(2, func(i int) {
			err := b.store.InTx(t.Context(), func(tx store.Tx) (err error) {
				if i == 0 {
					took, err = tx.TakeAway(t.Context(), account)
					return err
				}
				return tx.RestoreAccount(t.Context(), account, gateway.Actor(owner.String()))
			})
			if i == 1 {
				restored = err
			} else if err != nil {
				t.Error(err)
			}
		})
		if took == (restored == nil) {
			t.Errorf("taken away: %t, restored: %v", took, restored)
		}
		if n := b.number(t, `SELECT count(*) FROM members WHERE account_id = $1`, account); (n == 0) != took {
			t.Errorf("taken away: %t, and %d members", took, n)
		}
	}
}
