package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// InsertRequests keeps requests that did not become events.
func (t Tx) InsertRequests(ctx context.Context, requests []gateway.Request) error {
	if len(requests) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	for i := range requests {
		r := &requests[i]
		batch.Queue(`
			INSERT INTO requests (id, account_id, source_id, cause, detail, event_id, body_differs, skew_ms,
			                      method, path, query, headers, body, body_size)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
			r.ID, r.AccountID, r.SourceID, r.Cause, r.Detail, r.EventID, r.BodyDiffers, r.SkewMS,
			r.Body.Method, notNil(r.Body.Path), notNil(r.Body.Query), notNil(r.Body.Headers), notNil(r.Body.Data), r.BodySize)
	}
	return wrap("insert requests", t.tx.SendBatch(ctx, batch).Close())
}

const requestFields = `id, account_id, source_id, cause, detail, event_id, body_differs, skew_ms, method, path, query, headers, body, body_size`

func scanRequest(row pgx.CollectableRow) (r gateway.Request, err error) {
	b := &r.Body
	err = row.Scan(&r.ID, &r.AccountID, &r.SourceID, &r.Cause, &r.Detail, &r.EventID, &r.BodyDiffers, &r.SkewMS,
		&b.Method, &b.Path, &b.Query, &b.Headers, &b.Data, &r.BodySize)
	return r, err
}

// Requests lists a source's requests, newest first; an empty cause lists all.
func (s *Store) Requests(ctx context.Context, account gateway.AccountID, source gateway.SourceID, cause string, page Page[gateway.RequestID]) ([]gateway.Request, error) {
	low, high := page.bounds()
	q := &query{}
	q.add(`SELECT `+requestFields+`
		FROM requests
		WHERE source_id = `, source)
	q.add(` AND account_id = `, account)
	addRange(q, `id`, low, high)
	if cause != "" {
		q.add(` AND cause = `, cause)
	}
	q.add(` ORDER BY id DESC LIMIT `, page.Limit)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("list requests", err)
	}
	requests, err := pgx.CollectRows(rows, scanRequest)
	return requests, wrap("list requests", err)
}

// TrimRequests deletes all but the newest keep requests of each source, at most
// limit rows a call, and returns how many went.
func (s *Store) TrimRequests(ctx context.Context, keep, limit int) (int64, error) {
	tag, err := s.pool.Exec(ctx, `
		WITH surplus AS (
			SELECT r.id
			FROM sources s
			CROSS JOIN LATERAL (
				SELECT id
				FROM requests
				WHERE source_id = s.id
				ORDER BY id DESC
				OFFSET $1
			) r
			LIMIT $2
		)
		DELETE FROM requests
		WHERE id = ANY (ARRAY(SELECT id FROM surplus))
		  AND id >= (SELECT id FROM surplus ORDER BY id LIMIT 1)
		  AND id <= (SELECT id FROM surplus ORDER BY id DESC LIMIT 1)`, keep, limit)
	return tag.RowsAffected(), wrap("trim requests", err)
}
