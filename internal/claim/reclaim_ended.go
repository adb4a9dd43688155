package claim

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// endedBatch is how many claims one transaction frees.
	endedBatch = 100
	// endedBatches bounds what one press does, so that its answer does not wait
	// long.
	endedBatches = 50
)

// Reclaimed is what ReclaimEnded did.
type Reclaimed struct {
	// N is how many were freed.
	N int
	// More tells that there may be others: pressing again goes on.
	More bool
}

// ReclaimEnded frees claims whose lease had ended when the presser looked. One
// whose lease lasts is left alone, also where somebody has claimed it since. Each
// is in the audit log. Errors: gateway.InvalidError for the reason.
func (s *Service) ReclaimEnded(ctx context.Context, account gateway.AccountID, actor gateway.Actor, ended store.EndedClaims, reason string) (done Reclaimed, err error) {
	if err := gateway.CheckReason(reason); err != nil {
		return done, err
	}
	for range endedBatches {
		n := 0
		err := s.Store.InTx(ctx, func(tx store.Tx) error {
			freed, err := tx.ReclaimEnded(ctx, account, ended, endedBatch, actor, reason)
			if n = len(freed); err != nil || n == 0 {
				return err
			}
			return s.settleFreed(ctx, tx, account, actor, freed, reason)
		})
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, nil
		}
		done.N += n
	}
	done.More = true
	return done, nil
}

// settleFreed gives on the turns of claims that a person has freed, and writes
// each into the audit log.
func (s *Service) settleFreed(ctx context.Context, tx store.Tx, account gateway.AccountID, actor gateway.Actor, freed []gateway.Claim, reason string) error {
	var facts []gateway.ClaimID
	lines := make([]store.AuditLine, len(freed))
	for i, c := range freed {
		lines[i] = store.AuditLine{ID: gateway.AuditID(s.Clock.NewID()), Object: c.ID.String(), Detail: auditDetail(c, reason)}
		if c.IsSingleFire() {
			facts = append(facts, c.ID)
		}
	}
	if err := tx.SettleFreed(ctx, facts); err != nil {
		return err
	}
	return tx.AuditMany(ctx, account, actor, actionReclaim, lines)
}
