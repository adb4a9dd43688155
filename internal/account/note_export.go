package account

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// NoteExport notes who has got what an account is set up with.
func (s *Service) NoteExport(ctx context.Context, account gateway.AccountID, by gateway.Actor, what string) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		return s.audit(ctx, tx, account, by, "configuration.export", account.String(), what)
	})
}
