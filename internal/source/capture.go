package source

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// firstCapture is for how long a new source waits for its first secret. It
	// has none that could be overtaken: years do no harm.
	firstCapture = 10 * 365 * 24 * time.Hour
	// CaptureWait is for how long a source takes another secret that its provider
	// sends: long enough to press a button at the provider.
	CaptureWait = time.Hour
)

// captures tells whether the providers of a kind send its secret themselves.
func captures(kind string) bool {
	scheme, ok := signature.Lookup(kind)
	return ok && scheme.Info().Secret.Captured
}

// Capture lets a source take the next secret that its provider sends, within
// CaptureWait. Those that it has stay live. Errors: gateway.ErrNotFound,
// gateway.ErrBuiltIn, and gateway.InvalidError for a kind whose providers send
// none.
func (s *Service) Capture(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.SourceID) (gateway.Source, error) {
	return s.change(ctx, account, id, func(tx store.Tx, source gateway.Source) (gateway.Source, error) {
		if !captures(source.Kind) {
			return source, gateway.Invalid("kind", "the providers of this kind send no secret: paste it")
		}
		if err := tx.AwaitCapture(ctx, account, id, CaptureWait); err != nil {
			return source, err
		}
		if err := s.audit(ctx, tx, source, actor, "source.secret.await", ""); err != nil {
			return source, err
		}
		return tx.LockSource(ctx, account, id)
	})
}
