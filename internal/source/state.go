package source

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// heldBatch is how many held events one transaction lets go on, and one job
// decides: many enough to be quick, few enough to be redone.
const heldBatch = 500

// Pause makes a source hold its events: they come in and are answered, but not
// decided. Pausing a paused one changes nothing. Errors: gateway.ErrNotFound,
// and gateway.ErrBuiltIn for the source of the API.
func (s *Service) Pause(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.SourceID) (gateway.Source, error) {
	return s.setState(ctx, account, actor, id, gateway.SourcePaused)
}

// Resume has a source's events decided, those that are held first. Resuming an
// active one lets go what is still held. Errors: as Pause.
func (s *Service) Resume(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.SourceID) (gateway.Source, error) {
	source, err := s.setState(ctx, account, actor, id, gateway.SourceActive)
	if err != nil {
		return source, err
	}
	return source, s.releaseAll(ctx, account, id)
}

var stateActions = map[gateway.SourceState]string{
	gateway.SourcePaused: "source.pause",
	gateway.SourceActive: "source.resume",
}

func (s *Service) setState(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.SourceID, state gateway.SourceState) (gateway.Source, error) {
	return s.change(ctx, account, id, func(tx store.Tx, source gateway.Source) (gateway.Source, error) {
		changed, err := tx.SetSourceState(ctx, account, id, state)
		if err != nil || !changed {
			return source, err
		}
		if source, err = tx.LockSource(ctx, account, id); err != nil {
			return source, err
		}
		return source, s.audit(ctx, tx, source, actor, stateActions[state], "")
	})
}

// releaseSources bounds how many sources one look for held events returns.
const releaseSources = 100

// ReleaseHeld lets go what is still held at active sources, where a process
// ended in the middle of a resume or of a deletion.
func (s *Service) ReleaseHeld(ctx context.Context) error {
	left, err := s.store.HeldAtActive(ctx, releaseSources)
	if err != nil {
		return err
	}
	for _, source := range left {
		if err := s.releaseAll(ctx, source.AccountID, source.SourceID); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) releaseAll(ctx context.Context, account gateway.AccountID, id gateway.SourceID) error {
	for {
		if more, err := s.releaseHeld(ctx, account, id); err != nil || !more {
			return err
		}
	}
}

// releaseHeld puts one batch of held events back to be decided, together with
// the job that does so, and tells whether there may be more.
func (s *Service) releaseHeld(ctx context.Context, account gateway.AccountID, id gateway.SourceID) (more bool, err error) {
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		events, err := tx.ReopenHeld(ctx, account, id, heldBatch)
		if err != nil || len(events) == 0 {
			return err
		}
		more = len(events) == heldBatch
		return tx.Enqueue(ctx, job.Process{EventIDs: events})
	})
	return more && err == nil, err
}
