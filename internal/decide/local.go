package decide

import (
	"context"
	"sync"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// localDeciders is how many transactions decide what this node has just
	// accepted.
	localDeciders = 2
	// localQueue is how many group commits wait for them. What finds no place
	// is left to its job.
	localQueue = 16
)

// Offer has events decided that were just committed on this node, without
// waiting for their job, which then finds nothing to do. It does not block; on
// a node that is busy, or does not Run, the job does it all.
func (s *Service) Offer(ids []gateway.EventID) {
	select {
	case s.local <- ids:
	default:
	}
}

// Run decides what is offered until ctx ends.
func (s *Service) Run(ctx context.Context) {
	var all sync.WaitGroup
	for range localDeciders {
		all.Go(func() { s.decideOffers(ctx) })
	}
	all.Wait()
}

// decideOffers finishes what it has begun: a stop must not fail it half-way
// into a log line. What fails is left to the job.
func (s *Service) decideOffers(ctx context.Context) {
	for {
		select {
		case ids := <-s.local:
			if err := s.processOffer(context.WithoutCancel(ctx), ids); err != nil {
				s.log.Warn("deciding is left to the job", "events", len(ids), "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// processOffer is Process for what was offered. What would have to wait, for much
// that came before it or for somebody else, is left to the job: the jobs come to
// that in its order.
func (s *Service) processOffer(ctx context.Context, ids []gateway.EventID) error {
	_, err := s.inOrder(ctx, ids, false)
	return err
}
