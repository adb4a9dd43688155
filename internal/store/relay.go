package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// relaysChannel is where it is told that the relays of an endpoint changed.
	relaysChannel = "rowlock_relays"
	// relayGrace is how much longer than it may take the end of a relay is waited
	// for, and how long it is waited for that a listener who is there takes it.
	relayGrace = time.Minute
)

// NewRelay is an attempt that a listener is to make in our place.
type NewRelay struct {
	Delivery gateway.DeliveryID
	N        int
	Event    gateway.EventID
	// Claim is what it goes out under, of a single-fire type.
	Claim   *WonClaim
	Timeout time.Duration
	// BeginsUntil is the latest time at which it may begin; zero is none.
	BeginsUntil time.Time
}

// MakeRelays puts attempts where listeners find them. It belongs into the
// transaction that takes the deliveries: each that is being sent is with a
// listener, or about to be, and whoever holds the lane next can wait for it too.
func (t Tx) MakeRelays(ctx context.Context, lane Lane, relays []NewRelay) error {
	var c newRelayColumns
	for i := range relays {
		c.add(&relays[i])
	}
	_, err := t.tx.Exec(ctx, `
		INSERT INTO relays (delivery_id, n, account_id, endpoint_id, event_id, fence, claim_id, claim_fence, claim_overridden,
		                    made_at, timeout_ms, begins_until)
		SELECT u.delivery_id, u.n, $1, $2, u.event_id, $3, u.claim_id, u.claim_fence, u.overridden,
		       clock_timestamp(), u.timeout_ms, u.begins_until
		FROM unnest($4::uuid[], $5::int[], $6::uuid[], $7::uuid[], $8::bigint[], $9::boolean[], $10::int[], $11::timestamptz[])
		  AS u (delivery_id, n, event_id, claim_id, claim_fence, overridden, timeout_ms, begins_until)`,
		lane.AccountID, lane.EndpointID, lane.Fence,
		c.deliveries, c.numbers, c.events, c.claims, c.claimFences, c.overridden, c.timeouts, c.begins)
	if err != nil {
		return wrap("make relays", err)
	}
	return t.tellRelays(ctx, lane.EndpointID)
}

// newRelayColumns turns relays into the arrays that one INSERT takes.
type newRelayColumns struct {
	deliveries  []gateway.DeliveryID
	numbers     []int
	events      []gateway.EventID
	claims      []*gateway.ClaimID
	claimFences []int64
	overridden  []bool
	timeouts    []int64
	begins      []*time.Time
}

func (c *newRelayColumns) add(r *NewRelay) {
	claim := WonClaim{}
	var id *gateway.ClaimID
	if r.Claim != nil {
		claim = *r.Claim
		id = &claim.ID
	}
	c.deliveries = append(c.deliveries, r.Delivery)
	c.numbers = append(c.numbers, r.N)
	c.events = append(c.events, r.Event)
	c.claims = append(c.claims, id)
	c.claimFences = append(c.claimFences, claim.Fence)
	c.overridden = append(c.overridden, claim.Overridden)
	c.timeouts = append(c.timeouts, r.Timeout.Milliseconds())
	c.begins = append(c.begins, nullTime(r.BeginsUntil))
}

// tellRelays tells all nodes that the relays of an endpoint changed.
func (t Tx) tellRelays(ctx context.Context, endpoint gateway.EndpointID) error {
	_, err := t.tx.Exec(ctx, `SELECT pg_notify('`+relaysChannel+`', $1::uuid::text)`, endpoint)
	return wrap("tell of relays", err)
}

// GiveUpRelays ends the lane's relays whose end nobody will report: the listener
// who had them has gone, nobody took them in time, or nothing was heard of them
// for long after they must have ended.
//
// The promise: a relay ends once, by a report or given up, and what was reported
// is what is recorded. The row's lock orders the two.
func (s *Store) GiveUpRelays(ctx context.Context, lane Lane) error {
	_, err := s.pool.Exec(ctx, `
		WITH over AS (
			SELECT r.delivery_id, r.n
			FROM relays r
			WHERE r.endpoint_id = $1
			  AND r.account_id = $2
			  AND r.fence = $3
			  AND r.reported_at IS NULL
			  AND r.given_up_at IS NULL
			  AND (NOT EXISTS (
				SELECT
				FROM listeners x
				WHERE x.endpoint_id = r.endpoint_id
				  AND `+listenerIsThere+`
				  AND (r.taken_at IS NULL OR x.listener = r.listener))
			   OR r.taken_at IS NULL
			      AND (r.begins_until < clock_timestamp()
			           OR r.made_at < clock_timestamp() - $4::interval
			           OR NOT EXISTS (SELECT FROM event_bodies b WHERE b.id = r.event_id))
			   OR r.taken_at < clock_timestamp() - $4::interval - r.timeout_ms * interval '1 millisecond')
			ORDER BY r.delivery_id, r.n
			FOR UPDATE OF r
		)
		UPDATE relays r
		SET given_up_at = clock_timestamp()
		FROM over o
		WHERE r.delivery_id = o.delivery_id
		  AND r.n = o.n`,
		lane.EndpointID, lane.AccountID, lane.Fence, relayGrace)
	return wrap("give relays up", err)
}

// RelayEnd is how a relay ended.
type RelayEnd struct {
	// Attempt is what was reported; of one that was given up, when it was taken
	// and what was sent.
	Attempt gateway.Attempt
	// Reported tells that the listener said how it went, Taken that it had it.
	Reported, Taken bool
}

// EndedRelays returns those of some of the lane's relays that have ended.
func (s *Store) EndedRelays(ctx context.Context, lane Lane, of []gateway.AttemptID) ([]RelayEnd, error) {
	deliveries, numbers, err := splitAttempts(of)
	if err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, `
		SELECT r.delivery_id, r.n, r.account_id, r.endpoint_id, r.event_id, '', coalesce(r.taken_at, r.made_at), r.duration_us,
		       r.dns_us, r.connect_us, r.tls_us, r.first_byte_us, r.outcome, r.error_kind, r.detail, r.status_code,
		       r.request_headers, r.response_headers, r.response_body, r.reported_at IS NOT NULL, r.taken_at IS NOT NULL
		FROM relays r
		JOIN unnest($4::uuid[], $5::int[]) u (delivery_id, n)
		  ON u.delivery_id = r.delivery_id
		 AND u.n = r.n
		WHERE r.endpoint_id = $1
		  AND r.account_id = $2
		  AND r.fence = $3
		  AND (r.reported_at IS NOT NULL OR r.given_up_at IS NOT NULL)`,
		lane.EndpointID, lane.AccountID, lane.Fence, deliveries, numbers)
	if err != nil {
		return nil, wrap("read ended relays", err)
	}
	ended, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e RelayEnd, err error) {
		a := &e.Attempt
		return e, scanLine(row, a, &a.RequestHeaders, &a.ResponseHeaders, &a.ResponseBody, &e.Reported, &e.Taken)
	})
	return ended, wrap("read ended relays", err)
}

// EndRelays forgets relays, in the transaction that records how they went.
func (t Tx) EndRelays(ctx context.Context, account gateway.AccountID, ids []gateway.AttemptID) error {
	deliveries, numbers, err := splitAttempts(ids)
	if err != nil {
		return err
	}
	_, err = t.tx.Exec(ctx, `
		WITH ended AS (
			SELECT r.delivery_id, r.n
			FROM relays r
			JOIN unnest($1::uuid[], $2::int[]) u (delivery_id, n)
			  ON u.delivery_id = r.delivery_id
			 AND u.n = r.n
			WHERE r.account_id = $3
			ORDER BY r.delivery_id, r.n
			FOR UPDATE OF r
		)
		DELETE FROM relays r
		USING ended e
		WHERE r.delivery_id = e.delivery_id
		  AND r.n = e.n`, deliveries, numbers, account)
	return wrap("end relays", err)
}

// splitAttempts are the two halves of attempts' ids.
func splitAttempts(ids []gateway.AttemptID) (deliveries []gateway.DeliveryID, numbers []int, err error) {
	deliveries, numbers = make([]gateway.DeliveryID, len(ids)), make([]int, len(ids))
	for i, id := range ids {
		if deliveries[i], numbers[i], err = gateway.SplitAttemptID(id); err != nil {
			return nil, nil, wrap("split an attempt's id", err)
		}
	}
	return deliveries, numbers, nil
}

// PruneRelays forgets relays that nobody waits for any more: of tests whose asker
// has gone, and of endpoints that were deleted. age is how old they must be.
func (s *Store) PruneRelays(ctx context.Context, age time.Duration) error {
	_, err := s.pool.Exec(ctx, `
		DELETE FROM relays r
		WHERE r.made_at < now() - $1::interval
		  AND (r.fence = 0
		       OR EXISTS (SELECT FROM endpoints p WHERE p.id = r.endpoint_id AND p.deleted_at IS NOT NULL))`, age)
	return wrap("prune relays", err)
}
