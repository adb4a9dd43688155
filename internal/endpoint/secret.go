package endpoint

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// secretPrefix begins every signing secret in text form.
const secretPrefix = "whsec_"

// Rotate adds a signing secret, the given one or a new one, which signs at
// once. Those before it go on signing for the overlap (nil is
// gateway.DefaultOverlap, zero ends them now); one that was to end sooner does.
// Errors: gateway.InvalidError, gateway.ErrNotFound, gateway.ErrTooManySecrets.
func (s *Service) Rotate(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID, overlap *time.Duration, secret *string) (gateway.Secret, error) {
	keepFor := gateway.DefaultOverlap
	added, err := s.newSecret(secret)
	if err := errors.Join(set(&keepFor, overlap, checkOverlap), err); err != nil {
		return gateway.Secret{}, err
	}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		e, err := tx.LockEndpoint(ctx, account, id)
		if err != nil {
			return err
		}
		if err := tx.EndEndpointSecrets(ctx, account, id, keepFor, added.ID); err != nil {
			return err
		}
		if added, err = tx.AddEndpointSecret(ctx, account, id, added); err != nil {
			return err
		}
		return s.audit(ctx, tx, e, actor, "endpoint.secret.rotate", fmt.Sprintf("%s, overlap %s", added.ID, keepFor))
	})
	if err != nil {
		return gateway.Secret{}, err
	}
	return added, nil
}

// EndSecret makes one signing secret end now, before its overlap is over. One
// that has ended is left as it is. Errors: gateway.ErrNotFound, and
// gateway.ErrLastSecret when no other one would stay.
func (s *Service) EndSecret(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID, secretID gateway.SecretID) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		changed, err := tx.EndEndpointSecret(ctx, account, id, secretID)
		if err != nil || !changed {
			return err
		}
		return s.audit(ctx, tx, gateway.Endpoint{ID: id, AccountID: account}, actor, "endpoint.secret.end", secretID.String())
	})
}

// Secrets reveals the live signing secrets, newest first; the audit log tells
// who asked. An endpoint that is not there is gateway.ErrNotFound.
func (s *Service) Secrets(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID) ([]gateway.Secret, error) {
	var live []gateway.Secret
	err := s.store.InTx(ctx, func(tx store.Tx) error {
		e, err := tx.Endpoint(ctx, account, id)
		if err != nil {
			return err
		}
		if live, err = tx.EndpointSecrets(ctx, account, id); err != nil {
			return err
		}
		return s.audit(ctx, tx, e, actor, "endpoint.secret.reveal", "")
	})
	if err != nil {
		return nil, err
	}
	return live, nil
}

// newSecret makes a secret of a caller's text, in its one canonical form, or
// a random one when there is none.
func (s *Service) newSecret(text *string) (gateway.Secret, error) {
	made := gateway.Secret{ID: gateway.SecretID(s.clock.NewID())}
	if text == nil {
		made.Value = signature.NewSecret()
		return made, nil
	}
	key, err := signature.ParseSecret(*text)
	if err != nil {
		return gateway.Secret{}, gateway.Invalid("secret", "%s", err)
	}
	made.Value = secretPrefix + base64.StdEncoding.EncodeToString(key)
	return made, nil
}

func checkOverlap(overlap time.Duration) error {
	if overlap < 0 || overlap > gateway.MaxOverlap {
		return gateway.Invalid("overlap", "want 0s to %s", gateway.MaxOverlap)
	}
	return nil
}
