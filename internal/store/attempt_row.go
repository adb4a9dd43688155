package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// AttemptRow is an attempt as a line among others: without headers and bodies,
// with what its event and its endpoint are called.
type AttemptRow struct {
	gateway.Attempt

	// EventType is empty when the event is gone.
	EventType string
	Endpoint  EndpointLabel
}

// AttemptRows lists an account's attempts, those that started last first.
func (s *Store) AttemptRows(ctx context.Context, account gateway.AccountID, f AttemptFilter, before *AttemptCursor, limit int) ([]AttemptRow, error) {
	q := attemptsQuery(attemptLine, account, f, before)
	q.addAttemptPlace(f, before, limit)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("list attempts", err)
	}
	attempts, err := pgx.CollectRows(rows, scanAttemptLine)
	if err != nil {
		return nil, wrap("list attempts", err)
	}
	return s.labelled(ctx, account, attempts)
}

// labelled adds what events and endpoints are called: looked up by their ids,
// so that a page costs as much however many there are.
func (s *Store) labelled(ctx context.Context, account gateway.AccountID, attempts []gateway.Attempt) ([]AttemptRow, error) {
	events := make([]gateway.EventID, len(attempts))
	endpoints := make([]gateway.EndpointID, len(attempts))
	for i := range attempts {
		events[i], endpoints[i] = attempts[i].EventID, attempts[i].EndpointID
	}
	types, err := s.eventTypes(ctx, events)
	if err != nil {
		return nil, err
	}
	labels, err := s.EndpointLabels(ctx, account, endpoints)
	if err != nil {
		return nil, err
	}
	list := make([]AttemptRow, len(attempts))
	for i, a := range attempts {
		list[i] = AttemptRow{Attempt: a, EventType: types[a.EventID], Endpoint: labels[a.EndpointID]}
	}
	return list, nil
}

// EventAttempts reads the attempts of all deliveries of an event, in the order
// in which they started: at most limit of them, the newest. more tells that
// there are others before these.
func (s *Store) EventAttempts(ctx context.Context, account gateway.AccountID, event gateway.EventID, limit int) (attempts []gateway.Attempt, more bool, err error) {
	low, high := sameMillisecond(event)
	// OFFSET keeps the order and the account out: else they may be looked for
	// among all of the account's, in that order.
	rows, err := s.pool.Query(ctx, `
		SELECT *
		FROM (
			SELECT `+attemptFields+`
			FROM attempts
			WHERE event_id = $1
			  AND delivery_id >= $3
			  AND delivery_id < $4
			OFFSET 0
		) a
		WHERE account_id = $2
		ORDER BY started_at DESC, delivery_id DESC, n DESC
		LIMIT $5`, event, account, low, high, limit+1)
	if err != nil {
		return nil, false, wrap("list the event's attempts", err)
	}
	attempts, err = pgx.CollectRows(rows, scanAttempt)
	if len(attempts) > limit {
		attempts, more = attempts[:limit], true
	}
	slices.Reverse(attempts)
	return attempts, more, wrap("list the event's attempts", err)
}
