package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// ReportRelays notes how relays ended that a listener had, and returns those of
// which this is known now, whether by this report or by one before. The others
// were given up: whoever has them confirmed must not send them again.
//
// The promise: a report that is noted is what is recorded, and no other. It is
// noted once, on a relay that is this listener's and has not ended.
func (t Tx) ReportRelays(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, listener string, reports []gateway.Attempt) (map[gateway.AttemptID]bool, error) {
	var c attemptColumns
	for i := range reports {
		c.add(&reports[i])
	}
	known := make(map[gateway.AttemptID]bool, len(reports))
	if len(reports) == 0 {
		return known, nil
	}
	low, high := idRange(c.deliveries)
	batch := &pgx.Batch{}
	batch.Queue(noteReports,
		endpoint, account, listener, c.deliveries, c.numbers, c.durations, c.dns, c.connect, c.tls, c.firstByte,
		c.outcomes, c.kinds, c.details, c.codes, c.responseHeaders, c.responseBodies)
	batch.Queue(knownReports, endpoint, account, listener, c.deliveries, c.numbers, low, high).
		Query(func(rows pgx.Rows) error {
			var id gateway.DeliveryID
			var n int
			_, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error {
				known[gateway.DeriveAttemptID(id, n)] = true
				return nil
			})
			return err
		})
	if err := t.tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, wrap("report relays", err)
	}
	return known, t.tellRelays(ctx, endpoint)
}

const noteReports = `
	WITH open AS (
		SELECT r.delivery_id, r.n
		FROM relays r
		JOIN unnest($4::uuid[], $5::int[]) u (delivery_id, n)
		  ON u.delivery_id = r.delivery_id
		 AND u.n = r.n
		WHERE r.endpoint_id = $1
		  AND r.account_id = $2
		  AND r.listener = $3
		  AND r.reported_at IS NULL
		  AND r.given_up_at IS NULL
		ORDER BY r.delivery_id, r.n
		FOR UPDATE OF r
	)
	UPDATE relays r
	SET reported_at = clock_timestamp(),
	    duration_us = u.duration_us,
	    dns_us = u.dns_us,
	    connect_us = u.connect_us,
	    tls_us = u.tls_us,
	    first_byte_us = u.first_byte_us,
	    outcome = u.outcome,
	    error_kind = u.error_kind,
	    detail = u.detail,
	    status_code = u.status_code,
	    response_headers = u.response_headers,
	    response_body = u.response_body
	FROM open o
	JOIN unnest($4::uuid[], $5::int[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[],
	            $11::text[], $12::text[], $13::text[], $14::int[], $15::bytea[], $16::bytea[])
	  AS u (delivery_id, n, duration_us, dns_us, connect_us, tls_us, first_byte_us,
	        outcome, error_kind, detail, status_code, response_headers, response_body)
	  ON u.delivery_id = o.delivery_id
	 AND u.n = o.n
	WHERE r.delivery_id = o.delivery_id
	  AND r.n = o.n`

// knownReports finds those that were noted, now or before: the relay of one of
// before may be recorded by now.
const knownReports = `
	SELECT r.delivery_id, r.n
	FROM relays r
	JOIN unnest($4::uuid[], $5::int[]) u (delivery_id, n)
	  ON u.delivery_id = r.delivery_id
	 AND u.n = r.n
	WHERE r.endpoint_id = $1
	  AND r.account_id = $2
	  AND r.listener = $3
	  AND r.reported_at IS NOT NULL
	UNION ALL
	SELECT a.delivery_id, a.n
	FROM attempts a
	JOIN unnest($4::uuid[], $5::int[]) u (delivery_id, n)
	  ON u.delivery_id = a.delivery_id
	 AND u.n = a.n
	WHERE a.delivery_id = ANY ($4)
	  AND a.delivery_id BETWEEN $6 AND $7
	  AND a.endpoint_id = $1
	  AND a.account_id = $2
	  AND a.outcome <> 'unknown'`
