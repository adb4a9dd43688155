package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// A comparison goes over our events in the order of ids, and then over the
// partner's rows in theirs, a bounded number at a time. What it looks up, it
// looks up for all of them at once.

// ComparedEvent is one of our events, as it is compared.
type ComparedEvent struct {
	ID     gateway.EventID
	Type   string
	Status gateway.EventStatus
	// Named is by what the partner can list it; nil for nothing.
	Named *string
	// PayloadGone tells that it cannot be sent any more.
	PayloadGone bool
}

// EventsToCompare reads the next events after an id, up to limit, in the order of
// ids. Fewer than limit means that there are no more.
func (s *Store) EventsToCompare(ctx context.Context, account gateway.AccountID, run ReconciliationRun, limit int) ([]ComparedEvent, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id, type, status, subject, key, payload_deleted_at IS NOT NULL
		FROM events
		WHERE account_id = $1
		  AND id > $2
		  AND id < $3
		ORDER BY id
		LIMIT $4`, account, run.Cursor, gateway.FirstIDAt[gateway.EventID](run.Until), limit)
	if err != nil {
		return nil, wrap("read events to compare", err)
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e ComparedEvent, err error) {
		var subject *string
		var key []byte
		err = row.Scan(&e.ID, &e.Type, &e.Status, &subject, &key, &e.PayloadGone)
		e.Named = named(run.MatchBy, e.ID, subject, key)
		return e, err
	})
	return events, wrap("read events to compare", err)
}

// named is by what a partner can list an event.
func named(by gateway.MatchBy, id gateway.EventID, subject *string, key []byte) *string {
	switch by {
	case gateway.MatchByKey:
		if key == nil {
			return nil
		}
		text := string(key)
		return &text
	case gateway.MatchBySubject:
		return subject
	case gateway.MatchByEvent:
	}
	text := id.String()
	return &text
}

// DeliveryNow is how a delivery stands.
type DeliveryNow struct {
	// Status is as it is shown.
	Status   gateway.DeliveryStatus
	Attempts int
	// Confirmed tells that its fact was, and is not sent again by itself.
	Confirmed bool
	// FailedOver tells that it failed, and the next of the chain has got it.
	FailedOver bool
}

// DeliveriesNow reads how those of the deliveries stand that were ever made. The
// account is compared where they are read, so that each is looked up in the
// primary key.
func (s *Store) DeliveriesNow(ctx context.Context, account gateway.AccountID, ids []gateway.DeliveryID) (map[gateway.DeliveryID]DeliveryNow, error) {
	now := make(map[gateway.DeliveryID]DeliveryNow, len(ids))
	if len(ids) == 0 {
		return now, nil
	}
	low, high := idRange(ids)
	rows, err := s.pool.Query(ctx, `
		SELECT d.id, d.account_id, `+shownStatus+`, d.attempts,
		       EXISTS (SELECT FROM claims c WHERE c.id = d.claim_id AND c.state = 'done'),
		       d.status = 'failed' AND d.failover_to IS NOT NULL
		FROM deliveries d
		JOIN endpoints p
		  ON p.id = d.endpoint_id
		WHERE d.id = ANY ($1)
		  AND d.id BETWEEN $2 AND $3`, ids, low, high)
	if err != nil {
		return nil, wrap("look for deliveries to compare", err)
	}
	var id gateway.DeliveryID
	var owner gateway.AccountID
	var d DeliveryNow
	_, err = pgx.ForEachRow(rows, []any{&id, &owner, &d.Status, &d.Attempts, &d.Confirmed, &d.FailedOver}, func() error {
		if owner == account {
			now[id] = d
		}
		return nil
	})
	return now, wrap("look for deliveries to compare", err)
}

// Listed tells which of these the partner lists.
func (s *Store) Listed(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, hashes []gateway.RowHash) (map[gateway.RowHash]bool, error) {
	listed := make(map[gateway.RowHash]bool, len(hashes))
	rows, err := s.pool.Query(ctx, `
		SELECT u.hash
		FROM unnest($3::bytea[]) AS u (hash)
		WHERE EXISTS (
			SELECT
			FROM reconciliation_rows r
			WHERE r.reconciliation_id = `+theReconciliation+`
			  AND r.hash = u.hash
		)`, id, account, hashBytes(hashes))
	if err != nil {
		return nil, wrap("look for rows", err)
	}
	var hash []byte
	_, err = pgx.ForEachRow(rows, []any{&hash}, func() error {
		listed[gateway.RowHash(hash)] = true
		return nil
	})
	return listed, wrap("look for rows", err)
}

func hashBytes(hashes []gateway.RowHash) [][]byte {
	all := make([][]byte, len(hashes))
	for i := range hashes {
		all[i] = hashes[i][:]
	}
	return all
}

// Match is an event that a row lists.
type Match struct {
	EventID gateway.EventID
	// Reason is what there is to say of it; often empty.
	Reason gateway.RowReason
}

// MatchRows notes for each event the first row that lists it, and returns how
// many rows are matched by that: one that another event has keeps that, unless it
// was never confirmed and this one was. Rows are found one by one and written by
// where they lie: lists come in at once, and a planner that has not seen this one
// yet would read all of it each time.
//
// The promise: a row is judged and counted once.
func (t Tx) MatchRows(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, matches map[gateway.RowHash]Match) (int, error) {
	hashes, events, reasons := make([][]byte, 0, len(matches)), make([]gateway.EventID, 0, len(matches)), make([]string, 0, len(matches))
	for hash, m := range matches {
		hashes, events, reasons = append(hashes, hash[:]), append(events, m.EventID), append(reasons, string(m.Reason))
	}
	matched := 0
	err := t.tx.QueryRow(ctx, `
		WITH noted AS (
			UPDATE reconciliation_rows r
			SET result = 'matched', reason = f.reason, event_id = f.event_id
			FROM (
				SELECT u.event_id, u.reason, l.place, l.result IS NULL AS first
				FROM unnest($3::bytea[], $4::uuid[], $5::text[]) AS u (hash, event_id, reason)
				CROSS JOIN LATERAL (
					SELECT ctid AS place, result
					FROM reconciliation_rows
					WHERE reconciliation_id = `+theReconciliation+`
					  AND hash = u.hash
					ORDER BY hash, n
					LIMIT 1
				) l
			) f
			WHERE r.ctid = f.place
			  AND (r.result IS NULL OR r.reason = 'unconfirmed' AND f.reason = '')
			RETURNING f.first
		)
		SELECT count(*) FILTER (WHERE first)
		FROM noted`, id, account, hashes, events, reasons).Scan(&matched)
	return matched, wrap("note matches", err)
}

// AddMissing notes what the partner does not list.
//
// The promise: an event is missing once.
func (t Tx) AddMissing(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, missing []gateway.MissingRow) error {
	if len(missing) == 0 {
		return nil
	}
	rows := newColumns(len(missing))
	for _, m := range missing {
		rows.add(m)
	}
	_, err := t.tx.Exec(ctx, `
		INSERT INTO reconciliation_missing (reconciliation_id, event_id, delivery_id, key, type, reason, event_status, attempts, sendable)
		SELECT `+theReconciliation+`, u.*
		FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::integer[], $10::boolean[]) AS u
		ON CONFLICT (reconciliation_id, event_id) DO NOTHING`,
		id, account, rows.events, rows.deliveries, rows.keys, rows.types, rows.reasons, rows.statuses, rows.attempts, rows.sendable)
	return wrap("note what is missing", err)
}

// columns are missing rows as the database takes many.
type columns struct {
	events                         []gateway.EventID
	deliveries                     []gateway.DeliveryID
	keys, types, reasons, statuses []string
	attempts                       []int
	sendable                       []bool
}

func newColumns(n int) *columns {
	return &columns{events: make([]gateway.EventID, 0, n), deliveries: make([]gateway.DeliveryID, 0, n)}
}

func (c *columns) add(m gateway.MissingRow) {
	c.events, c.deliveries = append(c.events, m.EventID), append(c.deliveries, m.DeliveryID)
	c.keys, c.types = append(c.keys, storable(m.Key)), append(c.types, m.Type)
	c.reasons, c.statuses = append(c.reasons, string(m.Reason)), append(c.statuses, string(m.EventStatus))
	c.attempts, c.sendable = append(c.attempts, m.Attempts), append(c.sendable, m.Sendable)
}
