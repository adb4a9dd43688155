package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const factFields = `f.id, f.account_id, f.source_id, f.subject, f.state, f.rank, f.terminal, f.seen, f.event_id, f.created_at, f.updated_at`

func scanFact(row pgx.CollectableRow) (f gateway.Fact, err error) {
	err = row.Scan(&f.ID, &f.AccountID, &f.SourceID, &f.Subject, &f.State, &f.Rank, &f.Terminal, &f.Seen, &f.EventID, &f.CreatedAt, &f.UpdatedAt)
	return f, err
}

// Report is what an event says of a subject.
type Report struct {
	gateway.Report

	AccountID gateway.AccountID
	SourceID  gateway.SourceID
	Subject   string
	EventID   gateway.EventID
	// FactID is the id of the fact, if this is the first that is told of the
	// subject.
	FactID gateway.FactID
}

// sameSubject orders reports as their facts are locked.
func (r *Report) sameSubject(other *Report) int {
	return cmp.Or(
		compareIDs(r.AccountID, other.AccountID),
		compareIDs(r.SourceID, other.SourceID),
		bytes.Compare(subjectHash(r.Subject), subjectHash(other.Subject)),
	)
}

// Reported is what became of a report.
type Reported struct {
	// Status is EventProcessed for one that is new, else EventDuplicateFact or
	// EventStaleFact.
	Status gateway.EventStatus
	// Fact is the id of the fact, State its state and EventID the event that set
	// it, as they stood after the report.
	Fact gateway.Fact
}

// TellFacts tells reports, in the order in which they are given, and returns
// what became of each.
//
// The promise: what is told of a subject is told once. See tellRound, which is
// given one report of each subject at a time, since one statement cannot change
// a row twice. The first round locks the rows of all subjects in one order, so
// that transactions that share some never wait for each other in a circle.
func (t Tx) TellFacts(ctx context.Context, reports []Report) ([]Reported, error) {
	told := make([]Reported, len(reports))
	for _, round := range rounds(reports) {
		if err := t.tellRound(ctx, reports, round, told); err != nil {
			return nil, err
		}
	}
	return told, nil
}

// rounds divides reports, by their places, into rounds with one of each subject,
// sorted as facts are locked.
func rounds(reports []Report) (all [][]int) {
	type subject struct {
		source  gateway.SourceID
		subject string
	}
	n := map[subject]int{}
	for i := range reports {
		s := subject{reports[i].SourceID, reports[i].Subject}
		round := n[s]
		n[s]++
		if round == len(all) {
			all = append(all, nil)
		}
		all[round] = append(all[round], i)
	}
	for _, round := range all {
		slices.SortFunc(round, func(a, b int) int { return reports[a].sameSubject(&reports[b]) })
	}
	return all
}

// tellRound tells one report of each of several subjects.
//
// The promise: the first terminal word wins, a state is told once (unless its
// rule says that it repeats), and none is followed by one that comes before it.
// The row's own lock decides: a report that changes no row told nothing new.
func (t Tx) tellRound(ctx context.Context, reports []Report, round []int, told []Reported) error {
	var c reportColumns
	at := make(map[gateway.EventID]int, len(round))
	for _, i := range round {
		c.add(&reports[i])
		at[reports[i].EventID] = i
	}
	rows, err := t.tx.Query(ctx, `
		INSERT INTO facts AS f (id, account_id, source_id, subject_hash, subject, state, rank, terminal, seen, event_id)
		SELECT u.id, u.account_id, u.source_id, u.subject_hash, u.subject, u.state, u.rank, u.terminal, ARRAY[u.state], u.event_id
		FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bytea[], $5::text[], $6::text[], $7::integer[], $8::boolean[], $9::uuid[])
		     WITH ORDINALITY AS u (id, account_id, source_id, subject_hash, subject, state, rank, terminal, event_id, n)
		ORDER BY u.n
		ON CONFLICT (account_id, subject_hash, source_id) DO UPDATE
		SET state = EXCLUDED.state,
		    rank = EXCLUDED.rank,
		    terminal = EXCLUDED.terminal,
		    seen = CASE
		        WHEN f.seen @> EXCLUDED.seen THEN f.seen
		        ELSE (f.seen || EXCLUDED.seen)[greatest(1, cardinality(f.seen) + 2 - $11):]
		    END,
		    event_id = EXCLUDED.event_id,
		    updated_at = now()
		WHERE NOT f.terminal
		  AND (NOT f.seen @> EXCLUDED.seen OR EXCLUDED.source_id = ANY ($10))
		  AND (EXCLUDED.rank IS NULL OR f.rank IS NULL OR EXCLUDED.rank > f.rank
		       OR EXCLUDED.rank = f.rank AND EXCLUDED.source_id = ANY ($10))
		RETURNING `+factFields,
		c.ids, c.accounts, c.sources, c.hashes, c.subjects, c.states, c.ranks, c.terminal, c.events, c.repeating, gateway.MaxSeen)
	if err != nil {
		return wrap("tell facts", err)
	}
	facts, err := pgx.CollectRows(rows, scanFact)
	if err != nil {
		return wrap("tell facts", err)
	}
	for _, f := range facts {
		told[at[f.EventID]] = Reported{gateway.EventProcessed, f}
	}
	if len(facts) == len(round) {
		return nil
	}
	return t.labelRefused(ctx, reports, round, told)
}

// labelRefused says why reports changed nothing: they were told already, or they
// come too late. It is a statement of its own: within the snapshot of the first,
// a row that it waited for cannot be seen.
func (t Tx) labelRefused(ctx context.Context, reports []Report, round []int, told []Reported) error {
	var c reportColumns
	var at []int
	for _, i := range round {
		if told[i].Status == "" {
			c.add(&reports[i])
			at = append(at, i)
		}
	}
	rows, err := t.tx.Query(ctx, `
		SELECT u.n, f.seen @> ARRAY[u.state], f.id, f.subject, f.state, f.rank, f.terminal, f.event_id
		FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::text[]) WITH ORDINALITY AS u (account_id, source_id, subject_hash, state, n)
		JOIN facts f
		  ON f.account_id = u.account_id
		 AND f.subject_hash = u.subject_hash
		 AND f.source_id = u.source_id`, c.accounts, c.sources, c.hashes, c.states)
	if err != nil {
		return wrap("label refused reports", err)
	}
	var n int
	var seen bool
	var f gateway.Fact
	_, err = pgx.ForEachRow(rows, []any{&n, &seen, &f.ID, &f.Subject, &f.State, &f.Rank, &f.Terminal, &f.EventID}, func() error {
		status := gateway.EventStaleFact
		if seen {
			status = gateway.EventDuplicateFact
		}
		told[at[n-1]] = Reported{status, f}
		return nil
	})
	return wrap("label refused reports", err)
}

// reportColumns turns reports into the arrays that one statement takes.
type reportColumns struct {
	ids       []gateway.FactID
	accounts  []gateway.AccountID
	sources   []gateway.SourceID
	hashes    [][]byte
	subjects  []string
	states    []string
	ranks     []*int
	terminal  []bool
	events    []gateway.EventID
	repeating []gateway.SourceID
}

func (c *reportColumns) add(r *Report) {
	c.ids = append(c.ids, r.FactID)
	c.accounts = append(c.accounts, r.AccountID)
	c.sources = append(c.sources, r.SourceID)
	c.hashes = append(c.hashes, subjectHash(r.Subject))
	c.subjects = append(c.subjects, r.Subject)
	c.states = append(c.states, r.State)
	c.ranks = append(c.ranks, r.Rank)
	c.terminal = append(c.terminal, r.Terminal)
	c.events = append(c.events, r.EventID)
	if r.Repeats {
		c.repeating = append(c.repeating, r.SourceID)
	}
}

func subjectHash(subject string) []byte {
	sum := sha256.Sum256([]byte(subject))
	return sum[:]
}

// SubjectRef names a subject, and the event that asks for it.
type SubjectRef struct {
	AccountID gateway.AccountID
	EventID   gateway.EventID
	Subject   string
}

// KnownSubjects tells of which of the subjects anything is known: a fact of any
// source of the account, or another event of it that was decided. Events that
// this transaction decides do not count.
func (t Tx) KnownSubjects(ctx context.Context, asked []SubjectRef, deciding []gateway.EventID) ([]bool, error) {
	known := make([]bool, len(asked))
	if len(asked) == 0 {
		return known, nil
	}
	var accounts []gateway.AccountID
	var subjects []string
	var hashes [][]byte
	for _, a := range asked {
		accounts = append(accounts, a.AccountID)
		subjects = append(subjects, a.Subject)
		hashes = append(hashes, subjectHash(a.Subject))
	}
	// OFFSET has each subject looked up by itself: else all of an account's events
	// may be read, and hashed.
	rows, err := t.tx.Query(ctx, `
		SELECT u.n
		FROM unnest($1::uuid[], $2::text[], $3::bytea[]) WITH ORDINALITY AS u (account_id, subject, subject_hash, n)
		WHERE EXISTS (
			SELECT
			FROM facts f
			WHERE f.account_id = u.account_id
			  AND f.subject_hash = u.subject_hash)
		   OR EXISTS (
			SELECT
			FROM events e
			WHERE e.account_id = u.account_id
			  AND e.subject = u.subject
			  AND e.status = ANY ($4)
			  AND e.id <> ALL ($5)
			OFFSET 0)`, accounts, subjects, hashes, texts(toldStatuses), deciding)
	if err != nil {
		return nil, wrap("look for subjects", err)
	}
	var n int
	_, err = pgx.ForEachRow(rows, []any{&n}, func() error {
		known[n-1] = true
		return nil
	})
	return known, wrap("look for subjects", err)
}

// toldStatuses are those of events that make their subject known.
var toldStatuses = []gateway.EventStatus{
	gateway.EventProcessed, gateway.EventIgnored, gateway.EventDuplicateFact, gateway.EventStaleFact, gateway.EventNoEndpoints,
}

// FactFilter narrows a list of facts; the zero value narrows nothing.
type FactFilter struct {
	Source  *gateway.SourceID
	Subject string
	State   string
}

// Facts lists an account's facts, those of new subjects first.
func (s *Store) Facts(ctx context.Context, account gateway.AccountID, f FactFilter, page Page[gateway.FactID]) ([]gateway.Fact, error) {
	low, high := page.bounds()
	q := &query{}
	q.add(`SELECT `+factFields+`
		FROM facts f
		WHERE f.account_id = `, account)
	addRange(q, `f.id`, low, high)
	if f.Subject != "" {
		q.add(` AND f.subject_hash = `, subjectHash(f.Subject))
	}
	if f.Source != nil {
		q.add(` AND f.source_id = `, *f.Source)
	}
	if f.State != "" {
		q.add(` AND f.state = `, f.State)
	}
	q.add(` ORDER BY f.id DESC LIMIT `, page.Limit)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("list facts", err)
	}
	facts, err := pgx.CollectRows(rows, scanFact)
	return facts, wrap("list facts", err)
}

// Fact reads one fact.
func (s *Store) Fact(ctx context.Context, account gateway.AccountID, id gateway.FactID) (gateway.Fact, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+factFields+`
		FROM facts f
		WHERE f.id = $1
		  AND f.account_id = $2`, id, account)
	return oneFact(rows, err)
}

// FactOf reads what a source knows of a subject. gateway.ErrNotFound tells that
// it is nothing.
func (s *Store) FactOf(ctx context.Context, account gateway.AccountID, source gateway.SourceID, subject string) (gateway.Fact, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+factFields+`
		FROM facts f
		WHERE f.account_id = $1
		  AND f.subject_hash = $2
		  AND f.source_id = $3`, account, subjectHash(subject), source)
	return oneFact(rows, err)
}

func oneFact(rows pgx.Rows, err error) (gateway.Fact, error) {
	if err != nil {
		return gateway.Fact{}, wrap("read fact", err)
	}
	fact, err := pgx.CollectExactlyOneRow(rows, scanFact)
	return fact, wrap("read fact", err)
}
