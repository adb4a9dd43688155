package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Digest is what was gathered of an endpoint's failed deliveries.
type Digest struct {
	Failed int64
	// Causes are how many of them failed why: by status code, or by
	// gateway.ErrorKind where no answer came, or empty where nobody knows.
	Causes map[string]int64
	// Since is when the first of them was given up.
	Since time.Time
}

// DigestPace is how failed deliveries are gathered.
type DigestPace struct {
	// Gather is how long after the first one they are told, Between how long
	// after the last mail at the least.
	Gather, Between time.Duration
}

// GatherFailed adds deliveries that were given up, by their causes, to what is
// told of the lane's endpoint, if a member wants to be told. It belongs into the
// transaction that gives them up.
//
// The promise: each is told once. It adds to the row under its lock, before or
// after a mail takes what is there.
func (t Tx) GatherFailed(ctx context.Context, lane Lane, causes map[string]int64, pace DigestPace) error {
	var failed int64
	for _, n := range causes {
		failed += n
	}
	_, err := t.tx.Exec(ctx, `
		INSERT INTO failure_digests AS d (endpoint_id, account_id, failed, causes, since, due_at)
		SELECT @endpoint, @account, @failed, @causes::jsonb, now(), now() + @gather::interval
		WHERE EXISTS (
			SELECT
			FROM alert_choices
			WHERE account_id = @account
			  AND kind = @kind
			  AND wanted)
		ON CONFLICT (endpoint_id) DO UPDATE
		SET failed = d.failed + EXCLUDED.failed,
		    causes = (
			SELECT jsonb_object_agg(s.cause, s.n)
			FROM (
				SELECT key AS cause, sum(value::bigint) AS n
				FROM (
					SELECT * FROM jsonb_each_text(d.causes)
					UNION ALL
					SELECT * FROM jsonb_each_text(EXCLUDED.causes)
				) both_of_them
				GROUP BY key
			) s),
		    since = coalesce(d.since, EXCLUDED.since),
		    due_at = coalesce(d.due_at, GREATEST(EXCLUDED.due_at, d.told_at + @between::interval))
		WHERE d.account_id = EXCLUDED.account_id`,
		pgx.NamedArgs{
			"endpoint": lane.EndpointID, "account": lane.AccountID, "failed": failed, "causes": causes,
			"kind": string(gateway.AlertDeliveryFailed), "gather": pace.Gather, "between": pace.Between,
		})
	return wrap("gather failed deliveries", err)
}

// DueDigests lists the endpoints, of all accounts, whose failed deliveries are
// to be told now, the longest due first.
func (s *Store) DueDigests(ctx context.Context, limit int) ([]LaneRef, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT account_id, endpoint_id
		FROM failure_digests
		WHERE due_at <= now()
		ORDER BY due_at
		LIMIT $1`, limit)
	if err != nil {
		return nil, wrap("list due digests", err)
	}
	refs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r LaneRef, err error) {
		return r, row.Scan(&r.AccountID, &r.EndpointID)
	})
	return refs, wrap("list due digests", err)
}

// TakeDigest takes what was gathered of an endpoint and is due, for a mail to be
// written in this transaction. Nothing due is gateway.ErrNotFound.
//
// The promise: it is told once, and not again before its pace allows. Who comes
// second waits for the row, and finds nothing due.
func (t Tx) TakeDigest(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID) (d Digest, err error) {
	err = t.tx.QueryRow(ctx, `
		WITH due AS (
			SELECT endpoint_id, failed, causes, since
			FROM failure_digests
			WHERE endpoint_id = $1
			  AND account_id = $2
			  AND due_at <= now()
			FOR UPDATE
		)
		UPDATE failure_digests d
		SET failed = 0,
		    causes = '{}',
		    since = NULL,
		    due_at = NULL,
		    told_at = now()
		FROM due
		WHERE d.endpoint_id = due.endpoint_id
		  AND d.due_at <= now()
		RETURNING due.failed, due.causes, due.since`, endpoint, account).Scan(&d.Failed, &d.Causes, &d.Since)
	return d, wrap("take digest", err)
}
