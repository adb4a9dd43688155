package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Undecided is an event that this transaction decides.
type Undecided struct {
	ID        gateway.EventID
	AccountID gateway.AccountID
	SourceID  gateway.SourceID
	// Type is what came in, whatever it was told as.
	Type string
	// Subject is empty for none.
	Subject  string
	BodySize int
	// Rule is the version of its source's rule; zero where there is none.
	Rule int
	// Renamed tells that a rule gave it another type, when it was decided before.
	Renamed bool
	// Unnamed tells that its key or its type could not be read when it came in,
	// Keyed that it has a key all the same.
	Unnamed, Keyed bool
	// Told is the fact that it made new when it was decided before, with its
	// state then.
	Told      *gateway.FactID
	ToldState string
	// Waits is how often it was put off.
	Waits int
	// DueAt is since when it was due to be decided; zero when the sweep gave it a
	// job, which puts that off.
	DueAt time.Time
	// Again tells that it was decided before, and counted.
	Again bool
	// SourcePaused tells that its source holds its events.
	SourcePaused bool
	// Span is that of the trace which accepted it.
	Span gateway.Span
}

// TakeUndecided closes those of the events that are still accepted as
// processed and returns them, in the order of their ids; the transaction goes
// on to do what that means, or to say otherwise with SetDecisions.
//
// The promise: an event is decided once, and one that was put off not before its
// time. Only the transaction that finds it accepted, under its row's lock, goes
// on; whoever comes second gets no row.
func (t Tx) TakeUndecided(ctx context.Context, ids []gateway.EventID) ([]Undecided, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	low, high := idRange(ids)
	rows, err := t.tx.Query(ctx, `
		WITH mine AS (
			SELECT id
			FROM events
			WHERE id = ANY ($1)
			  AND id BETWEEN $2 AND $3
			  AND status = $4
			  AND (wait_until IS NULL OR wait_until <= now())
			ORDER BY id
			FOR UPDATE
		), taken AS (
			UPDATE events e
			SET status = 'processed',
			    decisions = e.decisions + 1
			WHERE e.id = ANY (ARRAY(SELECT id FROM mine))
			  AND e.id BETWEEN $2 AND $3
			  AND e.status = $4
			RETURNING e.id, e.account_id, e.source_id, e.type, e.received_type, e.subject, e.body_size, e.rule_failed,
			          e.key IS NOT NULL AS keyed, e.fact_id, e.reported, e.waits, e.decisions,
			          CASE WHEN e.sweeps = 0 THEN e.decide_after END AS due, e.span
		)
		SELECT taken.id, taken.account_id, taken.source_id, coalesce(taken.received_type, taken.type), coalesce(taken.subject, ''), taken.body_size,
		       CASE WHEN s.rule IS NULL THEN 0 ELSE s.rule_version END, taken.received_type IS NOT NULL, taken.rule_failed, taken.keyed,
		       taken.fact_id, coalesce(taken.reported, ''), taken.waits, taken.decisions > 1, s.state = 'paused',
		       taken.due, taken.span
		FROM taken
		JOIN sources s
		  ON s.id = taken.source_id
		ORDER BY taken.id`, ids, low, high, string(gateway.EventAccepted))
	if err != nil {
		return nil, wrap("take undecided events", err)
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (u Undecided, err error) {
		var due *time.Time
		var span []byte
		err = row.Scan(&u.ID, &u.AccountID, &u.SourceID, &u.Type, &u.Subject, &u.BodySize, &u.Rule, &u.Renamed, &u.Unnamed, &u.Keyed,
			&u.Told, &u.ToldState, &u.Waits, &u.Again, &u.SourcePaused, &due, &span)
		u.DueAt, u.Span = timeOf(due), gateway.SpanOf(span)
		return u, err
	})
	return events, wrap("take undecided events", err)
}

// idRange returns the smallest and the largest of ids.
//
// A statement that finds rows by many ids says id = ANY (the ids), so that each
// is looked up in the primary key, and id BETWEEN these two, so that days are
// left out. It does not join the ids instead, and a status that guards it is a
// parameter: else a plan that was made while few rows were open may read every
// open row, and is kept while they become a million.
func idRange[I gateway.AnyID](ids []I) (low, high I) {
	low, high = ids[0], ids[0]
	for _, id := range ids[1:] {
		if compareIDs(id, low) < 0 {
			low = id
		}
		if compareIDs(id, high) > 0 {
			high = id
		}
	}
	return low, high
}

// PausedSources returns those of the sources that are still paused, and keeps
// them so until the transaction ends.
//
// The promise: nothing is held at a source that is active. A resume waits for
// the share lock and then finds what this transaction held.
func (t Tx) PausedSources(ctx context.Context, ids []gateway.SourceID) (map[gateway.SourceID]bool, error) {
	rows, err := t.tx.Query(ctx, `
		SELECT id
		FROM sources
		WHERE id = ANY ($1)
		  AND state = 'paused'
		ORDER BY id
		FOR SHARE`, ids)
	if err != nil {
		return nil, wrap("lock paused sources", err)
	}
	paused := map[gateway.SourceID]bool{}
	var id gateway.SourceID
	_, err = pgx.ForEachRow(rows, []any{&id}, func() error {
		paused[id] = true
		return nil
	})
	return paused, wrap("lock paused sources", err)
}

// Candidate is an endpoint that may want an event.
type Candidate struct {
	ID         gateway.EndpointID
	AccountID  gateway.AccountID
	EventTypes []string
	// Filter is what an event has to meet besides; empty lets every one through.
	Filter string
}

// Candidates reads the accounts' endpoints that have one of the patterns, or
// none. Which event each of them gets is for the caller to say.
//
// The promise: nothing is sent to a deleted endpoint and nothing is left
// behind there. The key-share lock makes a deletion wait until the deliveries
// are committed (it then cancels them), or makes us wait and not see the
// endpoint.
func (t Tx) Candidates(ctx context.Context, accounts []gateway.AccountID, patterns []string) ([]Candidate, error) {
	rows, err := t.tx.Query(ctx, `
		SELECT id, account_id, event_types, filter
		FROM endpoints
		WHERE account_id = ANY ($1)
		  AND deleted_at IS NULL
		  AND (event_types = '{}' OR event_types && $2)
		ORDER BY id
		FOR KEY SHARE`, accounts, patterns)
	if err != nil {
		return nil, wrap("read candidate endpoints", err)
	}
	candidates, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Candidate, err error) {
		return c, row.Scan(&c.ID, &c.AccountID, &c.EventTypes, &c.Filter)
	})
	return candidates, wrap("read candidate endpoints", err)
}

// NewDelivery is a delivery to be made.
type NewDelivery struct {
	AccountID  gateway.AccountID
	EventID    gateway.EventID
	EndpointID gateway.EndpointID
	// Bulk puts it behind what is live.
	Bulk bool
}

func (d NewDelivery) priority() int16 {
	if d.Bulk {
		return gateway.PriorityBulk
	}
	return gateway.PriorityFirst
}

// InsertDeliveries makes deliveries that are due now and returns how many are
// new.
//
// The promise: an endpoint has an event's delivery once. The id is derived
// from both, so that deciding again changes nothing.
func (t Tx) InsertDeliveries(ctx context.Context, deliveries []NewDelivery) (int64, error) {
	if len(deliveries) == 0 {
		return 0, nil
	}
	var ids []gateway.DeliveryID
	var accounts []gateway.AccountID
	var events []gateway.EventID
	var endpoints []gateway.EndpointID
	var priorities []int16
	for _, d := range deliveries {
		ids = append(ids, gateway.DeriveDeliveryID(d.EventID, d.EndpointID))
		accounts = append(accounts, d.AccountID)
		events = append(events, d.EventID)
		endpoints = append(endpoints, d.EndpointID)
		priorities = append(priorities, d.priority())
	}
	tag, err := t.tx.Exec(ctx, `
		INSERT INTO deliveries (id, account_id, event_id, endpoint_id, priority, next_attempt_at)
		SELECT *, now()
		FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::smallint[])
		ON CONFLICT (id) DO NOTHING`, ids, accounts, events, endpoints, priorities)
	return tag.RowsAffected(), wrap("insert deliveries", err)
}

// Decision says what became of an event, where it is not "processed".
type Decision struct {
	ID     gateway.EventID
	Status gateway.EventStatus
	Reason string
}

// SetDecisions corrects the status of events that TakeUndecided took in this
// transaction.
func (t Tx) SetDecisions(ctx context.Context, decisions []Decision) error {
	if len(decisions) == 0 {
		return nil
	}
	var ids []gateway.EventID
	var statuses, reasons []string
	for _, d := range decisions {
		ids = append(ids, d.ID)
		statuses = append(statuses, string(d.Status))
		reasons = append(reasons, d.Reason)
	}
	low, high := idRange(ids)
	_, err := t.tx.Exec(ctx, `
		UPDATE events e
		SET status = u.status,
		    decision = u.reason,
		    decisions = CASE WHEN u.status = 'held' THEN e.decisions - 1 ELSE e.decisions END
		FROM unnest($1::uuid[], $2::text[], $3::text[]) AS u (id, status, reason)
		WHERE e.id = u.id
		  AND e.id = ANY ($1)
		  AND e.id BETWEEN $4 AND $5`, ids, statuses, reasons, low, high)
	return wrap("set decisions", err)
}

// ReopenEvent puts an event back to be decided again, if its status is one of
// those given.
//
// The promise: of two presses of one button, one has an effect.
func (t Tx) ReopenEvent(ctx context.Context, account gateway.AccountID, id gateway.EventID, from []gateway.EventStatus) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE events
		SET status = 'accepted', decision = '', decide_after = now()
		WHERE id = $1
		  AND account_id = $2
		  AND status = ANY ($3)`, id, account, texts(from))
	return tag.RowsAffected() == 1, wrap("reopen event", err)
}

// ReopenHeld puts a source's held events back to be decided, at most limit of
// them and the oldest first, and returns their ids.
func (t Tx) ReopenHeld(ctx context.Context, account gateway.AccountID, source gateway.SourceID, limit int) ([]gateway.EventID, error) {
	rows, err := t.tx.Query(ctx, `
		WITH held AS (
			SELECT id
			FROM events
			WHERE account_id = $1
			  AND status = 'held'
			  AND source_id = $2
			ORDER BY id
			LIMIT $3
			FOR UPDATE SKIP LOCKED
		)
		UPDATE events e
		SET status = 'accepted', decision = '', decide_after = now()
		WHERE e.id = ANY (ARRAY(SELECT id FROM held))
		  AND e.id >= (SELECT id FROM held ORDER BY id LIMIT 1)
		  AND e.id <= (SELECT id FROM held ORDER BY id DESC LIMIT 1)
		  AND e.status = $4
		RETURNING e.id`, account, source, limit, string(gateway.EventHeld))
	if err != nil {
		return nil, wrap("reopen held events", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[gateway.EventID])
	return ids, wrap("reopen held events", err)
}

// HeldAtActive returns sources that are active and still have events that are
// held: who resumed them did not get to the end.
func (s *Store) HeldAtActive(ctx context.Context, limit int) ([]SourceRef, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT s.account_id, s.id
		FROM sources s
		WHERE s.state = 'active'
		  AND EXISTS (
			SELECT 1
			FROM events e
			WHERE e.account_id = s.account_id
			  AND e.status = 'held'
			  AND e.source_id = s.id)
		LIMIT $1`, limit)
	if err != nil {
		return nil, wrap("look for held events", err)
	}
	refs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[SourceRef])
	return refs, wrap("look for held events", err)
}

// SourceRef names a source.
type SourceRef struct {
	AccountID gateway.AccountID
	SourceID  gateway.SourceID
}

// compare orders sources by account, as rows are locked.
func (r SourceRef) compare(other SourceRef) int {
	return cmp.Or(compareIDs(r.AccountID, other.AccountID), compareIDs(r.SourceID, other.SourceID))
}

// OverdueEvents returns events that are accepted and that nobody is about to decide:
// the node that was to without a job is gone, or their job is lost. They were due
// before the grace period, and before the oldest process job that still waits (the
// queue is first come, first served, so theirs would have been fetched). A job that
// runs does not count: a dead node's stays so. Their turn is put off, so that the
// next sweep leaves them alone for a while.
func (t Tx) OverdueEvents(ctx context.Context, grace time.Duration, limit int) ([]gateway.EventID, error) {
	rows, err := t.tx.Query(ctx, `
		WITH overdue AS (
			SELECT id
			FROM events
			WHERE status = 'accepted'
			  AND decide_after < LEAST(now() - $1::interval, (
					SELECT scheduled_at
					FROM river_job
					WHERE state = 'available'
					  AND queue = 'process'
					  AND priority = 1
					ORDER BY scheduled_at
					LIMIT 1))
			ORDER BY decide_after
			LIMIT $2
			FOR UPDATE SKIP LOCKED
		)
		UPDATE events e
		SET decide_after = now() + LEAST(interval '5 s' * (2 ^ e.sweeps - 1), interval '10 min'),
		    sweeps = LEAST(e.sweeps + 1, 10)
		WHERE e.id = ANY (ARRAY(SELECT id FROM overdue))
		  AND e.id >= (SELECT id FROM overdue ORDER BY id LIMIT 1)
		  AND e.id <= (SELECT id FROM overdue ORDER BY id DESC LIMIT 1)
		  AND e.status = $3
		RETURNING e.id`, grace, limit, string(gateway.EventAccepted))
	if err != nil {
		return nil, wrap("find overdue events", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[gateway.EventID])
	slices.SortFunc(ids, compareIDs)
	return ids, wrap("find overdue events", err)
}
