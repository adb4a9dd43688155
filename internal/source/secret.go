package source

import (
	"context"
	"fmt"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// Rotate adds a secret, which proves requests at once. Those before it go on
// proving for the overlap (nil is gateway.DefaultOverlap, zero ends them now);
// one that was to end sooner does. A source that waits for its provider to send
// a secret waits no more: whoever knows its address could add one beside the one
// that was pasted. What is returned is without the value.
// Errors: gateway.InvalidError, gateway.ErrNotFound, gateway.ErrTooManySecrets,
// and gateway.ErrBuiltIn for the source of the API.
func (s *Service) Rotate(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.SourceID, secret string, overlap *time.Duration) (gateway.Secret, error) {
	keepFor, err := checkOverlap(overlap)
	if err != nil {
		return gateway.Secret{}, err
	}
	added := gateway.Secret{ID: gateway.SecretID(s.clock.NewID())}
	_, err = s.change(ctx, account, id, func(tx store.Tx, source gateway.Source) (gateway.Source, error) {
		if added.Value, err = rotated(source.Kind, secret); err != nil {
			return source, err
		}
		if err := tx.EndSourceSecrets(ctx, account, id, keepFor, added.ID); err != nil {
			return source, err
		}
		if _, err := tx.TakeCapture(ctx, account, id); err != nil {
			return source, err
		}
		if added, err = tx.AddSourceSecret(ctx, account, id, added); err != nil {
			return source, err
		}
		return source, s.audit(ctx, tx, source, actor, "source.secret.rotate", fmt.Sprintf("%s, overlap %s", added.ID, keepFor))
	})
	added.Value = ""
	if err != nil {
		return gateway.Secret{}, err
	}
	return added, nil
}

// rotated checks a secret for a kind that must have one.
func rotated(kind, pasted string) (string, error) {
	scheme, ok := signature.Lookup(kind)
	if !ok {
		return "", gateway.Invalid("kind", "this version knows no such source")
	}
	checked, err := checkSecret(scheme, pasted)
	if err == nil && checked == "" {
		err = gateway.Invalid("secret", "this kind of source has none")
	}
	return checked, err
}

func checkOverlap(overlap *time.Duration) (time.Duration, error) {
	switch {
	case overlap == nil:
		return gateway.DefaultOverlap, nil
	case *overlap < 0 || *overlap > gateway.MaxOverlap:
		return 0, gateway.Invalid("overlap", "want 0s to %s", gateway.MaxOverlap)
	}
	return *overlap, nil
}
