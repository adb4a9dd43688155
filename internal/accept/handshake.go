package accept

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// greet answers a request that is no event. It leaves a trace all the same.
func (s *Service) greet(ctx context.Context, r reception, verified signature.Verified) (Receipt, error) {
	hello := verified.Handshake
	if hello.Secret != "" {
		taken, err := s.takeSecret(ctx, r, hello.Secret)
		if err != nil {
			return Receipt{}, err
		}
		if !taken {
			return Receipt{}, s.refuseSecret(ctx, r)
		}
	}
	if err := s.keep(ctx, r.trace(s, gateway.CauseHandshake, hello.Detail, hello.Answer.Status), nil); err != nil {
		return Receipt{}, err
	}
	return Receipt{Answer: &hello.Answer, Handshake: true}, nil
}

// takeSecret gives the source the secret that its provider sent, if it still
// waits for one.
func (s *Service) takeSecret(ctx context.Context, r reception, sent string) (taken bool, err error) {
	value, err := r.scheme.CheckSecret(sent)
	if err != nil {
		return false, nil // nothing that could ever prove a request
	}
	source := r.source.Source
	added := gateway.Secret{ID: gateway.SecretID(s.clock.NewID()), Value: value, Captured: true}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if taken, err = tx.TakeCapture(ctx, source.AccountID, source.ID); err != nil || !taken {
			return err
		}
		if _, err := tx.AddSourceSecret(ctx, source.AccountID, source.ID, added); err != nil {
			return err
		}
		return tx.Audit(ctx, source.AccountID, gateway.ActorProvider, "source.secret.capture", source.ID.String(), added.ID.String(), s.clock.NewID())
	})
	s.ForgetSources()
	if errors.Is(err, gateway.ErrTooManySecrets) {
		return false, nil
	}
	return taken && err == nil, err
}

// refuseSecret judges the request again as one to a source that waits for
// nothing: it is refused as any unsigned one is.
func (s *Service) refuseSecret(ctx context.Context, r reception) error {
	chosen := r.source.settings.Scheme
	chosen.Capturing = false
	_, err := r.scheme.Verify(r.request(s.clock.Now()), chosen, nil)
	if err == nil {
		err = &signature.Refusal{Code: signature.CodeMismatch, Detail: "This source takes no secret now."}
	}
	return s.keepRefused(ctx, r, err)
}

// withoutSecret is the request without the secret that its provider sends in
// it, whether it is taken or refused: requests are shown to all who may see the
// source, and secrets are not.
func (r reception) withoutSecret(now time.Time) Incoming {
	in := r.in
	sent := r.sentSecret(now)
	if sent == "" {
		return in
	}
	in.Header = in.Header.Clone()
	found := false
	for _, values := range in.Header {
		for i, value := range values {
			found = found || strings.Contains(value, sent)
			values[i] = strings.ReplaceAll(value, sent, gateway.Redacted)
		}
	}
	switch {
	case bytes.Contains(in.Body, []byte(sent)):
		in.Body = bytes.ReplaceAll(in.Body, []byte(sent), []byte(gateway.Redacted))
	case !found: // it is written in a way that only its reader knows
		in.Body = []byte(gateway.Redacted)
	}
	return in
}

// sentSecret is the secret in a handshake; "" in any other request.
func (r reception) sentSecret(now time.Time) string {
	if !r.scheme.Info().Secret.Captured {
		return ""
	}
	chosen := r.source.settings.Scheme
	chosen.Capturing = true
	verified, err := r.scheme.Verify(r.request(now), chosen, nil)
	if err != nil || verified.Handshake == nil {
		return ""
	}
	return verified.Handshake.Secret
}
