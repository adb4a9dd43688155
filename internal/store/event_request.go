package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// siblingSpan is longer than it takes to give ids to the events of one request.
const siblingSpan = 10 * time.Second

// Siblings lists the events that came in one request, oldest first, the first
// limit of them. The request's id is older than theirs; of one that was accepted
// late, they come of the time when it was.
func (s *Store) Siblings(ctx context.Context, account gateway.AccountID, of gateway.Event, limit int) ([]gateway.Event, error) {
	if of.RequestID == nil {
		return nil, nil
	}
	low := gateway.FirstIDAt[gateway.EventID](of.ID.Time().Add(-siblingSpan))
	high := gateway.FirstIDAt[gateway.EventID](of.ID.Time().Add(siblingSpan))
	rows, err := s.pool.Query(ctx, `
		SELECT `+eventFields+`
		FROM events e
		WHERE e.account_id = $1
		  AND e.id >= $2
		  AND e.id < $3
		  AND e.request_id = $4
		ORDER BY e.id
		LIMIT $5`, account, low, high, *of.RequestID, limit)
	if err != nil {
		return nil, wrap("list the request's events", err)
	}
	events, err := pgx.CollectRows(rows, scanEvent)
	return events, wrap("list the request's events", err)
}

// WholeRequest reads the bytes of the request that an event came in with
// others. ErrPayloadGone tells that they are not there, or not any more.
func (s *Store) WholeRequest(ctx context.Context, account gateway.AccountID, id gateway.RequestID) (gateway.Body, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT method, path, query, headers, body
		FROM event_bodies
		WHERE id = $1
		  AND account_id = $2`, id, account)
	if err != nil {
		return gateway.Body{}, wrap("read whole request", err)
	}
	bodies, err := pgx.CollectRows(rows, pgx.RowToStructByPos[gateway.Body])
	if err == nil && len(bodies) == 0 {
		err = gateway.ErrPayloadGone
	}
	if err != nil {
		return gateway.Body{}, wrap("read whole request", err)
	}
	return bodies[0], nil
}
