package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const missingFields = `event_id, delivery_id, key, type, reason, event_status, attempts, sendable`

func scanMissing(row pgx.CollectableRow) (m gateway.MissingRow, err error) {
	return m, row.Scan(&m.EventID, &m.DeliveryID, &m.Key, &m.Type, &m.Reason, &m.EventStatus, &m.Attempts, &m.Sendable)
}

// MissingRows lists what a reconciliation found missing, newest first; a reason
// narrows it.
func (s *Store) MissingRows(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, reason gateway.RowReason, page Page[gateway.EventID]) ([]gateway.MissingRow, error) {
	low, high := page.bounds()
	q := &query{args: []any{id, account}}
	q.put(`
		SELECT ` + missingFields + `
		FROM reconciliation_missing
		WHERE reconciliation_id = ` + theReconciliation)
	if reason != "" {
		q.add(` AND reason = `, string(reason))
	}
	addRange(q, `event_id`, low, high)
	q.add(` ORDER BY event_id DESC LIMIT `, page.Limit)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("list what is missing", err)
	}
	missing, err := pgx.CollectRows(rows, scanMissing)
	return missing, wrap("list what is missing", err)
}

// SendableRows lists the next after an event that is missing and can be sent
// again, up to limit, in the order of ids. Fewer than limit means that there are
// no more.
func (s *Store) SendableRows(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, after, bound gateway.EventID, limit int) ([]gateway.MissingRow, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+missingFields+`
		FROM reconciliation_missing
		WHERE reconciliation_id = `+theReconciliation+`
		  AND event_id > $3
		  AND event_id < $4
		  AND sendable
		ORDER BY event_id
		LIMIT $5`, id, account, after, bound, limit)
	if err != nil {
		return nil, wrap("list what can be sent", err)
	}
	missing, err := pgx.CollectRows(rows, scanMissing)
	return missing, wrap("list what can be sent", err)
}

// PartnerRows lists the rows of a partner's list with a result, in its order,
// after a number.
func (s *Store) PartnerRows(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, result gateway.RowResult, after, limit int) ([]gateway.PartnerRow, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT n, key, type, result, reason, event_id
		FROM reconciliation_rows
		WHERE reconciliation_id = `+theReconciliation+`
		  AND result IS NOT NULL
		  AND result = $3
		  AND n > $4
		ORDER BY n
		LIMIT $5`, id, account, string(result), after, limit)
	if err != nil {
		return nil, wrap("list rows", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r gateway.PartnerRow, err error) {
		return r, row.Scan(&r.N, &r.Key, &r.Type, &r.Result, &r.Reason, &r.EventID)
	})
	return all, wrap("list rows", err)
}

// FaultyRows lists the rows that could not be read, in their order, after a
// number. The first gateway.MaxKeptFaults are kept.
func (s *Store) FaultyRows(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, after, limit int) ([]gateway.FaultyRow, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT n, why
		FROM reconciliation_faults
		WHERE reconciliation_id = `+theReconciliation+`
		  AND n > $3
		ORDER BY n
		LIMIT $4`, id, account, after, limit)
	if err != nil {
		return nil, wrap("list faulty rows", err)
	}
	faulty, err := pgx.CollectRows(rows, pgx.RowToStructByPos[gateway.FaultyRow])
	return faulty, wrap("list faulty rows", err)
}

// MaxReasonsCounted is up to where what is missing is counted by its reason.
const MaxReasonsCounted = 100_000

// MissingReasons counts what is missing by its reason, each up to
// MaxReasonsCounted.
func (s *Store) MissingReasons(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID) (map[gateway.RowReason]int, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT u.reason, (
			SELECT count(*)
			FROM (
				SELECT
				FROM reconciliation_missing
				WHERE reconciliation_id = `+theReconciliation+`
				  AND reason = u.reason
				LIMIT $4
			) m
		)
		FROM unnest($3::text[]) AS u (reason)`, id, account, texts(gateway.MissingReasons), MaxReasonsCounted)
	if err != nil {
		return nil, wrap("count reasons", err)
	}
	counts := map[gateway.RowReason]int{}
	var reason gateway.RowReason
	var n int
	_, err = pgx.ForEachRow(rows, []any{&reason, &n}, func() error {
		if n > 0 {
			counts[reason] = n
		}
		return nil
	})
	return counts, wrap("count reasons", err)
}
