package account

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// CloseGrace is how long an account that is to be deleted can be restored: over
// a holiday of who would miss it.
const CloseGrace = 7 * 24 * time.Hour

// Close has an account deleted when CloseGrace is over, and returns when that
// is. Until then its sources hold what comes in, its endpoints send nothing, and
// nothing can be changed. All members are told by mail. Errors:
// gateway.ErrStateChanged for one that is about to be deleted already,
// gateway.ErrOwnerNeeded.
func (s *Service) Close(ctx context.Context, account gateway.Account, who Person) (deleteAt time.Time, err error) {
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if deleteAt, err = tx.CloseAccount(ctx, account.ID, actorOf(who.ID), CloseGrace); err != nil {
			return err
		}
		if err := s.mailMembers(ctx, tx, account.ID, func(to string) store.Mail { return closedMail(s.baseURL, to, who.Name, account, deleteAt) }); err != nil {
			return err
		}
		return s.audit(ctx, tx, account.ID, actorOf(who.ID), "account.close", account.ID.String(), "to be deleted at "+deleteAt.UTC().Format(time.DateTime)+" UTC")
	})
	return deleteAt, err
}

// Restore takes back that an account is deleted: what went on before goes on,
// with all that has come in since. All members are told by mail. Errors:
// gateway.ErrStateChanged for one that is not to be deleted, or is already;
// gateway.ErrOwnerNeeded.
func (s *Service) Restore(ctx context.Context, account gateway.Account, who Person) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.RestoreAccount(ctx, account.ID, actorOf(who.ID)); err != nil {
			return err
		}
		if err := s.mailMembers(ctx, tx, account.ID, func(to string) store.Mail { return restoredMail(s.baseURL, to, who.Name, account) }); err != nil {
			return err
		}
		return s.audit(ctx, tx, account.ID, actorOf(who.ID), "account.restore", account.ID.String(), "")
	})
}

func (s *Service) mailMembers(ctx context.Context, tx store.Tx, account gateway.AccountID, write func(to string) store.Mail) error {
	addresses, err := tx.MemberAddresses(ctx, account)
	if err != nil {
		return err
	}
	return s.mailAll(ctx, tx, addresses, write)
}

func (s *Service) mailAll(ctx context.Context, tx store.Tx, addresses []string, write func(to string) store.Mail) error {
	for _, to := range addresses {
		if err := s.addMail(ctx, tx, write(to)); err != nil {
			return err
		}
	}
	return nil
}
