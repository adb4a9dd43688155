package deliver

import (
	"context"
	"fmt"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// health is what a group of results says about an endpoint.
type health struct {
	// succeeded: there was a success; failedAfter: the last ones failed.
	succeeded, failedAfter bool
	// gone: the receiver said that it is gone for good.
	gone bool
	// onlyOwn: all failures were of Rowlock's own events, which cause no more
	// of them.
	onlyOwn bool
	// cause is why the last failed, or that the receiver is gone.
	cause gateway.Cause
}

func healthOf(results []*sent, changed map[gateway.AttemptID]bool) health {
	h := health{onlyOwn: true}
	for _, r := range results {
		switch {
		case r.NoAttempt || !changed[r.Attempt.ID()] || r.Attempt.Outcome == gateway.OutcomeUnknown:
		case r.Attempt.Outcome == gateway.OutcomeSucceeded:
			h.succeeded, h.failedAfter = true, false
		default:
			h.failedAfter = true
			if !h.gone {
				h.cause = r.Attempt.Cause()
			}
			h.gone = h.gone || r.answer.IsGone()
			h.onlyOwn = h.onlyOwn && r.ownEvent
		}
	}
	return h
}

// judge writes what the results mean for the endpoint, and only when that
// changes something: a success ends a run of failures, a failure adds to it,
// 410 or the last failure allowed disables.
func (h *hold) judge(ctx context.Context, tx store.Tx, failures int, changed map[gateway.AttemptID]bool) error {
	health := healthOf(h.unrecorded, changed)
	if health.succeeded && failures > 0 {
		if err := tx.ResetFailures(ctx, h.lane); err != nil {
			return err
		}
	}
	switch {
	case health.gone:
		return h.disable(ctx, tx, health, "the receiver answered 410 Gone")
	case health.failedAfter:
		return h.count(ctx, tx, health)
	}
	return nil
}

// count adds to the failures in a row, and tells what that leads to.
func (h *hold) count(ctx context.Context, tx store.Tx, health health) error {
	limit := h.service.DisableAfter
	counted, err := tx.CountFailure(ctx, h.lane, limit)
	switch percent := gateway.FailingPercent(counted.Failures, limit); {
	case err != nil:
		return err
	case counted.Disabled:
		return h.tellDisabled(ctx, tx, health, fmt.Sprintf("%d failures in a row", limit), &counted.Since)
	case percent > 0:
		return h.tellFailing(ctx, tx, health, counted, percent)
	}
	return nil
}

func (h *hold) disable(ctx context.Context, tx store.Tx, health health, reason string) error {
	disabled, err := tx.DisableEndpoint(ctx, h.lane, reason)
	if err != nil || !disabled {
		return err
	}
	return h.tellDisabled(ctx, tx, health, reason, nil)
}
