package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// AddSourceSecret seals a secret and stores it, and returns it as it is stored.
// It is live from now on.
//
// The promise: at most gateway.MaxLiveSecrets are live, also under race. The
// source's lock puts additions one behind the other, and the insert counts
// what the one before has left: gateway.ErrTooManySecrets.
func (t Tx) AddSourceSecret(ctx context.Context, account gateway.AccountID, source gateway.SourceID, added gateway.Secret) (gateway.Secret, error) {
	if _, err := t.LockSource(ctx, account, source); err != nil {
		return gateway.Secret{}, err
	}
	sealed, err := t.store.seal(sourceSecrets(account, source), added)
	if err != nil {
		return gateway.Secret{}, err
	}
	err = t.tx.QueryRow(ctx, `
		INSERT INTO source_secrets (id, account_id, source_id, sealed, captured)
		SELECT @id, @account, @source, @sealed, @captured
		WHERE (
			SELECT count(*)
			FROM source_secrets
			WHERE source_id = @source
			  AND (ends_at IS NULL OR ends_at > clock_timestamp())
		) < @most
		RETURNING created_at`,
		pgx.NamedArgs{
			"id": added.ID, "account": account, "source": source,
			"sealed": sealed, "captured": added.Captured, "most": gateway.MaxLiveSecrets,
		}).Scan(&added.CreatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		err = gateway.ErrTooManySecrets
	}
	return added, wrap("add source secret", err)
}

// EndSourceSecrets lets every live secret of a source but keep end after the
// overlap. One that ends sooner still does.
func (t Tx) EndSourceSecrets(ctx context.Context, account gateway.AccountID, source gateway.SourceID, overlap time.Duration, keep gateway.SecretID) error {
	_, err := t.tx.Exec(ctx, `
		UPDATE source_secrets
		SET ends_at = LEAST(ends_at, now() + @overlap::interval)
		WHERE source_id = @source
		  AND account_id = @account
		  AND id <> @keep
		  AND (ends_at IS NULL OR ends_at > clock_timestamp())`,
		pgx.NamedArgs{"account": account, "source": source, "overlap": overlap, "keep": keep})
	return wrap("end source secrets", err)
}

// SourcesWithSecret tells which of a page of sources have a live secret.
func (s *Store) SourcesWithSecret(ctx context.Context, account gateway.AccountID, sources []gateway.SourceID) (map[gateway.SourceID]bool, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT DISTINCT source_id
		FROM source_secrets
		WHERE account_id = $1
		  AND source_id = ANY ($2)
		  AND (ends_at IS NULL OR ends_at > clock_timestamp())`, account, sources)
	if err != nil {
		return nil, wrap("read which sources have a secret", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[gateway.SourceID])
	having := make(map[gateway.SourceID]bool, len(found))
	for _, id := range found {
		having[id] = true
	}
	return having, wrap("read which sources have a secret", err)
}

// SourceSecrets reads a source's live secrets, newest first, unsealed.
func (s *Store) SourceSecrets(ctx context.Context, account gateway.AccountID, source gateway.SourceID) ([]gateway.Secret, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id, sealed, '', captured, created_at, ends_at
		FROM source_secrets
		WHERE source_id = $1
		  AND account_id = $2
		  AND (ends_at IS NULL OR ends_at > clock_timestamp())
		ORDER BY id DESC`, source, account)
	if err != nil {
		return nil, wrap("read source secrets", err)
	}
	secrets, err := s.collectSecrets(ctx, sourceSecrets(account, source), rows)
	return secrets, wrap("read source secrets", err)
}
