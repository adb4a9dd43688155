package store

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// EventKey asks whether an event was accepted before, and remembers it if not.
type EventKey struct {
	AccountID gateway.AccountID
	SourceID  gateway.SourceID
	// KeyHash is SHA-256 of the key's bytes.
	KeyHash [32]byte
	// EventID is the id that the event will have if it is the first.
	EventID gateway.EventID
	// BodyHash is SHA-256 of what the event says.
	BodyHash [32]byte
}

// CompareKeys is the order in which every transaction claims keys.
func CompareKeys(a, b EventKey) int {
	return cmp.Or(
		bytes.Compare(a.AccountID[:], b.AccountID[:]),
		bytes.Compare(a.KeyHash[:], b.KeyHash[:]),
		bytes.Compare(a.SourceID[:], b.SourceID[:]),
		bytes.Compare(a.EventID[:], b.EventID[:]),
	)
}

// FirstEvent is what was accepted under a key that has come again.
type FirstEvent struct {
	EventID  gateway.EventID
	BodyHash [32]byte
}

// ClaimKeys remembers the keys that are new and returns, for each of the
// others, the event that came first; the result is as long as keys, with nil
// for a key that was new. Keys must be sorted with CompareKeys.
//
// The promise: an event with a key is accepted once per account and source. A
// request won only if its own event id came back; two requests of one batch
// with one key have one winner. Sorted keys keep batches that share keys from
// waiting for each other in a circle.
func (t Tx) ClaimKeys(ctx context.Context, keys []EventKey) ([]*FirstEvent, error) {
	firsts := make([]*FirstEvent, len(keys))
	if len(keys) == 0 {
		return firsts, nil
	}
	accounts, sources, hashes, events, bodies := keyColumns(keys)
	rows, err := t.tx.Query(ctx, `
		INSERT INTO event_keys (account_id, source_id, key_hash, event_id, body_hash)
		SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::uuid[], $5::bytea[])
		ON CONFLICT DO NOTHING
		RETURNING event_id`, accounts, sources, hashes, events, bodies)
	if err != nil {
		return nil, wrap("claim event keys", err)
	}
	won, err := pgx.CollectRows(rows, pgx.RowTo[gateway.EventID])
	if err != nil {
		return nil, wrap("claim event keys", err)
	}
	if len(won) == len(keys) {
		return firsts, nil
	}
	return firsts, t.findFirsts(ctx, keys, won, firsts)
}

// findFirsts looks up the events of the keys that lost. It is a statement of
// its own: within the insert's snapshot, rows that the insert itself or a
// transaction it waited for has just written cannot be seen.
func (t Tx) findFirsts(ctx context.Context, keys []EventKey, won []gateway.EventID, firsts []*FirstEvent) error {
	isWon := make(map[gateway.EventID]bool, len(won))
	for _, id := range won {
		isWon[id] = true
	}
	var lost []EventKey
	var at []int
	for i, k := range keys {
		if !isWon[k.EventID] {
			lost, at = append(lost, k), append(at, i)
		}
	}
	accounts, sources, hashes, _, _ := keyColumns(lost)
	rows, err := t.tx.Query(ctx, `
		SELECT u.n, k.event_id, k.body_hash
		FROM unnest($1::uuid[], $2::uuid[], $3::bytea[]) WITH ORDINALITY AS u (account_id, source_id, key_hash, n)
		JOIN event_keys k
		  ON k.account_id = u.account_id
		 AND k.source_id = u.source_id
		 AND k.key_hash = u.key_hash`, accounts, sources, hashes)
	if err != nil {
		return wrap("find first events", err)
	}
	var n int
	var event gateway.EventID
	var body []byte
	_, err = pgx.ForEachRow(rows, []any{&n, &event, &body}, func() error {
		firsts[at[n-1]] = &FirstEvent{EventID: event, BodyHash: [32]byte(body)}
		return nil
	})
	return wrap("find first events", err)
}

// IsKeyKnown tells whether something was accepted under a key.
func (s *Store) IsKeyKnown(ctx context.Context, account gateway.AccountID, source gateway.SourceID, hash [32]byte) (known bool, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT
			FROM event_keys
			WHERE account_id = $1
			  AND source_id = $2
			  AND key_hash = $3)`, account, source, hash[:]).Scan(&known)
	return known, wrap("look for an event key", err)
}

func keyColumns(keys []EventKey) (accounts []gateway.AccountID, sources []gateway.SourceID, hashes [][]byte, events []gateway.EventID, bodies [][]byte) {
	for i := range keys {
		k := &keys[i]
		accounts = append(accounts, k.AccountID)
		sources = append(sources, k.SourceID)
		hashes = append(hashes, k.KeyHash[:])
		events = append(events, k.EventID)
		bodies = append(bodies, k.BodyHash[:])
	}
	return accounts, sources, hashes, events, bodies
}

// NewEvent is an event and its bytes, to be stored.
type NewEvent struct {
	Event gateway.Event
	Body  gateway.Body
}

// InsertEvents stores events and bodies. They are accepted, and due to be
// decided now.
func (t Tx) InsertEvents(ctx context.Context, events []NewEvent) error {
	if len(events) == 0 {
		return nil
	}
	var c eventColumns
	for i := range events {
		c.add(&events[i])
	}
	batch := &pgx.Batch{}
	c.queueEvents(batch)
	batch.Queue(`
		INSERT INTO event_bodies (id, account_id, method, path, query, headers, body)
		SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[])`,
		c.ids, c.accounts, c.methods, c.paths, c.queries, c.headers, c.bodies)
	return wrap("insert events", t.tx.SendBatch(ctx, batch).Close())
}

const (
	insertEvents = `
		INSERT INTO events (id, account_id, source_id, type, subject, key, occurred_at, secret_id, request_id, body_size, status, decision, rule_failed, decide_after)
		SELECT *, now()
		FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::bytea[],
		            $7::timestamptz[], $8::uuid[], $9::uuid[], $10::int[], $11::text[], $12::text[], $13::boolean[])`
	insertTracedEvents = `
		INSERT INTO events (id, account_id, source_id, type, subject, key, occurred_at, secret_id, request_id, body_size, status, decision, rule_failed, span, decide_after)
		SELECT *, now()
		FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::bytea[],
		            $7::timestamptz[], $8::uuid[], $9::uuid[], $10::int[], $11::text[], $12::text[], $13::boolean[], $14::bytea[])`
)

// queueEvents adds the statement that stores the events. Where none is traced it
// knows of no traces, and costs nothing for them.
func (c *eventColumns) queueEvents(batch *pgx.Batch) {
	args := []any{
		c.ids, c.accounts, c.sources, c.types, c.subjects, c.keys, c.occurred, c.secrets, c.requests, c.sizes, c.statuses, c.decisions, c.failed,
	}
	if !c.traced {
		batch.Queue(insertEvents, args...)
		return
	}
	batch.Queue(insertTracedEvents, append(args, c.spans)...)
}

// InsertRaw stores requests that brought several events, each whole and once,
// under their own ids. Nothing but their events leads to them.
func (t Tx) InsertRaw(ctx context.Context, account gateway.AccountID, id gateway.RequestID, b gateway.Body) error {
	_, err := t.tx.Exec(ctx, `
		INSERT INTO event_bodies (id, account_id, method, path, query, headers, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		id, account, b.Method, notNil(b.Path), notNil(b.Query), notNil(b.Headers), notNil(b.Data))
	return wrap("insert whole request", err)
}

// eventColumns turns rows into the arrays that one INSERT takes.
type eventColumns struct {
	ids       []gateway.EventID
	accounts  []gateway.AccountID
	sources   []gateway.SourceID
	types     []string
	subjects  []*string
	keys      [][]byte
	occurred  []*time.Time
	secrets   []*gateway.SecretID
	requests  []*gateway.RequestID
	sizes     []int
	statuses  []string
	decisions []string
	failed    []bool
	methods   []string
	paths     [][]byte
	queries   [][]byte
	headers   [][]byte
	bodies    [][]byte
	spans     [][]byte
	// traced tells that one of them has a span.
	traced bool
}

func (c *eventColumns) add(n *NewEvent) {
	e, b := &n.Event, &n.Body
	c.ids = append(c.ids, e.ID)
	c.accounts = append(c.accounts, e.AccountID)
	c.sources = append(c.sources, e.SourceID)
	c.types = append(c.types, e.Type)
	c.subjects = append(c.subjects, e.Subject)
	c.keys = append(c.keys, e.Key)
	c.secrets = append(c.secrets, e.SecretID)
	c.requests = append(c.requests, e.RequestID)
	c.sizes = append(c.sizes, len(b.Data))
	c.statuses = append(c.statuses, string(e.Status))
	c.decisions = append(c.decisions, e.Decision)
	c.failed = append(c.failed, e.RuleFailed)
	c.methods = append(c.methods, b.Method)
	c.paths = append(c.paths, notNil(b.Path))
	c.queries = append(c.queries, notNil(b.Query))
	c.headers = append(c.headers, notNil(b.Headers))
	c.bodies = append(c.bodies, notNil(b.Data))
	c.occurred = append(c.occurred, e.OccurredAt)
	c.spans = append(c.spans, e.Span.Bytes())
	c.traced = c.traced || !e.Span.IsZero()
}

// notNil keeps an empty value from becoming NULL.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
