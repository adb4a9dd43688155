package store

import (
	"context"
	"crypto/sha256"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// storable is a key of ours as a text of the database: what cannot be one shows
// as what stands for it.
func storable(key string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(key, "\uFFFD"), "\x00", "\uFFFD")
}

// OpenRow is a row of the partner's that none of our events matched.
type OpenRow struct {
	N         int
	Key, Type string
	// Repeated tells that the same stands further up in the list.
	Repeated bool
}

// OpenRows reads the rows up to a number, behind the cursor, that nothing matched.
func (s *Store) OpenRows(ctx context.Context, account gateway.AccountID, run ReconciliationRun, upTo int) ([]OpenRow, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT r.n, r.key, r.type, EXISTS (
			SELECT
			FROM reconciliation_rows b
			WHERE b.reconciliation_id = r.reconciliation_id
			  AND b.hash = r.hash
			  AND b.n < r.n
		)
		FROM reconciliation_rows r
		WHERE r.reconciliation_id = `+theReconciliation+`
		  AND r.n > $3
		  AND r.n <= $4
		  AND r.result IS NULL
		ORDER BY r.n`, run.ID, account, run.RowCursor, upTo)
	if err != nil {
		return nil, wrap("read rows to judge", err)
	}
	open, err := pgx.CollectRows(rows, pgx.RowToStructByPos[OpenRow])
	return open, wrap("read rows to judge", err)
}

// JudgeRows notes what the comparison found of rows, and returns how many of
// these were not judged before. They are found and written as MatchRows does.
//
// The promise: a row is judged once.
func (t Tx) JudgeRows(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID, judged []gateway.PartnerRow) (int, error) {
	ns, results, reasons, events := []int{}, []string{}, []string{}, []*gateway.EventID{}
	for _, row := range judged {
		ns, events = append(ns, row.N), append(events, row.EventID)
		results, reasons = append(results, string(row.Result)), append(reasons, string(row.Reason))
	}
	tag, err := t.tx.Exec(ctx, `
		UPDATE reconciliation_rows r
		SET result = f.result, reason = f.reason, event_id = f.event_id
		FROM (
			SELECT u.result, u.reason, u.event_id, l.place
			FROM unnest($3::bigint[], $4::text[], $5::text[], $6::uuid[]) AS u (n, result, reason, event_id)
			CROSS JOIN LATERAL (
				SELECT ctid AS place
				FROM reconciliation_rows
				WHERE reconciliation_id = `+theReconciliation+`
				  AND n = u.n
				LIMIT 1
			) l
		) f
		WHERE r.ctid = f.place
		  AND r.result IS NULL`, id, account, ns, results, reasons, events)
	return int(tag.RowsAffected()), wrap("judge rows", err)
}

// NamedEvent is an event that a row may mean.
type NamedEvent struct {
	ID   gateway.EventID
	Type string
}

const (
	// maxOfSubject is how many events of one subject are looked at, the newest.
	maxOfSubject = 20
	// lookedForType is how many of a subject are gone through for those of a type.
	lookedForType = 1000
)

// EventsNamed finds the account's events that these rows name, by the rows'
// numbers. What came in after the reconciliation was made is left out.
func (s *Store) EventsNamed(ctx context.Context, account gateway.AccountID, r gateway.Reconciliation, rows []OpenRow) (map[int][]NamedEvent, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	switch r.MatchBy {
	case gateway.MatchByKey:
		return s.eventsOfKeys(ctx, account, rows)
	case gateway.MatchBySubject:
		return s.eventsOfSubjects(ctx, account, r, rows)
	case gateway.MatchByEvent:
	}
	ids := map[gateway.EventID][]int{}
	for _, row := range rows {
		if id, err := gateway.ParseID[gateway.EventID](row.Key); err == nil {
			ids[id] = append(ids[id], row.N)
		}
	}
	return s.eventsOfIDs(ctx, account, ids)
}

// eventsOfIDs reads events, by the rows that led to them. The account is compared
// where they are read, so that each is looked up in the primary key.
func (s *Store) eventsOfIDs(ctx context.Context, account gateway.AccountID, ids map[gateway.EventID][]int) (map[int][]NamedEvent, error) {
	found := map[int][]NamedEvent{}
	if len(ids) == 0 {
		return found, nil
	}
	all := make([]gateway.EventID, 0, len(ids))
	for id := range ids {
		all = append(all, id)
	}
	low, high := idRange(all)
	rows, err := s.pool.Query(ctx, `
		SELECT id, account_id, type
		FROM events
		WHERE id = ANY ($1)
		  AND id BETWEEN $2 AND $3`, all, low, high)
	if err != nil {
		return nil, wrap("look for events by id", err)
	}
	var e NamedEvent
	var owner gateway.AccountID
	_, err = pgx.ForEachRow(rows, []any{&e.ID, &owner, &e.Type}, func() error {
		if owner != account {
			return nil
		}
		for _, n := range ids[e.ID] {
			found[n] = append(found[n], e)
		}
		return nil
	})
	return found, wrap("look for events by id", err)
}

// eventsOfKeys finds events by the hashes of their keys; each source may have
// accepted one.
func (s *Store) eventsOfKeys(ctx context.Context, account gateway.AccountID, named []OpenRow) (map[int][]NamedEvent, error) {
	numbers, hashes := make([]int, len(named)), make([][]byte, len(named))
	for i, row := range named {
		sum := sha256.Sum256([]byte(row.Key))
		numbers[i], hashes[i] = row.N, sum[:]
	}
	rows, err := s.pool.Query(ctx, `
		SELECT u.n, k.event_id
		FROM unnest($2::bigint[], $3::bytea[]) AS u (n, hash)
		JOIN event_keys k
		  ON k.account_id = $1
		 AND k.key_hash = u.hash`, account, numbers, hashes)
	if err != nil {
		return nil, wrap("look for events by key", err)
	}
	ids := map[gateway.EventID][]int{}
	var n int
	var id gateway.EventID
	_, err = pgx.ForEachRow(rows, []any{&n, &id}, func() error {
		ids[id] = append(ids[id], n)
		return nil
	})
	if err != nil {
		return nil, wrap("look for events by key", err)
	}
	return s.eventsOfIDs(ctx, account, ids)
}

// eventsOfSubjects finds the newest events of subjects. Where types are compared,
// those of the row's type come first: a subject of which much is told has newer
// ones of others.
func (s *Store) eventsOfSubjects(ctx context.Context, account gateway.AccountID, r gateway.Reconciliation, named []OpenRow) (map[int][]NamedEvent, error) {
	numbers, subjects, types := make([]int, len(named)), make([]string, len(named)), make([]string, len(named))
	for i, row := range named {
		numbers[i], subjects[i], types[i] = row.N, row.Key, row.Type
	}
	ofType := 0
	if r.WithType {
		ofType = lookedForType
	}
	rows, err := s.pool.Query(ctx, `
		SELECT u.n, e.id, e.type
		FROM unnest($2::bigint[], $3::text[], $4::text[]) AS u (n, subject, type)
		CROSS JOIN LATERAL (
			(SELECT id, type
			FROM (
				SELECT id, type
				FROM events
				WHERE account_id = $1
				  AND subject = u.subject
				  AND id < $5
				ORDER BY id DESC
				LIMIT $6
			) newest
			WHERE type = u.type
			LIMIT $7)
			UNION ALL
			(SELECT id, type
			FROM events
			WHERE account_id = $1
			  AND subject = u.subject
			  AND id < $5
			ORDER BY id DESC
			LIMIT $7)
		) e`, account, numbers, subjects, types, gateway.FirstIDAt[gateway.EventID](r.CreatedAt.Add(clockSlack)), ofType, maxOfSubject)
	if err != nil {
		return nil, wrap("look for events by subject", err)
	}
	found := map[int][]NamedEvent{}
	var n int
	var e NamedEvent
	_, err = pgx.ForEachRow(rows, []any{&n, &e.ID, &e.Type}, func() error {
		found[n] = append(found[n], e)
		return nil
	})
	return found, wrap("look for events by subject", err)
}
