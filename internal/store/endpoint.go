package store

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const endpointFields = `id, account_id, uid, kind, url, description, event_types, headers, retry_schedule_ms, timeout_ms, max_in_flight,
	stop_on, filter, COALESCE(rate_per_second, 0), failover_id, signature, auth_kind, state, disabled_reason, state_changed_at, consecutive_failures, failing_since, created_at, updated_at`

func scanEndpoint(row pgx.CollectableRow) (e gateway.Endpoint, err error) {
	var schedule []int64
	var timeout *int64
	err = row.Scan(&e.ID, &e.AccountID, &e.UID, &e.Kind, &e.URL, &e.Description, &e.EventTypes, &e.Headers, &schedule, &timeout, &e.MaxInFlight,
		&e.StopOn, &e.Filter, &e.RatePerSecond, &e.Failover, &e.Signature, &e.Auth, &e.State, &e.DisabledReason, &e.StateChangedAt, &e.ConsecutiveFailures, &e.FailingSince, &e.CreatedAt, &e.UpdatedAt)
	e.RetrySchedule = fromMillis(schedule)
	if timeout != nil {
		e.Timeout = time.Duration(*timeout) * time.Millisecond
	}
	return e, err
}

// endpointArgs are the columns that a person chooses, and the two ids.
func endpointArgs(account gateway.AccountID, e gateway.Endpoint) pgx.NamedArgs {
	var timeout *int64
	if e.Timeout != 0 {
		ms := e.Timeout.Milliseconds()
		timeout = &ms
	}
	return pgx.NamedArgs{
		"id": e.ID, "account": account, "uid": e.UID, "kind": string(cmp.Or(e.Kind, gateway.EndpointHTTP)), "url": e.URL, "description": e.Description,
		"types": append([]string{}, e.EventTypes...), "headers": notNil(e.Headers),
		"schedule": toMillis(e.RetrySchedule), "timeout": timeout, "in_flight": e.MaxInFlight,
		"stop_on": append([]int{}, e.StopOn...), "filter": e.Filter, "rate": e.RatePerSecond, "failover": e.Failover,
		"signature": string(cmp.Or(e.Signature, gateway.SignatureHMAC)),
	}
}

// toMillis and fromMillis keep the difference between no schedule and one
// without a wait.
func toMillis(waits []time.Duration) []int64 {
	if waits == nil {
		return nil
	}
	ms := make([]int64, len(waits))
	for i, w := range waits {
		ms[i] = w.Milliseconds()
	}
	return ms
}

func fromMillis(ms []int64) []time.Duration {
	if ms == nil {
		return nil
	}
	waits := make([]time.Duration, len(ms))
	for i, n := range ms {
		waits[i] = time.Duration(n) * time.Millisecond
	}
	return waits
}

// CreateEndpoint makes an active endpoint and its lane, and returns it as it
// is stored. most is how many endpoints the account may have; zero is no limit.
//
// The promise: an account never has more, also when many are made at once. The
// account's lock puts creations one behind the other, and the insert counts
// what the one before has left: gateway.ErrLimitReached.
func (t Tx) CreateEndpoint(ctx context.Context, account gateway.AccountID, e gateway.Endpoint, most int) (gateway.Endpoint, error) {
	if err := t.lockAccount(ctx, account); err != nil {
		return gateway.Endpoint{}, err
	}
	args := endpointArgs(account, e)
	args["most"] = most
	rows, err := t.tx.Query(ctx, `
		INSERT INTO endpoints (id, account_id, uid, kind, url, description, event_types, headers,
		                       retry_schedule_ms, timeout_ms, max_in_flight, stop_on, filter, rate_per_second, failover_id, signature)
		SELECT @id::uuid, @account::uuid, @uid, @kind, @url, @description, @types::text[], @headers::bytea,
		       @schedule::bigint[], @timeout::integer, @in_flight::integer, @stop_on::integer[],
		       @filter, NULLIF(@rate::integer, 0), @failover::uuid, @signature
		WHERE @most::integer = 0
		   OR (
			SELECT count(*)
			FROM endpoints
			WHERE account_id = @account
			  AND deleted_at IS NULL
		) < @most
		RETURNING `+endpointFields, args)
	if err != nil {
		return gateway.Endpoint{}, wrap("create endpoint", err)
	}
	made, err := pgx.CollectRows(rows, scanEndpoint)
	switch {
	case err != nil:
		return gateway.Endpoint{}, wrap("create endpoint", err)
	case len(made) == 0:
		return gateway.Endpoint{}, wrap("create endpoint", gateway.ErrLimitReached)
	}
	_, err = t.tx.Exec(ctx, `
		INSERT INTO lanes (endpoint_id, account_id)
		VALUES ($1, $2)`, e.ID, account)
	return made[0], wrap("create lane", err)
}

// UpdateEndpoint writes what a person chose for an endpoint. State, failures,
// secrets and authorization are changed by methods of their own.
func (t Tx) UpdateEndpoint(ctx context.Context, account gateway.AccountID, e gateway.Endpoint) (gateway.Endpoint, error) {
	rows, err := t.tx.Query(ctx, `
		UPDATE endpoints
		SET uid = @uid, url = @url, description = @description, event_types = @types, headers = @headers,
		    retry_schedule_ms = @schedule, timeout_ms = @timeout, max_in_flight = @in_flight, stop_on = @stop_on,
		    filter = @filter, rate_per_second = NULLIF(@rate::integer, 0), failover_id = @failover,
		    signature = @signature, updated_at = now()
		WHERE id = @id
		  AND account_id = @account
		  AND deleted_at IS NULL
		RETURNING `+endpointFields, endpointArgs(account, e))
	return oneEndpoint("update endpoint", rows, err)
}

// LockEndpoint reads an endpoint and makes its other changes wait until this
// transaction ends. Deliveries to it can still be made.
func (t Tx) LockEndpoint(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) (gateway.Endpoint, error) {
	rows, err := t.tx.Query(ctx, `
		SELECT `+endpointFields+`
		FROM endpoints
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		FOR NO KEY UPDATE`, id, account)
	return oneEndpoint("lock endpoint", rows, err)
}

// Endpoint reads an endpoint within the transaction.
func (t Tx) Endpoint(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) (gateway.Endpoint, error) {
	return readEndpoint(ctx, t.tx, account, id)
}

// Endpoint reads an endpoint.
func (s *Store) Endpoint(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) (gateway.Endpoint, error) {
	return readEndpoint(ctx, s.pool, account, id)
}

func readEndpoint(ctx context.Context, q querier, account gateway.AccountID, id gateway.EndpointID) (gateway.Endpoint, error) {
	rows, err := q.Query(ctx, `
		SELECT `+endpointFields+`
		FROM endpoints
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL`, id, account)
	return oneEndpoint("read endpoint", rows, err)
}

// EndpointByUID reads the endpoint that the account calls by this name.
func (s *Store) EndpointByUID(ctx context.Context, account gateway.AccountID, uid string) (gateway.Endpoint, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+endpointFields+`
		FROM endpoints
		WHERE account_id = $1
		  AND uid = $2
		  AND deleted_at IS NULL`, account, uid)
	return oneEndpoint("read endpoint", rows, err)
}

// Endpoints lists an account's endpoints, newest first.
func (s *Store) Endpoints(ctx context.Context, account gateway.AccountID, page Page[gateway.EndpointID]) ([]gateway.Endpoint, error) {
	low, high := page.bounds()
	rows, err := s.pool.Query(ctx, `
		SELECT `+endpointFields+`
		FROM endpoints
		WHERE account_id = @account
		  AND id >= @low
		  AND id < @high
		  AND deleted_at IS NULL
		ORDER BY id DESC
		LIMIT @limit`,
		pgx.NamedArgs{"account": account, "low": low, "high": high, "limit": page.Limit})
	if err != nil {
		return nil, wrap("list endpoints", err)
	}
	endpoints, err := pgx.CollectRows(rows, scanEndpoint)
	return endpoints, wrap("list endpoints", err)
}

func oneEndpoint(doing string, rows pgx.Rows, err error) (gateway.Endpoint, error) {
	if err != nil {
		return gateway.Endpoint{}, wrap(doing, err)
	}
	endpoint, err := pgx.CollectExactlyOneRow(rows, scanEndpoint)
	return endpoint, wrap(doing, err)
}

// CountEndpoints is how many endpoints an account has.
func (s *Store) CountEndpoints(ctx context.Context, account gateway.AccountID) (n int, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT count(*)
		FROM endpoints
		WHERE account_id = $1
		  AND deleted_at IS NULL`, account).Scan(&n)
	return n, wrap("count endpoints", err)
}
