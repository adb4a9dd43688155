package deliver

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// record stores the results that no transaction has stored yet, and what they
// mean for the endpoint.
func (h *hold) record(ctx context.Context, tx store.Tx, failures int) error {
	if len(h.unrecorded) == 0 {
		return nil
	}
	results := make([]store.Result, len(h.unrecorded))
	for i := range h.unrecorded {
		results[i] = h.unrecorded[i].Result
	}
	changed, err := tx.Record(ctx, h.lane, results)
	if err != nil {
		return err
	}
	if err := h.judge(ctx, tx, failures, changed); err != nil {
		return err
	}
	if err := h.tellFailed(ctx, tx, changed); err != nil {
		return err
	}
	h.noteFailed(results, changed)
	if err := h.endClaims(ctx, tx); err != nil {
		return err
	}
	if err := h.endRelays(ctx, tx); err != nil {
		return err
	}
	var tally store.Stats
	for i := range results {
		r := &results[i]
		if changed[r.Attempt.ID()] && !r.NoAttempt {
			tally.Count(r.Attempt.Outcome, r.Attempt.Duration, r.Status == gateway.DeliveryFailed)
		}
	}
	return tx.AddTally(ctx, h.lane, h.service.Node, tally)
}

// recordApart records results one by one after a turn failed for what is in one
// of them. A failure of any other kind is not theirs: they are kept, and the
// next turn tries again.
func (h *hold) recordApart(ctx context.Context, cause error) {
	if !store.IsDataFault(cause) {
		return
	}
	all := h.unrecorded
	for i, r := range all {
		if err := h.recordSomehow(ctx, r); err != nil {
			h.unrecorded = all[i:]
			return
		}
	}
	h.unrecorded = nil
}

// recordSomehow stores one result: as it is; or without what the far side sent;
// or its delivery's status alone. What the database refuses even then is given
// up, as if we had died before recording it. An error is one that says nothing
// about the result.
func (h *hold) recordSomehow(ctx context.Context, r *sent) error {
	bare := *r
	bare.Attempt.ResponseHeaders, bare.Attempt.ResponseBody, bare.Attempt.Detail = nil, nil, "what came back could not be stored"
	statusAlone := bare
	statusAlone.NoAttempt = true
	var err error
	for _, form := range []*sent{r, &bare, &statusAlone} {
		h.unrecorded = []*sent{form}
		if err = h.recordOnly(ctx); err == nil || !store.IsDataFault(err) {
			return err
		}
	}
	h.uncertain = true
	h.service.Log.Error("a result cannot be recorded", "delivery", r.Attempt.DeliveryID, "attempt", r.Attempt.N, "error", err)
	return nil
}

// recordOnly is a turn that takes nothing.
func (h *hold) recordOnly(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), turnTimeout)
	defer cancel()
	return h.inTx(ctx, func(tx store.Tx) error {
		target, _, err := h.begin(ctx, tx)
		if err != nil {
			return err
		}
		if err := h.record(ctx, tx, target.Failures); err != nil {
			return err
		}
		return h.failOver(ctx, tx)
	})
}
