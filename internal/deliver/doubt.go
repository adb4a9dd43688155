package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// DoubtEvery is how often claims are looked for whose holder has not said how
	// it went.
	DoubtEvery = 5 * time.Second
	// doubtLimit is how many of them one transaction tells of.
	doubtLimit = 100
	// turnsAtOnce is how many claims that are waited for one look goes over: tens
	// of milliseconds.
	turnsAtOnce = 2000
)

// TellInDoubt tells of single-fire claims whose lease has ended and whose holder
// has not said how it went, each holder once. It returns how many were told of.
func (s *Service) TellInDoubt(ctx context.Context) (told int, err error) {
	for {
		n := 0
		err := s.Store.InTx(ctx, func(tx store.Tx) error {
			doubtful, err := tx.NoteDoubt(ctx, doubtLimit)
			if err != nil {
				return err
			}
			n = len(doubtful)
			return s.tellInDoubt(ctx, tx, doubtful)
		})
		if err != nil {
			return told, err
		}
		if told += n; n < doubtLimit {
			return told, nil
		}
	}
}

// RepairTurns looks over some of the claims that are waited for, and gives on
// turns that nobody else will: see store.Tx.RepairTurns. The next call goes on
// where this one ended.
func (s *Service) RepairTurns(ctx context.Context) error {
	s.turnsMu.Lock()
	defer s.turnsMu.Unlock()
	return s.Store.InTx(ctx, func(tx store.Tx) error {
		next, err := tx.RepairTurns(ctx, s.turns, turnsAtOnce)
		if err == nil {
			s.turns = next
		}
		return err
	})
}

// tellTakenInDoubt tells of the holders before those that have won: where the
// lease had just ended, nobody else has seen it.
func (s *Service) tellTakenInDoubt(ctx context.Context, tx store.Tx, account gateway.AccountID, won []store.WonClaim) error {
	var again []gateway.ClaimID
	for _, w := range won {
		if w.Fence > 1 {
			again = append(again, w.ID)
		}
	}
	doubtful, err := tx.NoteDoubtBefore(ctx, account, again)
	if err != nil {
		return err
	}
	return s.tellInDoubt(ctx, tx, doubtful)
}

func (s *Service) tellInDoubt(ctx context.Context, tx store.Tx, doubtful []gateway.Claim) error {
	for _, c := range doubtful {
		endpoint, err := gateway.ParseID[gateway.EndpointID](c.Scope)
		if err != nil {
			return fmt.Errorf("claim %s: its scope is no endpoint: %w", c.ID, err)
		}
		data, err := json.Marshal(gateway.ClaimDoubtfulData{
			ClaimID: c.ID, EndpointID: endpoint, EventType: c.EventType, Subject: c.Subject, DeliveryID: c.DeliveryID,
			Fence: c.Fence, OnDoubt: c.OnDoubt, LeaseExpiredAt: c.LeaseExpiresAt,
		})
		if err != nil {
			return fmt.Errorf("write %s: %w", gateway.TypeClaimDoubtful, err)
		}
		if err := tx.Emit(ctx, c.AccountID, gateway.EventID(s.Clock.NewID()), gateway.TypeClaimDoubtful, data); err != nil {
			return err
		}
	}
	return nil
}
