package deliver

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// claimGrace is how much longer a claim's lease is than its send may take:
	// for the commit before it and the record after it.
	claimGrace = 10 * time.Second
	// recordGrace is how much of a lease must be left when a send ends.
	recordGrace = time.Second
)

// claim claims the keys of what was taken of single-fire types, and returns what
// may be sent: the others went back in this transaction.
func (h *hold) claim(ctx context.Context, tx store.Tx, target store.Target, taken []store.Taken) ([]store.Taken, error) {
	if err := h.override(ctx, tx, taken); err != nil {
		return nil, err
	}
	wanted, err := h.wanted(ctx, tx, taken)
	if err != nil || len(wanted) == 0 {
		return taken, err
	}
	won, err := tx.ClaimTaken(ctx, h.lane, wanted, h.service.timeout(target)+claimGrace)
	if err != nil {
		return nil, err
	}
	if err := h.service.tellTakenInDoubt(ctx, tx, h.lane.AccountID, won); err != nil {
		return nil, err
	}
	return may(taken, won), nil
}

// override has what a person sends although the fact is done go out under the
// same key as before.
func (h *hold) override(ctx context.Context, tx store.Tx, taken []store.Taken) error {
	for i := range taken {
		if t := &taken[i]; t.OverridesClaim != nil {
			var err error
			if t.Claim, err = tx.OverriddenClaim(ctx, h.lane.AccountID, *t.OverridesClaim); err != nil {
				return err
			}
		}
	}
	return nil
}

// wanted are the keys that have to be claimed, each with the endpoint that the
// event was for.
func (h *hold) wanted(ctx context.Context, tx store.Tx, taken []store.Taken) (wanted []store.WantedClaim, err error) {
	var given []gateway.EventID
	for i := range taken {
		t := &taken[i]
		if t.OnDoubt == "" || t.Claim != nil {
			continue
		}
		if t.FailedOver {
			given = append(given, t.EventID)
		}
		wanted = append(wanted, store.WantedClaim{
			Delivery: t.ID, Event: t.EventID, ID: gateway.ClaimID(h.service.Clock.NewID()), Scope: h.lane.EndpointID,
			EventType: t.EventType, Subject: t.Subject, OnDoubt: t.OnDoubt,
		})
	}
	heads, err := tx.HeadsOf(ctx, h.lane.AccountID, h.lane.EndpointID, given)
	if err != nil {
		return nil, err
	}
	for i := range wanted {
		if head, ok := heads[wanted[i].Event]; ok {
			wanted[i].Scope = head
		}
	}
	return wanted, nil
}

// may are those of the taken that need no claim, and those that won theirs.
func may(taken []store.Taken, won []store.WonClaim) []store.Taken {
	byDelivery := make(map[gateway.DeliveryID]*store.WonClaim, len(won))
	for i := range won {
		byDelivery[won[i].Delivery] = &won[i]
	}
	kept := taken[:0]
	for _, t := range taken {
		if t.OnDoubt != "" && t.Claim == nil {
			if t.Claim = byDelivery[t.ID]; t.Claim == nil {
				continue
			}
		}
		kept = append(kept, t)
	}
	return kept
}

// endClaims ends the claims of attempts that are recorded, whatever became of
// their deliveries meanwhile: what a receiver has confirmed it has confirmed.
func (h *hold) endClaims(ctx context.Context, tx store.Tx) error {
	var ends []store.ClaimEnd
	for _, r := range h.unrecorded {
		if r.holdsClaim() {
			ends = append(ends, store.ClaimEnd{ID: r.claim.ID, Fence: r.claim.Fence, Done: r.Attempt.Outcome == gateway.OutcomeSucceeded})
		}
	}
	return tx.EndClaims(ctx, h.lane.AccountID, ends)
}

// claims tells whether results that are to be recorded hold claims. A turn that
// ends claims takes nothing: it holds the rows of some keys, and taking locks
// those of others, in an order of its own.
func (h *hold) claims() bool {
	for _, r := range h.unrecorded {
		if r.holdsClaim() {
			return true
		}
	}
	return false
}

// sendTime is how long a send may take: the endpoint's timeout, and no longer
// than its claim lasts. Zero or less: too late, since the claim could be
// another's before the send has ended.
func (s *Service) sendTime(target store.Target, claim *store.WonClaim) time.Duration {
	timeout := s.timeout(target)
	if claim == nil || claim.Overridden {
		return timeout
	}
	return min(timeout, claim.LeaseExpiresAt.Sub(s.Clock.Now())-recordGrace)
}

func (s *Service) timeout(target store.Target) time.Duration {
	if target.Timeout == 0 {
		return s.Timeout
	}
	return target.Timeout
}
