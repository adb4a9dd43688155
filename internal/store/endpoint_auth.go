package store

import (
	"context"
	"fmt"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
)

// authColumn names the sealed words of an endpoint's Authorization header in
// what they are sealed with. It must never change, or what was sealed before
// does not open.
const authColumn = "endpoints.auth_sealed"

// authContext is where the words belong: one endpoint of one account.
func authContext(account gateway.AccountID, id gateway.EndpointID) []byte {
	return secret.Context(authColumn, account, id)
}

// SetEndpointAuth seals what an endpoint asks for in the Authorization header
// and stores it in place of what was there; the zero value takes it away.
func (t Tx) SetEndpointAuth(ctx context.Context, account gateway.AccountID, id gateway.EndpointID, auth gateway.Auth) (gateway.Endpoint, error) {
	sealed := []byte{}
	if auth.Kind != gateway.AuthNone {
		var err error
		if sealed, err = t.store.sealAuth(account, id, auth); err != nil {
			return gateway.Endpoint{}, wrap("seal authorization", err)
		}
	}
	rows, err := t.tx.Query(ctx, `
		UPDATE endpoints
		SET auth_kind = $3, auth_sealed = $4, updated_at = now()
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		RETURNING `+endpointFields, id, account, string(auth.Kind), sealed)
	return oneEndpoint("set endpoint's authorization", rows, err)
}

func (s *Store) sealAuth(account gateway.AccountID, id gateway.EndpointID, auth gateway.Auth) ([]byte, error) {
	if s.sealer == nil {
		return nil, errNoSealer
	}
	return s.sealer.Seal([]byte(auth.Header), authContext(account, id))
}

func (s *Store) unsealAuth(ctx context.Context, account gateway.AccountID, id gateway.EndpointID, sealed []byte) (string, error) {
	plain, err := s.open(ctx, sealed, authContext(account, id))
	if err != nil {
		return "", fmt.Errorf("unseal authorization of %s: %w", id, err)
	}
	return string(plain), nil
}
