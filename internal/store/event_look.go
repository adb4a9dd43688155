package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/rowlock/rowlock/internal/gateway"
)

// EachArrived shows what came in with events: visit gets the headers and the
// body of each that has them still, which it must not keep. The caller bounds how
// many these are.
func (s *Store) EachArrived(ctx context.Context, account gateway.AccountID, ids []gateway.EventID, visit func(id gateway.EventID, headers, body []byte)) error {
	if len(ids) == 0 {
		return nil
	}
	low, high := idRange(ids)
	rows, err := s.pool.Query(ctx, `
		SELECT id, headers, body
		FROM event_bodies
		WHERE id = ANY ($1)
		  AND id BETWEEN $2 AND $3
		  AND account_id = $4`, ids, low, high, account)
	if err != nil {
		return wrap("look at bodies", err)
	}
	var id gateway.EventID
	var headers, body pgtype.DriverBytes // the connection's own, until the next row
	_, err = pgx.ForEachRow(rows, []any{&id, &headers, &body}, func() error {
		visit(id, headers, body)
		return nil
	})
	return wrap("look at bodies", err)
}

// EventTimes tells when the events of a list came in, newest first: as far as
// an index has them in order, that alone is read.
func (s *Store) EventTimes(ctx context.Context, account gateway.AccountID, f EventFilter, page Page[gateway.EventID]) ([]time.Time, error) {
	q := eventsQuery(`e.id`, account, f, page)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("list when events came in", err)
	}
	times, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (at time.Time, err error) {
		var id gateway.EventID
		err = row.Scan(&id)
		return id.Time(), err
	})
	return times, wrap("list when events came in", err)
}
