package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// EndpointLabel is what an endpoint is called where something of it is shown.
type EndpointLabel struct {
	URL         string
	Description string
	State       gateway.EndpointState
	// Deleted tells that it is gone, and what it got is still shown.
	Deleted bool
}

// EndpointLabels reads what endpoints are called, those that were deleted
// included.
func (s *Store) EndpointLabels(ctx context.Context, account gateway.AccountID, ids []gateway.EndpointID) (map[gateway.EndpointID]EndpointLabel, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id, url, description, state, deleted_at IS NOT NULL
		FROM endpoints
		WHERE id = ANY ($1)
		  AND account_id = $2`, ids, account)
	if err != nil {
		return nil, wrap("read what endpoints are called", err)
	}
	labels := make(map[gateway.EndpointID]EndpointLabel, len(ids))
	var id gateway.EndpointID
	var l EndpointLabel
	_, err = pgx.ForEachRow(rows, []any{&id, &l.URL, &l.Description, &l.State, &l.Deleted}, func() error {
		labels[id] = l
		return nil
	})
	return labels, wrap("read what endpoints are called", err)
}

// SourceLabel is what a source is called where something of it is shown.
type SourceLabel struct {
	Name, Kind string
	// Deleted tells that it is gone, and what it brought is still shown.
	Deleted bool
}

// SourceLabels reads what sources are called, those that were deleted included.
func (s *Store) SourceLabels(ctx context.Context, account gateway.AccountID, ids []gateway.SourceID) (map[gateway.SourceID]SourceLabel, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id, name, kind, deleted_at IS NOT NULL
		FROM sources
		WHERE id = ANY ($1)
		  AND account_id = $2`, ids, account)
	if err != nil {
		return nil, wrap("read what sources are called", err)
	}
	labels := make(map[gateway.SourceID]SourceLabel, len(ids))
	var id gateway.SourceID
	var l SourceLabel
	_, err = pgx.ForEachRow(rows, []any{&id, &l.Name, &l.Kind, &l.Deleted}, func() error {
		labels[id] = l
		return nil
	})
	return labels, wrap("read what sources are called", err)
}

// eventTypes reads the types of events that are still there. They are those of
// rows that the account was found by: its index would be walked for them.
func (s *Store) eventTypes(ctx context.Context, ids []gateway.EventID) (map[gateway.EventID]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	low, high := idRange(ids)
	rows, err := s.pool.Query(ctx, `
		SELECT id, type
		FROM events
		WHERE id = ANY ($1)
		  AND id BETWEEN $2 AND $3`, ids, low, high)
	if err != nil {
		return nil, wrap("read the types of events", err)
	}
	types := make(map[gateway.EventID]string, len(ids))
	var id gateway.EventID
	var eventType string
	_, err = pgx.ForEachRow(rows, []any{&id, &eventType}, func() error {
		types[id] = eventType
		return nil
	})
	return types, wrap("read the types of events", err)
}
