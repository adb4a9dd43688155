package decide

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
)

// TakeTurn is somebody who asks what a filter says, until done is called.
func (s *Service) TakeTurn(ctx context.Context, account gateway.AccountID) (done func(), err error) {
	return s.turns.Take(ctx, account)
}

// ProcessOffer decides what was offered.
func (s *Service) ProcessOffer(ctx context.Context, ids []gateway.EventID) error {
	return s.processOffer(ctx, ids)
}

// LocalQueue is how many places a node has.
const LocalQueue = localQueue
