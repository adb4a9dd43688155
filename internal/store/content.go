package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Contents reads what filters look at, of those of the events that are the
// accounts'. It holds all of it in memory: the caller bounds how much that is.
func (t Tx) Contents(ctx context.Context, accounts []gateway.AccountID, ids []gateway.EventID) (map[gateway.EventID]gateway.Content, error) {
	return readContents(ctx, t.tx, accounts, ids)
}

// Contents reads what filters look at of an account's events.
func (s *Store) Contents(ctx context.Context, account gateway.AccountID, ids []gateway.EventID) (map[gateway.EventID]gateway.Content, error) {
	return readContents(ctx, s.pool, []gateway.AccountID{account}, ids)
}

func readContents(ctx context.Context, q querier, accounts []gateway.AccountID, ids []gateway.EventID) (map[gateway.EventID]gateway.Content, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	low, high := idRange(ids)
	rows, err := q.Query(ctx, `
		SELECT e.id, e.type, coalesce(e.subject, ''), s.id, s.uid, s.name, s.kind
		FROM events e
		JOIN sources s
		  ON s.id = e.source_id
		WHERE e.id = ANY ($1)
		  AND e.id BETWEEN $2 AND $3
		  AND e.account_id = ANY ($4)`, ids, low, high, accounts)
	if err != nil {
		return nil, wrap("read what events are about", err)
	}
	contents := make(map[gateway.EventID]gateway.Content, len(ids))
	var id gateway.EventID
	var c gateway.Content
	_, err = pgx.ForEachRow(rows, []any{&id, &c.Type, &c.Subject, &c.Source.ID, &c.Source.UID, &c.Source.Name, &c.Source.Kind}, func() error {
		contents[id] = c
		return nil
	})
	if err != nil {
		return nil, wrap("read what events are about", err)
	}
	return contents, addBodies(ctx, q, contents, ids)
}

// addBodies reads the bytes of events that were found.
func addBodies(ctx context.Context, q querier, contents map[gateway.EventID]gateway.Content, ids []gateway.EventID) error {
	low, high := idRange(ids)
	rows, err := q.Query(ctx, `
		SELECT id, method, path, query, headers, body
		FROM event_bodies
		WHERE id = ANY ($1)
		  AND id BETWEEN $2 AND $3`, ids, low, high)
	if err != nil {
		return wrap("read the bodies of events", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id gateway.EventID
		var b gateway.Body
		if err := rows.Scan(&id, &b.Method, &b.Path, &b.Query, &b.Headers, &b.Data); err != nil {
			return wrap("read the bodies of events", err)
		}
		if c, ok := contents[id]; ok {
			c.Body = b
			contents[id] = c
		}
	}
	return wrap("read the bodies of events", rows.Err())
}

// FilteredEndpoints reads an account's endpoints that have a filter and one of
// the patterns, or none: those that can be asked for an event and not want it.
func (s *Store) FilteredEndpoints(ctx context.Context, account gateway.AccountID, patterns []string, limit int) ([]gateway.Endpoint, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+endpointFields+`
		FROM endpoints
		WHERE account_id = $1
		  AND deleted_at IS NULL
		  AND filter <> ''
		  AND (event_types = '{}' OR event_types && $2)
		ORDER BY id
		LIMIT $3`, account, patterns, limit)
	if err != nil {
		return nil, wrap("list endpoints with a filter", err)
	}
	endpoints, err := pgx.CollectRows(rows, scanEndpoint)
	return endpoints, wrap("list endpoints with a filter", err)
}
