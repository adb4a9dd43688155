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

// AuditLine is an entry of the audit log that is written together with others.
type AuditLine struct {
	ID             gateway.AuditID
	Object, Detail string
}

// AuditMany is Audit for one action on many objects.
func (t Tx) AuditMany(ctx context.Context, account gateway.AccountID, actor gateway.Actor, action string, lines []AuditLine) error {
	ids, objects, details := make([]gateway.AuditID, len(lines)), make([]string, len(lines)), make([]string, len(lines))
	for i, l := range lines {
		ids[i], objects[i], details[i] = l.ID, l.Object, l.Detail
	}
	_, err := t.tx.Exec(ctx, `
		INSERT INTO audit_log (id, account_id, actor, action, object, detail)
		SELECT l.id, @account, @actor, @action, l.object, l.detail
		FROM unnest(@ids::uuid[], @objects::text[], @details::text[]) AS l (id, object, detail)`,
		pgx.NamedArgs{
			"account": account, "actor": string(actor), "action": action,
			"ids": ids, "objects": objects, "details": details,
		})
	return wrap("write audit log", err)
}

// AuditLog lists what was done in an account, newest first.
func (s *Store) AuditLog(ctx context.Context, account gateway.AccountID, page Page[gateway.AuditID]) ([]gateway.AuditEntry, error) {
	low, high := page.bounds()
	return s.audited(ctx, account, `
		SELECT `+auditFields+`
		FROM audit_log
		WHERE account_id = @account
		  AND id >= @low
		  AND id < @high
		ORDER BY id DESC
		LIMIT @limit`,
		pgx.NamedArgs{"account": account, "low": low, "high": high, "limit": page.Limit})
}

// AuditOf lists what was done to objects, by their ids, newest first.
func (s *Store) AuditOf(ctx context.Context, account gateway.AccountID, objects []string, limit int) ([]gateway.AuditEntry, error) {
	return s.audited(ctx, account, `
		SELECT `+auditFields+`
		FROM audit_log
		WHERE account_id = @account
		  AND object = ANY (@objects)
		ORDER BY id DESC
		LIMIT @limit`,
		pgx.NamedArgs{"account": account, "objects": objects, "limit": limit})
}

const auditFields = `id, account_id, actor, action, object, detail, created_at`

// audited reads entries and adds the names of those who acted.
func (s *Store) audited(ctx context.Context, account gateway.AccountID, sql string, args pgx.NamedArgs) ([]gateway.AuditEntry, error) {
	rows, err := s.pool.Query(ctx, sql, args)
	if err != nil {
		return nil, wrap("read audit log", err)
	}
	entries, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e gateway.AuditEntry, err error) {
		return e, row.Scan(&e.ID, &e.AccountID, &e.Actor, &e.Action, &e.Object, &e.Detail, &e.CreatedAt)
	})
	if err != nil {
		return nil, wrap("read audit log", err)
	}
	names, err := s.actorNames(ctx, account, entries)
	for i := range entries {
		entries[i].ActorName = names[entries[i].Actor]
	}
	return entries, err
}

// ActorNames reads what those are called who did something.
func (s *Store) ActorNames(ctx context.Context, account gateway.AccountID, actors []gateway.Actor) (map[gateway.Actor]string, error) {
	entries := make([]gateway.AuditEntry, len(actors))
	for i, actor := range actors {
		entries[i].Actor = actor
	}
	return s.actorNames(ctx, account, entries)
}

// actorNames reads the names of the people and the account's keys that acted.
// People are named as they are called now, members or not: what they did stays.
func (s *Store) actorNames(ctx context.Context, account gateway.AccountID, entries []gateway.AuditEntry) (map[gateway.Actor]string, error) {
	var users []gateway.UserID
	var keys []gateway.KeyID
	for _, e := range entries {
		if id, ok := e.Actor.User(); ok {
			users = append(users, id)
		} else if id, ok := e.Actor.Key(); ok {
			keys = append(keys, id)
		}
	}
	names := map[gateway.Actor]string{gateway.ActorRowlock: "Rowlock", gateway.ActorProvider: "The provider"}
	if len(users)+len(keys) == 0 {
		return names, nil
	}
	batch := &pgx.Batch{}
	batch.Queue(`SELECT id, name FROM users WHERE id = ANY ($1)`, users).Query(nameInto[gateway.UserID](names))
	batch.Queue(`SELECT id, name FROM api_keys WHERE id = ANY ($1) AND account_id = $2`, keys, account).Query(nameInto[gateway.KeyID](names))
	return names, wrap("read who acted", s.pool.SendBatch(ctx, batch).Close())
}

func nameInto[I gateway.AnyID](names map[gateway.Actor]string) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var id I
		var name string
		_, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error {
			names[gateway.Actor(id.String())] = name
			return nil
		})
		return err
	}
}
