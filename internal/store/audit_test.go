package store_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestAuditIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	audit := func(tx store.Tx) error {
		return tx.Audit(t.Context(), b.account, gateway.ActorRowlock, "endpoint.pause", "ep_1", "detail", b.clock.NewID())
	}
	rolledBack := errors.New("no")
	err := b.InTx(t.Context(), func(tx store.Tx) error { return errors.Join(audit(tx), rolledBack) })
	if !errors.Is(err, rolledBack) || b.count(t, `SELECT count(*) FROM audit_log`) != 0 {
		t.Errorf("a transaction that was rolled back left an entry (%v)", err)
	}
	b.in(t, audit)
	n := b.count(t, `
		SELECT count(*)
		FROM audit_log
		WHERE account_id = $1 AND actor = 'rowlock' AND action = 'endpoint.pause' AND object = 'ep_1' AND detail = 'detail'`, b.account)
	if n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
}

func TestAuditCannotBeChanged(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.in(t, func(tx store.Tx) error {
		return tx.Audit(t.Context(), b.account, gateway.ActorRowlock, "a", "b", "", b.clock.NewID())
	})
	for _, sql := range []string{`UPDATE audit_log SET actor = 'x'`, `DELETE FROM audit_log`, `TRUNCATE audit_log`} {
		if _, err := b.pool.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s was allowed", sql)
		}
	}
}

// The entries of an account that was deleted go, and no others; before its time
// of grace is over, none does.
func TestAuditGoesWithItsAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	other := b.newAccount(t, "other")
	b.audits(t, b.account, gateway.ActorRowlock, "x", "a", "b")
	b.audits(t, other, gateway.ActorRowlock, "x", "a")
	last := store.AccountTables - 1
	b.exec(t, 1, `UPDATE accounts SET delete_at = now() WHERE id = $1`, b.account)
	if _, err := b.EmptyTable(t.Context(), b.account, last, 9); err == nil {
		t.Error("entries of an account that is still there were deleted")
	}
	b.exec(t, 1, `UPDATE accounts SET gone_at = now() WHERE id = $1`, b.account)
	for _, sql := range []string{`UPDATE audit_log SET actor = 'x'`, `DELETE FROM audit_log`, `TRUNCATE audit_log`} {
		if _, err := b.pool.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s was allowed", sql)
		}
	}
	if n, err := b.EmptyTable(t.Context(), b.account, last, 9); err != nil || n != 2 {
		t.Errorf("%d were deleted, %v", n, err)
	}
	if n := b.count(t, `SELECT count(*) FROM audit_log WHERE account_id = $1`, other); n != 1 {
		t.Errorf("%d of the other account are left", n)
	}
}

// What a person does is told in each of their accounts but those that are gone;
// of who has none, in the log of the instance; of nobody, nowhere. The log of the
// instance is nobody's, and stays as it was written.
func TestAuditOfPeopleAndTheInstance(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	other, gone := b.newAccount(t, "other"), b.newAccount(t, "gone")
	member, alone := gateway.UserID(b.clock.NewID()), gateway.UserID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		return errors.Join(
			tx.CreateUser(t.Context(), store.User{ID: member, Email: "mara@example.com", Name: "Mara"}, ""),
			tx.CreateUser(t.Context(), store.User{ID: alone, Email: "eve@example.com", Name: "Eve"}, ""),
			tx.AddMember(t.Context(), b.account, member, gateway.RoleViewer),
			tx.AddMember(t.Context(), gone, member, gateway.RoleViewer))
	})
	b.exec(t, 1, `UPDATE accounts SET delete_at = now(), gone_at = now() WHERE id = $1`, gone)
	b.in(t, func(tx store.Tx) error {
		for _, user := range []gateway.UserID{member, alone, gateway.UserID(b.clock.NewID()), {}} {
			line := store.AuditLine{ID: gateway.AuditID(b.clock.NewID()), Detail: "detail", Refused: true}
			if err := tx.AuditPerson(t.Context(), user, gateway.Actor(user.String()), "login.refuse", line); err != nil {
				return err
			}
		}
		return tx.AuditInstance(t.Context(), gateway.Actor(alone.String()), "mail.retry", store.AuditLine{ID: gateway.AuditID(b.clock.NewID())})
	})
	told := func(entries []gateway.AuditEntry, err error) (all [][3]any) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			all = append(all, [3]any{e.Action, e.ActorName, e.Refused})
		}
		return all
	}
	page, refused := store.Page[gateway.AuditID]{Limit: 9}, true
	for name, c := range map[string]struct{ got, want [][3]any }{
		"their account":           {told(b.AuditLog(t.Context(), b.account, store.AuditFilter{}, page)), [][3]any{{"login.refuse", "Mara", true}}},
		"another":                 {told(b.AuditLog(t.Context(), other, store.AuditFilter{}, page)), nil},
		"one that is gone":        {told(b.AuditLog(t.Context(), gone, store.AuditFilter{}, page)), nil},
		"no account":              {told(b.AuditLog(t.Context(), gateway.AccountID{}, store.AuditFilter{}, page)), nil},
		"the instance":            {told(b.InstanceAudit(t.Context(), store.AuditFilter{}, page)), [][3]any{{"mail.retry", "Eve", false}, {"login.refuse", "Eve", true}}},
		"the instance, refused":   {told(b.InstanceAudit(t.Context(), store.AuditFilter{Refused: &refused}, page)), [][3]any{{"login.refuse", "Eve", true}}},
		"changes of the instance": {told(b.InstanceAudit(t.Context(), store.AuditFilter{Changes: true}, page)), [][3]any{{"mail.retry", "Eve", false}}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, sql := range []string{`UPDATE audit_log SET actor = 'x' WHERE account_id IS NULL`, `DELETE FROM audit_log WHERE account_id IS NULL`} {
		if _, err := b.pool.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s was allowed", sql)
		}
	}
	if _, err := b.pool.Exec(t.Context(), `INSERT INTO audit_log (id, actor, action, object) SELECT id, 'x', 'x', 'x' FROM audit_log WHERE account_id IS NULL`); err == nil {
		t.Error("an id was written twice")
	}
}
