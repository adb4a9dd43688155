package source

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Secrets are a source's live secrets, newest first. Those that its provider
// sent come with their values, for who has to paste one back, and that is
// audited; the others were pasted here, and are never shown again.
func (s *Service) Secrets(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.SourceID) ([]gateway.Secret, error) {
	source, err := s.store.Source(ctx, account, id)
	if err != nil {
		return nil, err
	}
	secrets, err := s.store.SourceSecrets(ctx, account, id)
	if err != nil {
		return nil, err
	}
	shows := false
	for i := range secrets {
		if secrets[i].Captured {
			shows = true
			continue
		}
		secrets[i].Value = ""
	}
	if !shows {
		return secrets, nil
	}
	err = s.store.InTx(ctx, func(tx store.Tx) error { return s.audit(ctx, tx, source, actor, "source.secret.reveal", "") })
	if err != nil {
		return nil, err
	}
	return secrets, nil
}
