package endpoint

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// Rotate adds a signing secret, the given one or a new one, which signs at
// once, as the endpoint's signature says. Those before it go on signing for the
// overlap (nil is gateway.DefaultOverlap, zero ends them now); one that was to
// end sooner does. Of an Ed25519 key it returns the public half alone. Errors:
// gateway.InvalidError, gateway.ErrNotFound, gateway.ErrTooManySecrets.
func (s *Service) Rotate(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID, overlap *time.Duration, secret *string) (gateway.Secret, error) {
	var added gateway.Secret
	err := s.store.InTx(ctx, func(tx store.Tx) error {
		e, err := tx.LockEndpoint(ctx, account, id)
		if err != nil {
			return err
		}
		keepFor := gateway.DefaultOverlap
		added, err = s.newSecret(e.Signature, secret)
		if err := errors.Join(set(&keepFor, overlap, checkOverlap), err); err != nil {
			return err
		}
		added, err = s.rotate(ctx, tx, e, actor, keepFor, added)
		return err
	})
	if err != nil {
		return gateway.Secret{}, err
	}
	return revealed(added), nil
}

// rotate stores a secret and lets those before it end after the overlap.
func (s *Service) rotate(ctx context.Context, tx store.Tx, e gateway.Endpoint, actor gateway.Actor, overlap time.Duration, added gateway.Secret) (gateway.Secret, error) {
	if err := tx.EndEndpointSecrets(ctx, e.AccountID, e.ID, overlap, added.ID); err != nil {
		return added, err
	}
	added, err := tx.AddEndpointSecret(ctx, e.AccountID, e.ID, added)
	if err != nil {
		return added, err
	}
	return added, s.audit(ctx, tx, e, actor, "endpoint.secret.rotate", fmt.Sprintf("%s, overlap %s", added.ID, overlap))
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

// ExtendSecret lets a secret that is about to end sign for the overlap from
// now on, and returns it without its value; one that would end later still
// does. Errors: gateway.InvalidError, gateway.ErrNotFound,
// gateway.ErrSecretEnded, and gateway.ErrSecretEndless for the newest.
func (s *Service) ExtendSecret(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID, secretID gateway.SecretID, overlap time.Duration) (extended gateway.Secret, err error) {
	if overlap <= 0 || overlap > gateway.MaxOverlap {
		return extended, gateway.Invalid("overlap", "want more than 0s, and at most %s", gateway.MaxOverlap)
	}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if extended, err = tx.ExtendEndpointSecret(ctx, account, id, secretID, overlap); err != nil {
			return err
		}
		return s.audit(ctx, tx, gateway.Endpoint{ID: id, AccountID: account}, actor, "endpoint.secret.extend", fmt.Sprintf("%s, overlap %s", secretID, overlap))
	})
	return extended, err
}

// Secrets reveals the live signing secrets, newest first; the audit log tells
// who asked. Of an Ed25519 key it reveals the public half: nobody but Rowlock
// has a use for the private one. An endpoint that is not there is gateway.ErrNotFound.
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
	for i := range live {
		live[i] = revealed(live[i])
	}
	return live, nil
}

// revealed is a secret as it is told to somebody who may see it.
func revealed(s gateway.Secret) gateway.Secret {
	if s.Public != "" {
		s.Value = ""
	}
	return s
}

// newSecret makes a secret of a caller's text, in its one canonical form, or
// a random one when there is none, that signs as the version says.
func (s *Service) newSecret(version gateway.SignatureVersion, text *string) (gateway.Secret, error) {
	key := signature.NewSigningKey(version)
	if text != nil {
		var err error
		if key, err = signature.ParseSigningKey(*text); err != nil {
			return gateway.Secret{}, gateway.Invalid("secret", "%s", err)
		}
	}
	if key.Version() != version {
		return gateway.Secret{}, gateway.Invalid("secret", "%s", wrongKind[version])
	}
	return gateway.Secret{ID: gateway.SecretID(s.clock.NewID()), Value: key.Secret(), Public: key.Public()}, nil
}

// wrongKind is said of a secret that signs in another way than its endpoint.
var wrongKind = map[gateway.SignatureVersion]string{
	gateway.SignatureHMAC:    "is an Ed25519 key, and this endpoint signs with a shared secret, whsec_…: set its signature to v1a, or leave the secret out",
	gateway.SignatureEd25519: "is a shared secret, and this endpoint signs with Ed25519: give a private key, whsk_…, or leave the secret out",
}

func checkOverlap(overlap time.Duration) error {
	if overlap < 0 || overlap > gateway.MaxOverlap {
		return gateway.Invalid("overlap", "want 0s to %s", gateway.MaxOverlap)
	}
	return nil
}
