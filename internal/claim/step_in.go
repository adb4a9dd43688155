package claim

import (
	"context"
	"fmt"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// actionReclaim is what the audit log calls it when a person frees a claim.
const actionReclaim = "claim.reclaim"

// Reclaim frees a claim that somebody holds, whether its lease has ended or not:
// the next who asks holds it. A fence above zero is the one that the presser
// saw. Errors: gateway.ErrNotFound, gateway.ErrStateChanged when nobody holds
// it, or another than was seen; gateway.InvalidError for the reason.
func (s *Service) Reclaim(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.ClaimID, fence int64, reason string) (gateway.Claim, error) {
	return s.stepIn(ctx, account, actor, id, actionReclaim, reason, func(tx store.Tx) (gateway.Claim, bool, error) {
		return tx.ReclaimClaim(ctx, account, id, fence, actor, reason)
	})
}

// Resolve says that the thing is done: nobody will do it any more. fence is the
// one that the presser saw. Errors: as Reclaim, with gateway.ErrFenceStale when
// somebody else has claimed it since.
func (s *Service) Resolve(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.ClaimID, fence int64, reason string) (gateway.Claim, error) {
	return s.stepIn(ctx, account, actor, id, "claim.resolve", reason, func(tx store.Tx) (c gateway.Claim, changed bool, err error) {
		c, changed, err = tx.ResolveClaim(ctx, account, id, fence, actor, reason)
		if err != nil || changed {
			return c, changed, err
		}
		if now, err := tx.ClaimNow(ctx, account, id); err != nil || now.Fence != fence {
			return now, false, orStale(err)
		}
		return c, false, nil
	})
}

func orStale(err error) error {
	if err != nil {
		return err
	}
	return gateway.ErrFenceStale
}

// stepIn is a person's change of a claim, with why. Of several at once one has
// an effect.
func (s *Service) stepIn(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.ClaimID, action, reason string, do func(store.Tx) (gateway.Claim, bool, error)) (c gateway.Claim, err error) {
	if err := gateway.CheckReason(reason); err != nil {
		return c, err
	}
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		var changed bool
		if c, changed, err = do(tx); err != nil {
			return err
		}
		if !changed {
			if c, err = tx.ClaimNow(ctx, account, id); err != nil {
				return err
			}
			return gateway.ErrStateChanged
		}
		if c.IsSingleFire() {
			if err := tx.SettleWaiting(ctx, c); err != nil {
				return err
			}
		}
		return tx.Audit(ctx, account, actor, action, id.String(), auditDetail(c, reason), s.Clock.NewID())
	})
	return c, err
}

// auditDetail is what the audit log says of a claim in which a person stepped in.
func auditDetail(c gateway.Claim, reason string) string {
	return fmt.Sprintf("%s, fence %d: %s", c.Scope, c.Fence, reason)
}
