package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// AddEndpointSecret seals a signing secret and stores it, and returns it as it
// is stored. It signs from now on.
//
// The promise: at most gateway.MaxLiveSecrets are live, also under race. The
// endpoint's lock puts additions one behind the other, and the insert counts
// what the one before has left: gateway.ErrTooManySecrets.
func (t Tx) AddEndpointSecret(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, added gateway.Secret) (gateway.Secret, error) {
	if _, err := t.LockEndpoint(ctx, account, endpoint); err != nil {
		return gateway.Secret{}, err
	}
	sealed, err := t.store.seal(endpointSecrets(account, endpoint), added)
	if err != nil {
		return gateway.Secret{}, err
	}
	err = t.tx.QueryRow(ctx, `
		INSERT INTO endpoint_secrets (id, account_id, endpoint_id, sealed, public_key)
		SELECT @id, @account, @endpoint, @sealed, @public
		WHERE (
			SELECT count(*)
			FROM endpoint_secrets
			WHERE endpoint_id = @endpoint
			  AND (ends_at IS NULL OR ends_at > clock_timestamp())
		) < @most
		RETURNING created_at`,
		pgx.NamedArgs{
			"id": added.ID, "account": account, "endpoint": endpoint,
			"sealed": sealed, "public": added.Public, "most": gateway.MaxLiveSecrets,
		}).Scan(&added.CreatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		err = gateway.ErrTooManySecrets
	}
	return added, wrap("add endpoint secret", err)
}

// EndEndpointSecrets lets every live secret of an endpoint but keep end after
// the overlap. One that ends sooner still does.
func (t Tx) EndEndpointSecrets(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, overlap time.Duration, keep gateway.SecretID) error {
	_, err := t.tx.Exec(ctx, `
		UPDATE endpoint_secrets
		SET ends_at = LEAST(ends_at, now() + @overlap::interval)
		WHERE endpoint_id = @endpoint
		  AND account_id = @account
		  AND id <> @keep
		  AND (ends_at IS NULL OR ends_at > clock_timestamp())`,
		pgx.NamedArgs{"account": account, "endpoint": endpoint, "overlap": overlap, "keep": keep})
	return wrap("end endpoint secrets", err)
}

// EndEndpointSecret makes one secret end now and tells whether that changed
// anything: one that has ended already is left as it is.
//
// The promise: an endpoint never runs out of secrets. Under the endpoint's
// lock, another one must be live that has no end set: gateway.ErrLastSecret.
func (t Tx) EndEndpointSecret(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, id gateway.SecretID) (bool, error) {
	if _, err := t.LockEndpoint(ctx, account, endpoint); err != nil {
		return false, err
	}
	tag, err := t.tx.Exec(ctx, `
		UPDATE endpoint_secrets
		SET ends_at = clock_timestamp()
		WHERE id = @id
		  AND account_id = @account
		  AND endpoint_id = @endpoint
		  AND (ends_at IS NULL OR ends_at > clock_timestamp())
		  AND EXISTS (
			SELECT
			FROM endpoint_secrets other
			WHERE other.endpoint_id = @endpoint
			  AND other.id <> @id
			  AND other.ends_at IS NULL
		)`, pgx.NamedArgs{"account": account, "endpoint": endpoint, "id": id})
	if err != nil {
		return false, wrap("end endpoint secret", err)
	}
	if tag.RowsAffected() == 1 {
		return true, nil
	}
	return false, wrap("end endpoint secret", t.whyNotEnded(ctx, account, endpoint, id))
}

// whyNotEnded tells a secret that is not there and the last one from one that
// has ended already, which is no error.
func (t Tx) whyNotEnded(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, id gateway.SecretID) error {
	var live bool
	err := t.tx.QueryRow(ctx, `
		SELECT ends_at IS NULL OR ends_at > clock_timestamp()
		FROM endpoint_secrets
		WHERE id = $1
		  AND endpoint_id = $2
		  AND account_id = $3`, id, endpoint, account).Scan(&live)
	if err == nil && live {
		return gateway.ErrLastSecret
	}
	return err
}

// EndpointSecrets reads an endpoint's live secrets within the transaction,
// newest first, unsealed.
func (t Tx) EndpointSecrets(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID) ([]gateway.Secret, error) {
	return t.store.readEndpointSecrets(ctx, t.tx, account, endpoint)
}

// EndpointSecrets reads an endpoint's live secrets, newest first, unsealed.
func (s *Store) EndpointSecrets(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID) ([]gateway.Secret, error) {
	return s.readEndpointSecrets(ctx, s.pool, account, endpoint)
}

// EndpointSecretTimes lists an endpoint's live secrets, newest first, without
// their values: from when to when each of them signs, and what verifies it
// where that is no secret.
func (s *Store) EndpointSecretTimes(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID) ([]gateway.Secret, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id, public_key, created_at, ends_at
		FROM endpoint_secrets
		WHERE endpoint_id = $1
		  AND account_id = $2
		  AND (ends_at IS NULL OR ends_at > clock_timestamp())
		ORDER BY id DESC`, endpoint, account)
	if err != nil {
		return nil, wrap("list endpoint secrets", err)
	}
	live, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (one gateway.Secret, err error) {
		return one, row.Scan(&one.ID, &one.Public, &one.CreatedAt, &one.EndsAt)
	})
	return live, wrap("list endpoint secrets", err)
}

func (s *Store) readEndpointSecrets(ctx context.Context, q querier, account gateway.AccountID, endpoint gateway.EndpointID) ([]gateway.Secret, error) {
	rows, err := q.Query(ctx, `
		SELECT id, sealed, public_key, false, created_at, ends_at
		FROM endpoint_secrets
		WHERE endpoint_id = $1
		  AND account_id = $2
		  AND (ends_at IS NULL OR ends_at > clock_timestamp())
		ORDER BY id DESC`, endpoint, account)
	if err != nil {
		return nil, wrap("read endpoint secrets", err)
	}
	secrets, err := s.collectSecrets(ctx, endpointSecrets(account, endpoint), rows)
	return secrets, wrap("read endpoint secrets", err)
}
