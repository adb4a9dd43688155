// Package account makes tenants and tells who a caller is: accounts, the
// people in them, and their API keys.
package account

import (
	"context"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// Service makes accounts and authenticates callers.
type Service struct {
	store  *store.Store
	clock  *clock.Clock
	hasher hasher
}

// NewService makes a Service.
func NewService(s *store.Store, c *clock.Clock) *Service {
	return &Service{store: s, clock: c, hasher: newHasher()}
}

// Authenticate finds the API key with this text. It asks the database each
// time, so that a key that was ended is refused from then on. An unknown or
// ended key is gateway.ErrNotFound.
func (s *Service) Authenticate(ctx context.Context, keyText string) (gateway.APIKey, error) {
	return s.store.APIKeyByHash(ctx, secret.HashToken(keyText))
}
