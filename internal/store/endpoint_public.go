package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// EndpointPublicKeys lists the public keys that verify what is sent to each of
// these endpoints, newest first. One that signs with shared secrets alone is
// not in the map.
func (s *Store) EndpointPublicKeys(ctx context.Context, account gateway.AccountID, ids []gateway.EndpointID) (map[gateway.EndpointID][]string, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT endpoint_id, public_key
		FROM endpoint_secrets
		WHERE endpoint_id = ANY ($1)
		  AND account_id = $2
		  AND public_key <> ''
		  AND (ends_at IS NULL OR ends_at > clock_timestamp())
		ORDER BY id DESC`, ids, account)
	if err != nil {
		return nil, wrap("read public keys", err)
	}
	keys := map[gateway.EndpointID][]string{}
	var id gateway.EndpointID
	var key string
	_, err = pgx.ForEachRow(rows, []any{&id, &key}, func() error {
		keys[id] = append(keys[id], key)
		return nil
	})
	return keys, wrap("read public keys", err)
}
