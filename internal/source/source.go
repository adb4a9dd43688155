// Package source keeps where events come from: its kind, its ingest token, its
// settings, its state and the secrets that prove its requests. Every change is
// written to the audit log.
package source

import (
	"context"
	"strings"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// tokenPrefix begins every ingest token, so that one that turns up somewhere
// can be told from other secrets.
const tokenPrefix = "in_"

// Options are what a Service is made of.
type Options struct {
	Store *store.Store
	Clock *clock.Clock
	// Changed is told after a source was changed, so that nothing older is
	// used of it. It must not block. May be nil.
	Changed func()
}

// Service makes and changes sources.
type Service struct {
	store   *store.Store
	clock   *clock.Clock
	changed func()
}

// New makes a Service.
func New(o Options) *Service {
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return &Service{store: o.Store, clock: o.Clock, changed: o.Changed}
}

// Create makes an active source with an ingest token and, where its kind has
// one, its secret. Errors: gateway.InvalidError, joined if there are several;
// gateway.ErrUIDTaken.
func (s *Service) Create(ctx context.Context, account gateway.AccountID, actor gateway.Actor, in Input) (gateway.Source, error) {
	made := gateway.Source{ID: gateway.SourceID(s.clock.NewID()), Token: secret.NewToken(tokenPrefix)}
	proof, err := in.fillNew(&made)
	if err != nil {
		return gateway.Source{}, err
	}
	if proof == "" && captures(made.Kind) {
		made.CaptureUntil = new(s.clock.Now().Add(firstCapture))
	}
	err = s.store.InTx(ctx, func(tx store.Tx) (err error) {
		if made, err = tx.CreateSource(ctx, account, made); err != nil {
			return err
		}
		if err := s.addSecret(ctx, tx, made, proof); err != nil {
			return err
		}
		return s.audit(ctx, tx, made, actor, "source.create", made.Kind)
	})
	if err != nil {
		return gateway.Source{}, err
	}
	return made, nil
}

// addSecret stores a new source's secret; an empty one is none.
func (s *Service) addSecret(ctx context.Context, tx store.Tx, source gateway.Source, value string) error {
	if value == "" {
		return nil
	}
	added := gateway.Secret{ID: gateway.SecretID(s.clock.NewID()), Value: value}
	_, err := tx.AddSourceSecret(ctx, source.AccountID, source.ID, added)
	return err
}

// Update changes what the input holds and leaves the rest; settings are
// replaced as a whole. Errors: as Create, gateway.ErrNotFound, and
// gateway.ErrBuiltIn for the source of the API.
func (s *Service) Update(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.SourceID, in Input) (gateway.Source, error) {
	return s.change(ctx, account, id, func(tx store.Tx, source gateway.Source) (gateway.Source, error) {
		if err := in.applyTo(&source); err != nil {
			return source, err
		}
		given := in.given()
		if len(given) == 0 {
			return source, nil
		}
		source, err := tx.UpdateSource(ctx, account, source)
		if err != nil {
			return source, err
		}
		return source, s.audit(ctx, tx, source, actor, "source.update", strings.Join(given, ", "))
	})
}

// Delete ends a source and its ingest URL; what came from it stays, and what it
// holds is decided. Errors: gateway.ErrNotFound, and gateway.ErrBuiltIn for the
// source of the API.
func (s *Service) Delete(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.SourceID) error {
	_, err := s.change(ctx, account, id, func(tx store.Tx, source gateway.Source) (gateway.Source, error) {
		if err := tx.DeleteSource(ctx, account, id); err != nil {
			return source, err
		}
		return source, s.audit(ctx, tx, source, actor, "source.delete", "")
	})
	if err != nil {
		return err
	}
	// The source is gone, whatever comes of this: asking again would find
	// nothing to delete. What is still held is left to ReleaseHeld.
	_ = s.releaseAll(ctx, account, id)
	return nil
}

// change runs do on a locked source in a transaction, and tells of it when
// that is committed.
func (s *Service) change(ctx context.Context, account gateway.AccountID, id gateway.SourceID, do func(store.Tx, gateway.Source) (gateway.Source, error)) (gateway.Source, error) {
	var source gateway.Source
	err := s.store.InTx(ctx, func(tx store.Tx) (err error) {
		if source, err = tx.LockSource(ctx, account, id); err != nil {
			return err
		}
		if source.Kind == gateway.SourceKindAPI {
			return gateway.ErrBuiltIn
		}
		source, err = do(tx, source)
		return err
	})
	if err != nil {
		return gateway.Source{}, err
	}
	s.changed()
	return source, nil
}

func (s *Service) audit(ctx context.Context, tx store.Tx, source gateway.Source, actor gateway.Actor, action, detail string) error {
	return tx.Audit(ctx, source.AccountID, actor, action, source.ID.String(), detail, s.clock.NewID())
}
