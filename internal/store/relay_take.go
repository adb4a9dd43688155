package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// relaysAtOnce is how many relays one answer to a listener holds at the most.
	relaysAtOnce = 32
	// relayBytes is how long the bodies of one answer may be together; a longer
	// one goes alone.
	relayBytes = 4 << 20
)

// Asking is a listener's asking for what it is to send.
type Asking struct {
	AccountID  gateway.AccountID
	EndpointID gateway.EndpointID
	Listener   string
	// Poll is the number that HearListener gave it.
	Poll int64
	// Holding are the relays that the listener has: of those that it was given
	// before, all others were lost on the way.
	Holding []gateway.AttemptID
}

// Relay is an attempt for a listener to make.
type Relay struct {
	Delivery  gateway.DeliveryID
	N         int
	Event     gateway.EventID
	EventType string
	// Headers and Body are the event's.
	Headers, Body []byte
	// Span is that of the trace which accepted the event.
	Span    gateway.Span
	Claim   *WonClaim
	Timeout time.Duration
	// TakenAt is when the listener got it: when it begins.
	TakenAt time.Time
}

// relayIsFree tells that relay r is to be given to the listener that asks: nobody
// has had it, or it was lost on the way to this one.
const relayIsFree = `
	r.endpoint_id = @endpoint
	AND r.account_id = @account
	AND r.reported_at IS NULL
	AND r.given_up_at IS NULL
	AND (r.begins_until IS NULL OR r.begins_until > clock_timestamp())
	AND (r.taken_at IS NULL
	     OR r.listener = @listener
	        AND r.poll < @poll
	        AND NOT EXISTS (SELECT FROM unnest(@held::uuid[], @held_n::int[]) h (id, n) WHERE h.id = r.delivery_id AND h.n = r.n))`

func (a Asking) args() (pgx.NamedArgs, error) {
	held, numbers, err := splitAttempts(a.Holding)
	return pgx.NamedArgs{
		"account": a.AccountID, "endpoint": a.EndpointID, "listener": a.Listener, "poll": a.Poll, "held": held, "held_n": numbers,
	}, err
}

// HasRelays tells whether there is anything for a listener to send.
func (s *Store) HasRelays(ctx context.Context, a Asking) (bool, error) {
	args, err := a.args()
	if err != nil {
		return false, err
	}
	var some bool
	err = s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM relays r WHERE `+relayIsFree+`)`, args).Scan(&some)
	return some, wrap("look for relays", err)
}

// TakeRelays gives relays to a listener, the oldest first.
//
// The promise: a relay is with one listener, and given to it again only where it
// never arrived. The listener's row is locked, so that an asking which another has
// followed takes nothing; and what ended meanwhile is not taken.
func (t Tx) TakeRelays(ctx context.Context, a Asking) ([]Relay, error) {
	args, err := a.args()
	if err != nil {
		return nil, err
	}
	tag, err := t.tx.Exec(ctx, `
		SELECT
		FROM listeners
		WHERE endpoint_id = @endpoint
		  AND account_id = @account
		  AND listener = @listener
		  AND polls = @poll
		  AND left_at IS NULL
		FOR UPDATE`, args)
	if err != nil || tag.RowsAffected() == 0 {
		return nil, wrap("lock the listener", err)
	}
	args["most"], args["bytes"] = relaysAtOnce, relayBytes
	rows, err := t.tx.Query(ctx, `
		UPDATE relays r
		SET listener = @listener,
		    poll = @poll,
		    taken_at = clock_timestamp()
		FROM (
			SELECT delivery_id, n, sum(size) OVER (ORDER BY made_at, delivery_id, n) - size AS before
			FROM (
				SELECT r.delivery_id, r.n, r.made_at, octet_length(b.body) AS size
				FROM relays r
				JOIN event_bodies b
				  ON b.id = r.event_id
				WHERE `+relayIsFree+`
				ORDER BY r.made_at, r.delivery_id, r.n
				LIMIT @most
			) f
		) free
		WHERE r.delivery_id = free.delivery_id
		  AND r.n = free.n
		  AND free.before < @bytes
		  AND r.reported_at IS NULL
		  AND r.given_up_at IS NULL
		RETURNING r.delivery_id, r.n, r.event_id, r.claim_id, r.claim_fence, r.timeout_ms, r.taken_at`, args)
	if err != nil {
		return nil, wrap("take relays", err)
	}
	taken, err := pgx.CollectRows(rows, scanRelay)
	if err != nil || len(taken) == 0 {
		return nil, wrap("take relays", err)
	}
	return t.loadRelays(ctx, taken)
}

func scanRelay(row pgx.CollectableRow) (r Relay, err error) {
	var claim *gateway.ClaimID
	var fence, timeout int64
	err = row.Scan(&r.Delivery, &r.N, &r.Event, &claim, &fence, &timeout, &r.TakenAt)
	r.Timeout = time.Duration(timeout) * time.Millisecond
	if claim != nil {
		r.Claim = &WonClaim{ID: *claim, Fence: fence, Delivery: r.Delivery}
	}
	return r, err
}

// loadRelays adds what is to be sent, and leaves out what was deleted meanwhile.
func (t Tx) loadRelays(ctx context.Context, taken []Relay) ([]Relay, error) {
	events := make([]Taken, len(taken))
	for i := range taken {
		events[i].EventID = taken[i].Event
	}
	if err := t.loadPayloads(ctx, events); err != nil {
		return nil, err
	}
	whole := taken[:0]
	for i, r := range taken {
		if events[i].Body == nil {
			continue
		}
		r.EventType, r.Headers, r.Body, r.Span = events[i].EventType, events[i].Headers, events[i].Body, events[i].Span
		whole = append(whole, r)
	}
	return whole, nil
}

// KeepRelayHeaders notes what a listener was given to send, without secrets.
func (t Tx) KeepRelayHeaders(ctx context.Context, account gateway.AccountID, ids []gateway.AttemptID, headers [][]byte) error {
	deliveries, numbers, err := splitAttempts(ids)
	if err != nil {
		return err
	}
	_, err = t.tx.Exec(ctx, `
		UPDATE relays r
		SET request_headers = u.headers
		FROM unnest($1::uuid[], $2::int[], $3::bytea[]) u (delivery_id, n, headers)
		WHERE r.delivery_id = u.delivery_id
		  AND r.n = u.n
		  AND r.account_id = $4`, deliveries, numbers, headers, account)
	return wrap("keep the headers of relays", err)
}
