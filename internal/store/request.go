package store

import (
	"context"
	"time"

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
			INSERT INTO requests (id, account_id, source_id, cause, detail, event_id, body_differs, skew_ms, header, answered, sender,
			                      method, path, query, headers, body, body_size)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
			r.ID, r.AccountID, r.SourceID, r.Cause, r.Detail, r.EventID, r.BodyDiffers, r.SkewMS, r.Header, r.Answered, r.Sender,
			r.Body.Method, notNil(r.Body.Path), notNil(r.Body.Query), notNil(r.Body.Headers), notNil(r.Body.Data), r.BodySize)
	}
	return wrap("insert requests", t.tx.SendBatch(ctx, batch).Close())
}

const requestFields = `id, account_id, source_id, cause, detail, event_id, body_differs, skew_ms, header, answered, sender, accepted_at, method, path, query, headers, body, body_size`

func scanRequest(row pgx.CollectableRow) (r gateway.Request, err error) {
	b := &r.Body
	err = row.Scan(&r.ID, &r.AccountID, &r.SourceID, &r.Cause, &r.Detail, &r.EventID, &r.BodyDiffers, &r.SkewMS,
		&r.Header, &r.Answered, &r.Sender, &r.AcceptedAt,
		&b.Method, &b.Path, &b.Query, &b.Headers, &b.Data, &r.BodySize)
	return r, err
}

// requestLine is requestFields without what is read of one request alone.
const requestLine = `id, account_id, source_id, cause, detail, event_id, body_differs, skew_ms, header, answered, sender, accepted_at, method, path, query, ''::bytea, ''::bytea, body_size`

// Requests lists a source's requests, newest first; an empty cause lists all.
func (s *Store) Requests(ctx context.Context, account gateway.AccountID, source gateway.SourceID, cause string, page Page[gateway.RequestID]) ([]gateway.Request, error) {
	return s.listRequests(ctx, requestFields, account, source, cause, page)
}

// RequestLines is Requests without headers and bodies, for who lists many.
func (s *Store) RequestLines(ctx context.Context, account gateway.AccountID, source gateway.SourceID, cause string, page Page[gateway.RequestID]) ([]gateway.Request, error) {
	return s.listRequests(ctx, requestLine, account, source, cause, page)
}

func (s *Store) listRequests(ctx context.Context, fields string, account gateway.AccountID, source gateway.SourceID, cause string, page Page[gateway.RequestID]) ([]gateway.Request, error) {
	low, high := page.bounds()
	q := &query{}
	q.add(`SELECT `+fields+`
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

// Request reads one request of a source.
func (s *Store) Request(ctx context.Context, account gateway.AccountID, source gateway.SourceID, id gateway.RequestID) (gateway.Request, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+requestFields+`
		FROM requests
		WHERE id = $1
		  AND source_id = $2
		  AND account_id = $3`, id, source, account)
	if err != nil {
		return gateway.Request{}, wrap("read request", err)
	}
	request, err := pgx.CollectExactlyOneRow(rows, scanRequest)
	return request, s.missing(ctx, account, id.Time(), wrap("read request", err))
}

// RequestSource tells to which source a request of the account came.
func (s *Store) RequestSource(ctx context.Context, account gateway.AccountID, id gateway.RequestID) (source gateway.SourceID, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT source_id
		FROM requests
		WHERE id = $1
		  AND account_id = $2`, id, account).Scan(&source)
	return source, s.missing(ctx, account, id.Time(), wrap("find request", err))
}

// EventRequests lists the newest requests that were duplicates of an event.
func (s *Store) EventRequests(ctx context.Context, account gateway.AccountID, event gateway.EventID, limit int) ([]gateway.Request, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+requestFields+`
		FROM requests
		WHERE event_id = $1
		  AND account_id = $2
		  AND cause = 'duplicate'
		  AND id >= $3
		  AND `+notAhead+`
		ORDER BY id DESC
		LIMIT $4`, event, account, firstRepeat(event), limit)
	if err != nil {
		return nil, wrap("list the event's requests", err)
	}
	requests, err := pgx.CollectRows(rows, scanRequest)
	return requests, wrap("list the event's requests", err)
}

// firstRepeat bounds the ids of an event's duplicates: they come after it, but
// for what clocks differ by.
func firstRepeat(of gateway.EventID) gateway.RequestID {
	return gateway.FirstIDAt[gateway.RequestID](of.Time().Add(-clockSlack))
}

// clockSlack is more than the clocks of two nodes ever differ by.
const clockSlack = time.Minute

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
