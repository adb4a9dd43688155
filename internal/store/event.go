package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// EventFilter narrows a list of events; the zero value narrows nothing.
type EventFilter struct {
	Type    string
	Subject string
	// Key is the idempotency key's bytes; nil asks for any.
	Key    []byte
	Source *gateway.SourceID
	Status gateway.EventStatus
}

const eventFields = `e.id, e.account_id, e.source_id, e.type, e.received_type, e.subject, e.reported, e.fact_id, e.key, e.status, e.decision,
	e.decide_after, e.rule_failed, e.wait_until, e.occurred_at, e.secret_id, e.request_id, e.body_size, e.payload_deleted_at, e.span`

func scanEvent(row pgx.CollectableRow) (e gateway.Event, err error) {
	var span []byte
	err = row.Scan(&e.ID, &e.AccountID, &e.SourceID, &e.Type, &e.ReceivedType, &e.Subject, &e.State, &e.FactID, &e.Key, &e.Status, &e.Decision,
		&e.DecideAfter, &e.RuleFailed, &e.WaitUntil, &e.OccurredAt, &e.SecretID, &e.RequestID, &e.BodySize, &e.PayloadDeletedAt, &span)
	e.Span = gateway.SpanOf(span)
	return e, err
}

// Event reads one event. gateway.ErrExpired tells that its retention is over.
func (s *Store) Event(ctx context.Context, account gateway.AccountID, id gateway.EventID) (gateway.Event, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+eventFields+`
		FROM events e
		WHERE e.id = $1
		  AND e.account_id = $2`, id, account)
	if err != nil {
		return gateway.Event{}, wrap("read event", err)
	}
	event, err := pgx.CollectExactlyOneRow(rows, scanEvent)
	return event, s.missing(ctx, account, id.Time(), wrap("read event", err))
}

// Body reads an event's bytes. ErrPayloadGone tells that the event is there
// and its payload was deleted.
func (s *Store) Body(ctx context.Context, account gateway.AccountID, id gateway.EventID) (gateway.Body, error) {
	var b gateway.Body
	var deleted *time.Time
	var method *string
	err := s.pool.QueryRow(ctx, `
		SELECT e.payload_deleted_at, b.method, b.path, b.query, b.headers, b.body
		FROM events e
		LEFT JOIN event_bodies b
		  ON b.id = $1
		WHERE e.id = $1
		  AND e.account_id = $2`, id, account).Scan(&deleted, &method, &b.Path, &b.Query, &b.Headers, &b.Data)
	switch {
	case err != nil:
		return b, s.missing(ctx, account, id.Time(), wrap("read event body", err))
	case deleted != nil || method == nil:
		return b, wrap("read event body", gateway.ErrPayloadGone)
	}
	b.Method = *method
	return b, nil
}

// Events lists an account's events, newest first.
func (s *Store) Events(ctx context.Context, account gateway.AccountID, f EventFilter, page Page[gateway.EventID]) ([]gateway.Event, error) {
	q := eventsQuery(eventFields, account, f, page)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("list events", err)
	}
	events, err := pgx.CollectRows(rows, scanEvent)
	return events, wrap("list events", err)
}

func eventsQuery(fields string, account gateway.AccountID, f EventFilter, page Page[gateway.EventID]) *query {
	low, high := page.bounds()
	q := &query{}
	q.add(`SELECT `+fields+`
		FROM events e
		WHERE e.account_id = `, account)
	if f.Key == nil {
		addRange(q, `e.id`, low, high)
	} else {
		q.addKey(account, f.Key, low, high)
	}
	q.addEventFilter(f)
	q.add(` ORDER BY e.id DESC LIMIT `, page.Limit)
	return q
}

// addEventFilter adds what narrows events e by their own columns, but for the
// key.
func (q *query) addEventFilter(f EventFilter) {
	if f.Type != "" {
		q.add(` AND e.type = `, f.Type)
	}
	if f.Subject != "" {
		q.add(` AND e.subject = `, f.Subject)
	}
	if f.Source != nil {
		q.add(` AND e.source_id = `, *f.Source)
	}
	if f.Status != "" {
		q.add(` AND e.status = `, string(f.Status))
		q.put(statusLiteral(f.Status))
	}
}

// addKey finds events by the hash of a key, which has any length; each source
// may have accepted it once. The range narrows what is found, and not where
// events are looked for: these few are looked up by their ids.
func (q *query) addKey(account gateway.AccountID, key []byte, low, high gateway.EventID) {
	q.add(` AND e.id = ANY (ARRAY(
		SELECT k.event_id
		FROM event_keys k
		WHERE k.account_id = `, account)
	q.add(` AND k.key_hash = sha256(`, key)
	q.put(`)`)
	addRange(q, `k.event_id`, low, high)
	q.put(`))`)
}

// statusLiteral says as a literal that a status is not the common one, so that
// a generic plan can use the partial index of the others.
func statusLiteral(status gateway.EventStatus) string {
	if status == gateway.EventProcessed {
		return ``
	}
	return ` AND e.status <> 'processed'`
}

// DeliverySummary counts an event's deliveries by the status that is shown.
func (s *Store) DeliverySummary(ctx context.Context, account gateway.AccountID, id gateway.EventID) (map[gateway.DeliveryStatus]int, error) {
	low, high := sameMillisecond(id)
	rows, err := s.pool.Query(ctx, `
		SELECT `+shownStatus+`, count(*)
		FROM deliveries d
		JOIN endpoints p
		  ON p.id = d.endpoint_id
		WHERE d.event_id = $1
		  AND d.account_id = $2
		  AND d.id >= $3
		  AND d.id < $4
		GROUP BY 1`, id, account, low, high)
	if err != nil {
		return nil, wrap("count deliveries", err)
	}
	counts := map[gateway.DeliveryStatus]int{}
	var status gateway.DeliveryStatus
	var n int
	_, err = pgx.ForEachRow(rows, []any{&status, &n}, func() error {
		counts[status] = n
		return nil
	})
	return counts, wrap("count deliveries", err)
}

// sameMillisecond bounds the ids of an event's deliveries: they carry its time.
func sameMillisecond(id gateway.EventID) (low, high gateway.DeliveryID) {
	at := id.Time()
	return gateway.FirstIDAt[gateway.DeliveryID](at), gateway.FirstIDAt[gateway.DeliveryID](at.Add(time.Millisecond))
}

// sameMilliseconds is sameMillisecond for several events, and the bounds of all of
// them together.
func sameMilliseconds(events []gateway.EventID) (lows, highs []gateway.DeliveryID, low, high gateway.DeliveryID) {
	lows, highs = make([]gateway.DeliveryID, len(events)), make([]gateway.DeliveryID, len(events))
	for i, id := range events {
		lows[i], highs[i] = sameMillisecond(id)
	}
	low, _ = idRange(lows)
	_, high = idRange(highs)
	return lows, highs, low, high
}

// DeletePayload deletes an event's bytes and cancels what is still to be sent
// of them. It tells whether there was a payload.
//
// The promise: deleted once, and nothing of it goes out afterwards, but for a
// send that is under way. A request that brought it with others goes too, and so
// do the bodies of its repeats: they hold the same bytes. What stays are those of
// a later request in which its repeat stood behind another event's, or beside new
// events, and those of one that the replay guard stopped.
//
// Deliveries are locked in the order of their ids, as everybody does who changes
// several: none waits for another in a circle.
func (t Tx) DeletePayload(ctx context.Context, account gateway.AccountID, id gateway.EventID) (bool, error) {
	var request *gateway.RequestID
	err := t.tx.QueryRow(ctx, `
		UPDATE events
		SET payload_deleted_at = now()
		WHERE id = $1
		  AND account_id = $2
		  AND payload_deleted_at IS NULL
		RETURNING request_id`, id, account).Scan(&request)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, wrap("mark payload deleted", err)
	}
	low, high := sameMillisecond(id)
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM event_bodies WHERE id = $1 AND account_id = $2`, id, account)
	if request != nil {
		batch.Queue(`DELETE FROM event_bodies WHERE id = $1 AND account_id = $2`, *request, account)
		batch.Queue(`UPDATE requests SET body = '' WHERE id = $1 AND account_id = $2`, *request, account)
	}
	batch.Queue(`
		UPDATE requests
		SET body = ''
		WHERE event_id = $1
		  AND account_id = $2
		  AND cause = 'duplicate'
		  AND id >= $3
		  AND `+notAhead, id, account, firstRepeat(id))
	if err := t.tx.SendBatch(ctx, batch).Close(); err != nil {
		return false, wrap("delete payload", err)
	}
	rows, err := t.tx.Query(ctx, `
		WITH open AS (
			SELECT id
			FROM deliveries
			WHERE event_id = $1
			  AND account_id = $2
			  AND id >= $3
			  AND id < $4
			  AND status IN ('pending', 'sending')
			ORDER BY id
			FOR UPDATE
		)
		UPDATE deliveries d
		SET status = 'cancelled', closed_at = now(), next_attempt_at = NULL, waiting_on = NULL
		WHERE d.id = ANY (ARRAY(SELECT id FROM open))
		  AND d.id >= $3
		  AND d.id < $4
		  AND d.status IN ('pending', 'sending')
		RETURNING d.claim_id`, id, account, low, high)
	_, err = t.passTurnsOfClosed(ctx, rows, err)
	return true, wrap("cancel what is to be sent of the payload", err)
}
