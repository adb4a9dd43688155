package account

import (
	"context"
	"errors"
	"time"
)

// PruneEvery is how often what has ended is forgotten.
const PruneEvery = 10 * time.Minute

// Prune forgets sessions and links that have ended, and tries that count no
// more. Nothing waits for it: what has ended is refused before, too.
func (s *Service) Prune(ctx context.Context) error {
	return errors.Join(
		s.store.PruneSessions(ctx),
		s.store.PruneTries(ctx),
		s.store.PrunePasswordResets(ctx),
		s.store.PruneHalfLogins(ctx),
		s.store.PruneEmailChanges(ctx),
		s.store.PruneSetupTokens(ctx))
}
