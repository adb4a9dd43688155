package store

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Target is what a drain needs to know of its endpoint, read in the
// transaction that takes.
type Target struct {
	Kind gateway.EndpointKind
	// Listened tells that somebody listens for one of the kind listen.
	Listened      bool
	URL           string
	Headers       []byte
	RetrySchedule []time.Duration
	Timeout       time.Duration
	MaxInFlight   int
	StopOn        []int
	// RatePerSecond bounds how many sends begin within a second; zero is no
	// bound.
	RatePerSecond int
	// Failures is how many counted failures in a row there were.
	Failures int
	// Secrets sign; the newest is first.
	Secrets []gateway.Secret
	// Unsealable tells that a secret cannot be opened: nothing can be signed.
	Unsealable bool
	// Auth is what it asks for at its door, AuthUnsealable that it cannot be
	// opened.
	Auth           gateway.Auth
	AuthUnsealable bool
	// Lent is an address that the account may reach although no network that holds it
	// is allowed; the zero one is none.
	Lent netip.AddrPort
	// Failover is the next of its chain; nil is none. Of one whose state is not
	// active the lane's holder learns these two alone.
	Failover *gateway.EndpointID
	State    gateway.EndpointState
}

// Taken is a delivery that this drain may send now.
type Taken struct {
	ID      gateway.DeliveryID
	EventID gateway.EventID
	Trigger gateway.Trigger
	// N is the number of the attempt that begins now, Step its place in the
	// present schedule; both start at one.
	N, Step int
	// EventType, Headers and Body are the event's; Body is nil when the
	// payload is gone.
	EventType string
	Headers   []byte
	Body      []byte
	// Span is that of the trace which accepted the event.
	Span gateway.Span
	// OnDoubt is set for an event of a single-fire type, whose Subject is what
	// it is about: it is sent under a claim.
	OnDoubt gateway.OnDoubt
	Subject string
	// OverridesClaim is the claim of a fact that is done, and that a person wants
	// to be sent all the same.
	OverridesClaim *gateway.ClaimID
	// FailedOver tells that it was made in the place of another endpoint's.
	FailedOver bool
	// Relayed tells that a listener makes the attempt: see Tx.MakeRelays.
	Relayed bool
	// Claim is what ClaimTaken won; of one that overrides, what it goes out
	// under. nil for all others.
	Claim *WonClaim
}

// ReadTarget reads the lane's endpoint and its live secrets. false means that
// it is not active, or that nobody listens: nothing may be taken. The key-share
// lock fixes the order in which a turn and a deletion lock rows: lane, endpoint,
// deliveries.
func (t Tx) ReadTarget(ctx context.Context, lane Lane) (Target, bool, error) {
	batch := &pgx.Batch{}
	batch.Queue(targetRow+`
		FOR KEY SHARE OF p`, lane.EndpointID, lane.AccountID)
	batch.Queue(targetKeys, lane.EndpointID, lane.AccountID)
	target, err := t.store.collectTarget(ctx, LaneRef{AccountID: lane.AccountID, EndpointID: lane.EndpointID}, t.tx.SendBatch(ctx, batch))
	switch {
	case errors.Is(err, gateway.ErrNotFound):
		return target, false, nil
	case err == nil && target.State != gateway.EndpointActive,
		err == nil && target.Kind == gateway.EndpointListen && !target.Listened:
		return target.unsent(), false, nil
	}
	return target, err == nil, err
}

// unsent is what is known of a target to which nothing may be sent now.
func (t Target) unsent() Target {
	left := Target{Failover: t.Failover, State: t.State}
	if t.State == gateway.EndpointActive { // what comes back still counts
		left.Failures = t.Failures
	}
	return left
}

// TakeDue takes up to limit due deliveries of an active endpoint for sending:
// first attempts before retries before bulk, the longest due first.
//
// The promise: a delivery is sent by one drain at a time. Only a pending row,
// locked, becomes sending, under this lane's fence.
//
// See idRange for how rows are found again by their ids.
func (t Tx) TakeDue(ctx context.Context, lane Lane, limit int) ([]Taken, error) {
	rows, err := t.tx.Query(ctx, `
		WITH due AS (
			SELECT d.id
			FROM (VALUES (0), (1), (2)) AS p (priority)
			CROSS JOIN LATERAL (
				SELECT id
				FROM deliveries
				WHERE endpoint_id = $1
				  AND priority = p.priority
				  AND status = 'pending'
				  AND next_attempt_at <= now()
				  AND `+notAhead+`
				ORDER BY next_attempt_at
				LIMIT $3
				FOR UPDATE SKIP LOCKED
			) d
			LIMIT $3
		)
		UPDATE deliveries d
		SET status = 'sending',
		    fence = $2,
		    attempts = d.attempts + 1,
		    step = d.step + 1,
		    waiting_on = NULL
		WHERE d.id = ANY (ARRAY(SELECT id FROM due))
		  AND d.id >= (SELECT id FROM due ORDER BY id LIMIT 1)
		  AND d.id <= (SELECT id FROM due ORDER BY id DESC LIMIT 1)
		  AND d.status = $4
		RETURNING d.id, d.event_id, d.trigger, d.attempts, d.step, CASE WHEN d.overrides_claim THEN d.claim_id END, d.failover_of IS NOT NULL`,
		lane.EndpointID, lane.Fence, limit, string(gateway.DeliveryPending))
	if err != nil {
		return nil, wrap("take due deliveries", err)
	}
	taken, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Taken, err error) {
		return d, row.Scan(&d.ID, &d.EventID, &d.Trigger, &d.N, &d.Step, &d.OverridesClaim, &d.FailedOver)
	})
	if err != nil || len(taken) == 0 {
		return nil, wrap("take due deliveries", err)
	}
	return taken, t.loadPayloads(ctx, taken)
}

// loadPayloads fetches what is to be sent, by id, in the transaction that
// takes: a payload that is being deleted waits for us, or is gone already.
func (t Tx) loadPayloads(ctx context.Context, taken []Taken) error {
	at := make(map[gateway.EventID]int, len(taken))
	ids := make([]gateway.EventID, len(taken))
	for i := range taken {
		at[taken[i].EventID], ids[i] = i, taken[i].EventID
	}
	low, high := idRange(ids)
	batch := &pgx.Batch{}
	batch.Queue(`
		SELECT e.id, e.type, coalesce(t.on_doubt, ''), coalesce(e.subject, ''), e.span
		FROM events e
		LEFT JOIN event_types t
		  ON t.account_id = e.account_id
		 AND t.name = e.type
		 AND t.single_fire
		 AND e.subject IS NOT NULL
		WHERE e.id = ANY ($1)
		  AND e.id BETWEEN $2 AND $3`, ids, low, high).
		Query(func(rows pgx.Rows) error {
			var id gateway.EventID
			var read Taken
			var span []byte
			_, err := pgx.ForEachRow(rows, []any{&id, &read.EventType, &read.OnDoubt, &read.Subject, &span}, func() error {
				d := &taken[at[id]]
				d.EventType, d.OnDoubt, d.Subject, d.Span = read.EventType, read.OnDoubt, read.Subject, gateway.SpanOf(span)
				return nil
			})
			return err
		})
	batch.Queue(`SELECT id, headers, body FROM event_bodies WHERE id = ANY ($1) AND id BETWEEN $2 AND $3`, ids, low, high).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var id gateway.EventID
				var headers, body []byte
				if err := rows.Scan(&id, &headers, &body); err != nil {
					return err
				}
				taken[at[id]].Headers, taken[at[id]].Body = headers, notNil(body)
			}
			return rows.Err()
		})
	return wrap("load payloads", t.tx.SendBatch(ctx, batch).Close())
}
