package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
)

// The two reads that make a Target: the endpoint's row, which the caller can
// narrow further, and its live secrets, newest first.
const (
	targetRow = `
		SELECT p.kind, p.url, p.headers, p.retry_schedule_ms, p.timeout_ms, p.max_in_flight, p.stop_on,
		       COALESCE(p.rate_per_second, 0), p.consecutive_failures, p.failover_id, p.state, p.auth_kind, p.auth_sealed,
		       p.kind = 'listen' AND EXISTS (SELECT FROM listeners x WHERE x.endpoint_id = p.id AND ` + listenerIsThere + `),
		       (SELECT ` + lentTo + ` FROM accounts a WHERE a.id = p.account_id)
		FROM endpoints p
		WHERE p.id = $1
		  AND p.account_id = $2
		  AND p.deleted_at IS NULL`
	targetKeys = `
		SELECT id, sealed, public_key, false, created_at, ends_at
		FROM endpoint_secrets
		WHERE endpoint_id = $1
		  AND account_id = $2
		  AND (ends_at IS NULL OR ends_at > now())
		ORDER BY id DESC`
)

// EndpointTarget reads what is needed to send to an endpoint outside of its
// lane, whatever its state.
func (s *Store) EndpointTarget(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) (Target, error) {
	batch := &pgx.Batch{}
	batch.Queue(targetRow, id, account)
	batch.Queue(targetKeys, id, account)
	return s.collectTarget(ctx, LaneRef{AccountID: account, EndpointID: id}, s.pool.SendBatch(ctx, batch))
}

// collectTarget reads the answers to targetRow and targetKeys.
func (s *Store) collectTarget(ctx context.Context, of LaneRef, results pgx.BatchResults) (Target, error) {
	defer results.Close() //nolint:errcheck // an error shows in the reads
	target, err := s.scanTarget(ctx, of, results.QueryRow())
	if err != nil {
		return target, wrap("read endpoint", err)
	}
	rows, err := results.Query()
	if err != nil {
		return target, wrap("read signing secrets", err)
	}
	target.Secrets, err = s.collectSecrets(ctx, endpointSecrets(of.AccountID, of.EndpointID), rows)
	if errors.Is(err, secret.ErrUnsealable) {
		target.Secrets, target.Unsealable, err = nil, true, nil
	}
	return target, wrap("read signing secrets", err)
}

func (s *Store) scanTarget(ctx context.Context, of LaneRef, row pgx.Row) (target Target, err error) {
	var schedule []int64
	var timeout *int64
	var sealed []byte
	var lent string
	err = row.Scan(&target.Kind, &target.URL, &target.Headers, &schedule, &timeout, &target.MaxInFlight, &target.StopOn,
		&target.RatePerSecond, &target.Failures, &target.Failover, &target.State, &target.Auth.Kind, &sealed, &target.Listened, &lent)
	if err != nil {
		return target, err
	}
	if target.Lent, err = parseLent(lent); err != nil {
		return target, err
	}
	target.RetrySchedule = fromMillis(schedule)
	if timeout != nil {
		target.Timeout = time.Duration(*timeout) * time.Millisecond
	}
	if target.Auth.Kind == gateway.AuthNone {
		return target, nil
	}
	target.Auth.Header, err = s.unsealAuth(ctx, of.AccountID, of.EndpointID, sealed)
	if errors.Is(err, secret.ErrUnsealable) {
		target.AuthUnsealable, err = true, nil
	}
	return target, err
}
