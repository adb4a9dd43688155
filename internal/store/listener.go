package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// listenerIsThere tells that listener x is connected: gateway.ListenerGone.
	listenerIsThere = `x.left_at IS NULL AND x.seen_at > clock_timestamp() - interval '15 seconds'`
	// drainable tells that endpoint p has a way out: an address, somebody who
	// listens, or something that a listener has had and whose end is waited for.
	drainable = `(p.kind = 'http'
		OR EXISTS (SELECT FROM listeners x WHERE x.endpoint_id = p.id AND ` + listenerIsThere + `)
		OR EXISTS (SELECT FROM relays x WHERE x.endpoint_id = p.id AND x.fence > 0))`
)

// Heard is what became of a listener's asking.
type Heard struct {
	// Poll is the number of this asking: it takes from now on, and those before it
	// nothing more.
	Poll int64
	// Came tells that it was not there before.
	Came bool
}

// HearListener notes that a listener asks for what an endpoint of the kind listen
// gets. false means that another one is connected.
//
// The promise: one listens at a time. The row's lock orders those who ask, and
// only who is gone is followed by another.
func (s *Store) HearListener(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, l gateway.Listener) (h Heard, mine bool, err error) {
	err = s.pool.QueryRow(ctx, `
		INSERT INTO listeners AS x (endpoint_id, account_id, listener, host, connected_at, seen_at)
		SELECT p.id, p.account_id, $3, $4, n.at, n.at
		FROM endpoints p
		CROSS JOIN (SELECT clock_timestamp() AS at) n
		WHERE p.id = $1
		  AND p.account_id = $2
		  AND p.kind = 'listen'
		  AND p.deleted_at IS NULL
		ON CONFLICT (endpoint_id) DO UPDATE
		SET listener = EXCLUDED.listener,
		    host = EXCLUDED.host,
		    polls = x.polls + 1,
		    connected_at = CASE WHEN x.listener = EXCLUDED.listener AND `+listenerIsThere+` THEN x.connected_at ELSE EXCLUDED.connected_at END,
		    seen_at = EXCLUDED.seen_at,
		    left_at = NULL
		WHERE x.listener = EXCLUDED.listener
		   OR NOT (`+listenerIsThere+`)
		RETURNING polls, connected_at = seen_at`, endpoint, account, l.ID, l.Host).Scan(&h.Poll, &h.Came)
	if errors.Is(err, pgx.ErrNoRows) {
		return h, false, nil
	}
	return h, err == nil, wrap("hear the listener", err)
}

// SeeListener notes that a listener still waits for the answer to its asking.
// false means that it has gone, or asks anew meanwhile.
func (s *Store) SeeListener(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, listener string, poll int64) (bool, error) {
	tag, err := s.pool.Exec(ctx, `
		UPDATE listeners
		SET seen_at = clock_timestamp()
		WHERE endpoint_id = $1
		  AND account_id = $2
		  AND listener = $3
		  AND polls = $4
		  AND left_at IS NULL`, endpoint, account, listener, poll)
	return tag.RowsAffected() == 1, wrap("see the listener", err)
}

// DropListener notes that a listener has gone. One that is not there changes
// nothing.
func (s *Store) DropListener(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, listener string) error {
	_, err := s.pool.Exec(ctx, `
		WITH gone AS (
			UPDATE listeners
			SET left_at = clock_timestamp()
			WHERE endpoint_id = $1
			  AND account_id = $2
			  AND listener = $3
			  AND left_at IS NULL
			RETURNING endpoint_id
		)
		SELECT pg_notify('`+relaysChannel+`', endpoint_id::text)
		FROM gone`, endpoint, account, listener)
	return wrap("drop the listener", err)
}

// Listeners tells who listens for endpoints, or did last. Those for which nobody
// ever did are not in it.
func (s *Store) Listeners(ctx context.Context, account gateway.AccountID, endpoints []gateway.EndpointID) (map[gateway.EndpointID]gateway.Listener, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT endpoint_id, listener, host, connected_at, coalesce(left_at, seen_at), `+listenerIsThere+`
		FROM listeners x
		WHERE endpoint_id = ANY ($1)
		  AND account_id = $2`, endpoints, account)
	if err != nil {
		return nil, wrap("read listeners", err)
	}
	found := map[gateway.EndpointID]gateway.Listener{}
	var id gateway.EndpointID
	var l gateway.Listener
	_, err = pgx.ForEachRow(rows, []any{&id, &l.ID, &l.Host, &l.ConnectedAt, &l.SeenAt, &l.Connected}, func() error {
		found[id] = l
		return nil
	})
	return found, wrap("read listeners", err)
}
