package store

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// AuditFilter narrows the audit log; what is zero narrows nothing.
type AuditFilter struct {
	Actor gateway.Actor
	// Area is the first word of actions, Action a whole one.
	Area, Action string
	// Object is the id of what was acted on.
	Object string
	// Refused are those that were refused, or those that were not; nil for all.
	Refused *bool
	// Changes leaves out what changes nothing that others see: refusals, log-ins,
	// exports, and a person's own views.
	Changes bool
}

// AuditLog lists what was done in an account, newest first.
func (s *Store) AuditLog(ctx context.Context, account gateway.AccountID, f AuditFilter, page Page[gateway.AuditID]) ([]gateway.AuditEntry, error) {
	q := &query{}
	q.put(auditSelect)
	q.add(` account_id = `, account)
	f.list(q, page)
	return s.audited(ctx, account, q.sql(), q.args...)
}

// InstanceAudit lists what was done to the instance and is of no account, newest
// first.
func (s *Store) InstanceAudit(ctx context.Context, f AuditFilter, page Page[gateway.AuditID]) ([]gateway.AuditEntry, error) {
	q := &query{}
	q.put(auditSelect)
	q.put(` account_id IS NULL`)
	f.list(q, page)
	return s.audited(ctx, gateway.AccountID{}, q.sql(), q.args...)
}

const auditSelect = `
		SELECT ` + auditFields + `
		FROM audit_log
		WHERE`

// list narrows, orders and bounds a list.
func (f AuditFilter) list(q *query, page Page[gateway.AuditID]) {
	f.narrow(q)
	low, high := page.bounds()
	addRange(q, "id", low, high)
	q.add(`
		ORDER BY id DESC
		LIMIT `, page.Limit)
}

// narrow names the columns as the indexes do.
func (f AuditFilter) narrow(q *query) {
	if f.Actor != "" {
		q.add(` AND actor = `, string(f.Actor))
	}
	if area := cmp.Or(f.Area, gateway.AreaOf(f.Action)); area != "" {
		q.add(` AND split_part(action, '.', 1) = `, area)
	}
	if f.Action != "" {
		q.add(` AND action = `, f.Action)
	}
	if f.Object != "" {
		q.add(` AND object = `, f.Object)
	}
	if f.Changes { // as the index audit_log_changes_idx has it
		q.put(` AND NOT refused AND split_part(action, '.', 1) NOT IN ('export', 'login', 'view')`)
	}
	switch {
	case f.Refused == nil:
	case *f.Refused:
		q.put(` AND refused`)
	default:
		q.put(` AND NOT refused`)
	}
}

// AuditOf lists what was done to objects, by their ids, newest first.
func (s *Store) AuditOf(ctx context.Context, account gateway.AccountID, objects []string, limit int) ([]gateway.AuditEntry, error) {
	return s.audited(ctx, account, `
		SELECT `+auditFields+`
		FROM audit_log
		WHERE account_id = @account
		  AND object = ANY (@objects)
		  AND NOT refused
		ORDER BY id DESC
		LIMIT @limit`,
		pgx.NamedArgs{"account": account, "objects": objects, "limit": limit})
}

const auditFields = `id, actor, action, object, detail, refused, address, agent, created_at`

// audited reads entries and adds the names of those who acted.
func (s *Store) audited(ctx context.Context, account gateway.AccountID, sql string, args ...any) ([]gateway.AuditEntry, error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, wrap("read audit log", err)
	}
	entries, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e gateway.AuditEntry, err error) {
		return e, row.Scan(&e.ID, &e.Actor, &e.Action, &e.Object, &e.Detail, &e.Refused, &e.Address, &e.Agent, &e.CreatedAt)
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
