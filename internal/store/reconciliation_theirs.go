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
// these were not judged before.
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
		SET result = u.result, reason = u.reason, event_id = u.event_id
		FROM unnest($3::bigint[], $4::text[], $5::text[], $6::uuid[]) AS u (n, result, reason, event_id)
		WHERE r.reconciliation_id = `+theReconciliation+`
		  AND r.n = u.n
		  AND r.result IS NULL`, id, account, ns, results, reasons, events)
	return int(tag.RowsAffected()), wrap("judge rows", err)
}

// NamedEvent is an event that a row may mean.
type NamedEvent struct {
	ID   gateway.EventID
	Type string
}

// maxOfSubject is how many events of one subject are looked at, the newest.
const maxOfSubject = 20

// EventsNamed finds the account's events that these texts name, by the text.
// What came in after the reconciliation was made is left out.
func (s *Store) EventsNamed(ctx context.Context, account gateway.AccountID, r gateway.Reconciliation, texts []string) (map[string][]NamedEvent, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	switch r.MatchBy {
	case gateway.MatchByKey:
		return s.eventsOfKeys(ctx, account, texts)
	case gateway.MatchBySubject:
		return s.eventsOfSubjects(ctx, account, gateway.FirstIDAt[gateway.EventID](r.CreatedAt.Add(clockSlack)), texts)
	case gateway.MatchByEvent:
	}
	ids := map[gateway.EventID][]string{}
	for _, text := range texts {
		if id, err := gateway.ParseID[gateway.EventID](text); err == nil {
			ids[id] = append(ids[id], text)
		}
	}
	return s.eventsOfIDs(ctx, account, ids)
}

// eventsOfIDs reads events, by the texts that led to them.
func (s *Store) eventsOfIDs(ctx context.Context, account gateway.AccountID, ids map[gateway.EventID][]string) (map[string][]NamedEvent, error) {
	found := map[string][]NamedEvent{}
	if len(ids) == 0 {
		return found, nil
	}
	all := make([]gateway.EventID, 0, len(ids))
	for id := range ids {
		all = append(all, id)
	}
	low, high := idRange(all)
	rows, err := s.pool.Query(ctx, `
		SELECT id, type
		FROM events
		WHERE id = ANY ($1)
		  AND id BETWEEN $2 AND $3
		  AND account_id = $4`, all, low, high, account)
	if err != nil {
		return nil, wrap("look for events by id", err)
	}
	var e NamedEvent
	_, err = pgx.ForEachRow(rows, []any{&e.ID, &e.Type}, func() error {
		for _, text := range ids[e.ID] {
			found[text] = append(found[text], e)
		}
		return nil
	})
	return found, wrap("look for events by id", err)
}

// eventsOfKeys finds events by the hashes of their keys; each source may have
// accepted one.
func (s *Store) eventsOfKeys(ctx context.Context, account gateway.AccountID, keys []string) (map[string][]NamedEvent, error) {
	hashes := make([][]byte, len(keys))
	for i, key := range keys {
		sum := sha256.Sum256([]byte(key))
		hashes[i] = sum[:]
	}
	rows, err := s.pool.Query(ctx, `
		SELECT u.n, k.event_id
		FROM unnest($2::bytea[]) WITH ORDINALITY AS u (hash, n)
		JOIN event_keys k
		  ON k.account_id = $1
		 AND k.key_hash = u.hash`, account, hashes)
	if err != nil {
		return nil, wrap("look for events by key", err)
	}
	ids := map[gateway.EventID][]string{}
	var n int
	var id gateway.EventID
	_, err = pgx.ForEachRow(rows, []any{&n, &id}, func() error {
		ids[id] = append(ids[id], keys[n-1])
		return nil
	})
	if err != nil {
		return nil, wrap("look for events by key", err)
	}
	return s.eventsOfIDs(ctx, account, ids)
}

// eventsOfSubjects finds the newest events of subjects before an id.
func (s *Store) eventsOfSubjects(ctx context.Context, account gateway.AccountID, before gateway.EventID, subjects []string) (map[string][]NamedEvent, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT u.n, e.id, e.type
		FROM unnest($2::text[]) WITH ORDINALITY AS u (subject, n)
		CROSS JOIN LATERAL (
			SELECT id, type
			FROM events
			WHERE account_id = $1
			  AND subject = u.subject
			  AND id < $3
			ORDER BY id DESC
			LIMIT $4
		) e`, account, subjects, before, maxOfSubject)
	if err != nil {
		return nil, wrap("look for events by subject", err)
	}
	found := map[string][]NamedEvent{}
	var n int
	var e NamedEvent
	_, err = pgx.ForEachRow(rows, []any{&n, &e.ID, &e.Type}, func() error {
		found[subjects[n-1]] = append(found[subjects[n-1]], e)
		return nil
	})
	return found, wrap("look for events by subject", err)
}
