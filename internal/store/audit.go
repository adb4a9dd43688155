package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// AuditLine is an entry of the audit log.
type AuditLine struct {
	ID             gateway.AuditID
	Object, Detail string
	// Refused tells that it was tried and not let pass: nothing was done.
	Refused bool
}

// Audit writes into the audit log, in the transaction that makes the change:
// who did what ("endpoint.pause") to which object (its id), and what is to be
// known besides, never a secret. From where, the context tells. The database lets
// nobody change an entry.
func (t Tx) Audit(ctx context.Context, account gateway.AccountID, actor gateway.Actor, action, object, detail string, id [16]byte) error {
	return t.AuditMany(ctx, account, actor, action, []AuditLine{{ID: gateway.AuditID(id), Object: object, Detail: detail}})
}

// AuditMany is Audit for one action on many objects.
func (t Tx) AuditMany(ctx context.Context, account gateway.AccountID, actor gateway.Actor, action string, lines []AuditLine) error {
	return t.addAudit(ctx, &account, actor, action, lines)
}

// AuditInstance is Audit for what is done to the instance, and is of no account.
func (t Tx) AuditInstance(ctx context.Context, actor gateway.Actor, action string, line AuditLine) error {
	return t.addAudit(ctx, nil, actor, action, []AuditLine{line})
}

func (t Tx) addAudit(ctx context.Context, account *gateway.AccountID, actor gateway.Actor, action string, lines []AuditLine) error {
	from := gateway.OriginOf(ctx)
	ids, objects := make([]gateway.AuditID, len(lines)), make([]string, len(lines))
	details, refused := make([]string, len(lines)), make([]bool, len(lines))
	for i, l := range lines {
		ids[i], objects[i], details[i], refused[i] = l.ID, l.Object, l.Detail, l.Refused
	}
	_, err := t.tx.Exec(ctx, `
		INSERT INTO audit_log (id, account_id, actor, action, object, detail, refused, address, agent)
		SELECT l.id, @account::uuid, @actor, @action, l.object, l.detail, l.refused, @address, @agent
		FROM unnest(@ids::uuid[], @objects::text[], @details::text[], @refused::boolean[]) AS l (id, object, detail, refused)`,
		pgx.NamedArgs{
			"account": account, "actor": string(actor), "action": action,
			"ids": ids, "objects": objects, "details": details, "refused": refused,
			"address": from.Address, "agent": from.Agent,
		})
	return wrap("write audit log", err)
}

// AuditPerson is Audit for what is done to a person's log-in, by themselves or
// by Rowlock: it is told in each of their accounts, and of who has none, or owns
// the instance, in the log of the instance. It is one statement, however many
// there are; the object is the person.
func (t Tx) AuditPerson(ctx context.Context, user gateway.UserID, actor gateway.Actor, action string, line AuditLine) error {
	from := gateway.OriginOf(ctx)
	_, err := t.tx.Exec(ctx, `
		INSERT INTO audit_log (id, account_id, actor, action, object, detail, refused, address, agent)
		SELECT @id, l.account_id, @actor, @action, @object, @detail, @refused, @address, @agent
		FROM (
			SELECT m.account_id
			FROM members m
			JOIN accounts a ON a.id = m.account_id
			WHERE m.user_id = @user
			  AND a.gone_at IS NULL
			UNION ALL
			SELECT NULL
			FROM users u
			WHERE u.id = @user
			  AND (
				EXISTS (SELECT FROM instance_owner WHERE user_id = u.id)
				OR NOT EXISTS (SELECT FROM members WHERE user_id = u.id)
			  )
		) AS l (account_id)`,
		pgx.NamedArgs{
			"id": line.ID, "user": user, "actor": string(actor), "action": action,
			"object": user.String(), "detail": line.Detail, "refused": line.Refused,
			"address": from.Address, "agent": from.Agent,
		})
	return wrap("write audit log", err)
}
