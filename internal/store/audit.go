package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Audit writes into the audit log, in the transaction that makes the change:
// who did what ("endpoint.pause") to which object (its id), and what is to be
// known besides, never a secret. The database lets nobody change an entry.
func (t Tx) Audit(ctx context.Context, account gateway.AccountID, actor gateway.Actor, action, object, detail string, id [16]byte) error {
	_, err := t.tx.Exec(ctx, `
		INSERT INTO audit_log (id, account_id, actor, action, object, detail)
		VALUES (@id, @account, @actor, @action, @object, @detail)`,
		pgx.NamedArgs{
			"id": gateway.AuditID(id), "account": account, "actor": string(actor),
			"action": action, "object": object, "detail": detail,
		})
	return wrap("write audit log", err)
}
