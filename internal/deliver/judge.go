package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

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
}

func healthOf(results []*sent, changed map[gateway.AttemptID]bool) health {
	h := health{onlyOwn: true}
	for _, r := range results {
		switch {
		case r.NoAttempt || !changed[r.Attempt.ID()]:
		case r.Attempt.Outcome == gateway.OutcomeSucceeded:
			h.succeeded, h.failedAfter = true, false
		default:
			h.failedAfter = true
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
		disabled, err := tx.CountFailure(ctx, h.lane, h.service.DisableAfter)
		if err != nil || !disabled {
			return err
		}
		return h.tellDisabled(ctx, tx, health, fmt.Sprintf("%d failures in a row", h.service.DisableAfter))
	}
	return nil
}

func (h *hold) disable(ctx context.Context, tx store.Tx, health health, reason string) error {
	disabled, err := tx.DisableEndpoint(ctx, h.lane, reason)
	if err != nil || !disabled {
		return err
	}
	return h.tellDisabled(ctx, tx, health, reason)
}

// disabledEvent is the data of rowlock.endpoint.disabled.
type disabledEvent struct {
	EndpointID gateway.EndpointID `json:"endpoint_id"`
	URL        string             `json:"url"`
	Reason     string             `json:"reason"`
	DisabledAt time.Time          `json:"disabled_at"`
}

// tellDisabled writes the audit log and Rowlock's own event, in the
// transaction that disabled the endpoint.
func (h *hold) tellDisabled(ctx context.Context, tx store.Tx, health health, reason string) error {
	s, id := h.service, h.lane.EndpointID
	h.inactive = true
	s.Log.Warn("endpoint disabled", "endpoint", id, "account", h.lane.AccountID, "reason", reason)
	err := tx.Audit(ctx, h.lane.AccountID, gateway.ActorRowlock, "endpoint.disable", id.String(), reason, s.Clock.NewID())
	if err != nil || health.onlyOwn {
		return err
	}
	data, err := json.Marshal(disabledEvent{EndpointID: id, URL: h.target.URL, Reason: reason, DisabledAt: s.Clock.Now()})
	if err != nil {
		return fmt.Errorf("write own event: %w", err)
	}
	return tx.Emit(ctx, h.lane.AccountID, gateway.EventID(s.Clock.NewID()), gateway.TypeEndpointDisabled, data)
}
