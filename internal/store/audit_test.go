package store_test

import (
	"errors"
	"testing"

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
