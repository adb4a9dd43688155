package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// RecentAttempts is how many attempts an endpoint's health is shown by.
	RecentAttempts = 20
	// MaxWaitingCounted is up to where an endpoint's waiting deliveries are
	// counted: who has more has "1,000+".
	MaxWaitingCounted = 1000
)

// Health is how an endpoint does.
type Health struct {
	// Recent are its last attempts, at most RecentAttempts, oldest first,
	// without headers and bodies.
	Recent []gateway.Attempt
	// Waiting is how many deliveries are pending, up to MaxWaitingCounted:
	// that many may be more.
	Waiting int
	// OldestWaiting is when the oldest event came in that waits; nil when
	// nothing does.
	OldestWaiting *time.Time
}

// LastFailure is the newest of the recent attempts that failed; nil when none
// did.
func (h Health) LastFailure() *gateway.Attempt {
	for i := range slices.Backward(h.Recent) {
		if h.Recent[i].Outcome != gateway.OutcomeSucceeded {
			return &h.Recent[i]
		}
	}
	return nil
}

// EndpointHealth tells how a page of endpoints does. Since when an endpoint
// fails is told by gateway.Endpoint.
func (s *Store) EndpointHealth(ctx context.Context, account gateway.AccountID, endpoints []gateway.EndpointID) (map[gateway.EndpointID]Health, error) {
	recent, err := s.recentAttempts(ctx, account, endpoints)
	if err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, `
		SELECT p.id, w.n, o.id
		FROM endpoints p
		CROSS JOIN LATERAL (
			SELECT count(*) AS n
			FROM (`+pendingOfEndpoint+`
				LIMIT $3
			) counted
		) w
		LEFT JOIN LATERAL (`+pendingOfEndpoint+`
			ORDER BY d.id
			LIMIT 1
		) o
		  ON true
		WHERE p.id = ANY ($2)
		  AND p.account_id = $1`, account, endpoints, MaxWaitingCounted)
	if err != nil {
		return nil, wrap("count what waits", err)
	}
	all := make(map[gateway.EndpointID]Health, len(endpoints))
	var id gateway.EndpointID
	var waiting int
	var oldest *gateway.DeliveryID
	_, err = pgx.ForEachRow(rows, []any{&id, &waiting, &oldest}, func() error {
		h := Health{Recent: recent[id], Waiting: waiting}
		if oldest != nil {
			at := oldest.Time()
			h.OldestWaiting = &at
		}
		all[id], oldest = h, nil
		return nil
	})
	return all, wrap("count what waits", err)
}

// pendingOfEndpoint finds the pending deliveries of endpoint p.
const pendingOfEndpoint = `
				SELECT d.id
				FROM deliveries d
				WHERE d.endpoint_id = p.id
				  AND d.status = 'pending'
				  AND d.` + notAhead

// recentAttempts reads the last attempts of each endpoint, oldest first.
func (s *Store) recentAttempts(ctx context.Context, account gateway.AccountID, endpoints []gateway.EndpointID) (map[gateway.EndpointID][]gateway.Attempt, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT a.*
		FROM endpoints p
		CROSS JOIN LATERAL (
			SELECT `+attemptLine+`
			FROM attempts
			WHERE endpoint_id = p.id
			  AND delivery_`+notAhead+`
			ORDER BY started_at DESC, delivery_id DESC, n DESC
			LIMIT $3
		) a
		WHERE p.id = ANY ($2)
		  AND p.account_id = $1`, account, endpoints, RecentAttempts)
	if err != nil {
		return nil, wrap("read recent attempts", err)
	}
	attempts, err := pgx.CollectRows(rows, scanAttemptLine)
	slices.SortFunc(attempts, startedFirst)
	recent := make(map[gateway.EndpointID][]gateway.Attempt, len(endpoints))
	for i := range attempts {
		recent[attempts[i].EndpointID] = append(recent[attempts[i].EndpointID], attempts[i])
	}
	return recent, wrap("read recent attempts", err)
}

// startedFirst orders attempts as lists do, the other way round.
func startedFirst(a, b gateway.Attempt) int {
	return cmp.Or(a.StartedAt.Compare(b.StartedAt), a.DeliveryID.Compare(b.DeliveryID), cmp.Compare(a.N, b.N))
}

// TroubledEndpoints lists an account's endpoints whose last attempts failed or
// that Rowlock has stopped, those that fail for longest first.
func (s *Store) TroubledEndpoints(ctx context.Context, account gateway.AccountID, limit int) ([]gateway.Endpoint, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+endpointFields+`
		FROM endpoints
		WHERE account_id = $1
		  AND deleted_at IS NULL
		  AND (state = 'disabled' OR consecutive_failures > 0)
		ORDER BY coalesce(failing_since, state_changed_at), id
		LIMIT $2`, account, limit)
	if err != nil {
		return nil, wrap("list troubled endpoints", err)
	}
	endpoints, err := pgx.CollectRows(rows, scanEndpoint)
	return endpoints, wrap("list troubled endpoints", err)
}

// Backlog is what of an account is still to be sent.
type Backlog struct {
	// Waiting are pending at active endpoints, Held at the others.
	Waiting, Held int
}

// Backlog counts what waits, of each endpoint up to most.
func (s *Store) Backlog(ctx context.Context, account gateway.AccountID, most int) (b Backlog, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT coalesce(sum(w.n) FILTER (WHERE p.state = 'active'), 0)::bigint,
		       coalesce(sum(w.n) FILTER (WHERE p.state <> 'active'), 0)::bigint
		FROM endpoints p
		CROSS JOIN LATERAL (
			SELECT count(*) AS n
			FROM (`+pendingOfEndpoint+`
				LIMIT $2
			) counted
		) w
		WHERE p.account_id = $1
		  AND p.deleted_at IS NULL`, account, most).Scan(&b.Waiting, &b.Held)
	return b, wrap("count what waits", err)
}
