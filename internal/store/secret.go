package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
)

// errNoSealer is returned by a Store that was made without a sealer.
var errNoSealer = errors.New("the store was opened without the key of secrets")

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// secretPlace is where a secret belongs. Its bytes are sealed with the secret,
// so that one that is copied to another row, object, table or tenant does not
// open there. They must never change, or what was sealed before does not open.
type secretPlace struct {
	column  string
	account gateway.AccountID
	owner   [16]byte // source or endpoint
}

func sourceSecrets(account gateway.AccountID, source gateway.SourceID) secretPlace {
	return secretPlace{column: "source_secrets.sealed", account: account, owner: source}
}

func endpointSecrets(account gateway.AccountID, endpoint gateway.EndpointID) secretPlace {
	return secretPlace{column: "endpoint_secrets.sealed", account: account, owner: endpoint}
}

// context names one secret of the place. All parts but the column's name have
// a fixed length, so that no two contexts are the same bytes.
func (p secretPlace) context(id gateway.SecretID) []byte {
	return append(secret.Context(p.column, p.account, id), p.owner[:]...)
}

func (s *Store) seal(p secretPlace, plain gateway.Secret) ([]byte, error) {
	if s.sealer == nil {
		return nil, errNoSealer
	}
	return s.sealer.Seal([]byte(plain.Value), p.context(plain.ID))
}

func (s *Store) unseal(ctx context.Context, p secretPlace, id gateway.SecretID, sealed []byte) (string, error) {
	plain, err := s.open(ctx, sealed, p.context(id))
	if err != nil {
		return "", fmt.Errorf("unseal %s: %w", id, err)
	}
	return string(plain), nil
}

// collectSecrets reads rows of id, sealed, public_key, captured, created_at and
// ends_at.
func (s *Store) collectSecrets(ctx context.Context, p secretPlace, rows pgx.Rows) ([]gateway.Secret, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (one gateway.Secret, err error) {
		var sealed []byte
		if err := row.Scan(&one.ID, &sealed, &one.Public, &one.Captured, &one.CreatedAt, &one.EndsAt); err != nil {
			return one, err
		}
		one.Value, err = s.unseal(ctx, p, one.ID, sealed)
		return one, err
	})
}
