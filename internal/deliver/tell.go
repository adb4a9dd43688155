package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// digestPace gathers failed deliveries for the mails about them: long enough
// that the first one tells more than one delivery of an outage, and then one an
// hour.
var digestPace = store.DigestPace{Gather: time.Minute, Between: time.Hour}

// tellDisabled tells that the endpoint was disabled, in the transaction that
// did it, and writes the audit log.
func (h *hold) tellDisabled(ctx context.Context, tx store.Tx, health health, reason string, since *time.Time) error {
	s, id := h.service, h.lane.EndpointID
	h.inactive, h.disabled = true, true
	s.Log.Warn("endpoint disabled", "endpoint", id, "account", h.lane.AccountID, "reason", reason)
	err := tx.Audit(ctx, h.lane.AccountID, gateway.ActorRowlock, "endpoint.disable", id.String(), reason, s.Clock.NewID())
	if err != nil {
		return err
	}
	return h.tell(ctx, tx, health, gateway.TypeEndpointDisabled, gateway.EndpointDisabledData{
		EndpointID: id, URL: gateway.PlainURL(h.target.URL), Reason: reason, DisabledAt: s.Clock.Now(), FailingSince: since,
		LastCause: gateway.LastCauseOf(health.cause),
	})
}

// tellFailing tells that the endpoint comes nearer to being disabled, in the
// transaction that counted the failure.
func (h *hold) tellFailing(ctx context.Context, tx store.Tx, health health, counted store.Counted, percent int) error {
	return h.tell(ctx, tx, health, gateway.TypeEndpointFailing, gateway.EndpointFailingData{
		EndpointID: h.lane.EndpointID, URL: gateway.PlainURL(h.target.URL), Percent: percent,
		Failures: counted.Failures, DisableAfter: h.service.DisableAfter, FailingSince: counted.Since,
		LastCause: gateway.LastCauseOf(health.cause),
	})
}

// tell emits an own event. Failures of own events cause none: of those, members
// alone are told.
func (h *hold) tell(ctx context.Context, tx store.Tx, health health, eventType string, what any) error {
	data, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("write own event: %w", err)
	}
	id := h.service.Clock.NewID()
	if health.onlyOwn {
		return tx.AddAlert(ctx, h.lane.AccountID, store.Alert{ID: gateway.AlertID(id), Type: eventType, Data: data})
	}
	return tx.Emit(ctx, h.lane.AccountID, gateway.EventID(id), eventType, data)
}

// tellFailed tells of the deliveries that were given up, in the transaction
// that did it: programs of each one, if any asks, since else an outage would
// double the load for nobody; members of all together.
func (h *hold) tellFailed(ctx context.Context, tx store.Tx, changed map[gateway.AttemptID]bool) error {
	var others []*sent
	causes := map[string]int64{}
	for _, r := range h.unrecorded {
		if r.Status != gateway.DeliveryFailed || !changed[r.Attempt.ID()] {
			continue
		}
		causes[causeKey(r.Attempt.Cause())]++
		if !r.ownEvent {
			others = append(others, r)
		}
	}
	if len(causes) == 0 {
		return nil
	}
	if err := tx.GatherFailed(ctx, h.lane, causes, digestPace); err != nil || len(others) == 0 {
		return err
	}
	asks, err := tx.AsksFor(ctx, h.lane.AccountID, gateway.TypeDeliveryFailed)
	if err != nil || !asks {
		return err
	}
	return h.emitFailed(ctx, tx, others)
}

// emitFailed emits an own event for each delivery, decided by one job.
func (h *hold) emitFailed(ctx context.Context, tx store.Tx, failed []*sent) error {
	own := make([]store.OwnEvent, len(failed))
	now, url := h.service.Clock.Now(), gateway.PlainURL(h.target.URL)
	for i, r := range failed {
		data, err := json.Marshal(gateway.DeliveryFailedData{
			DeliveryID: r.Attempt.DeliveryID, EventID: r.Attempt.EventID, EventType: r.eventType,
			EndpointID: h.lane.EndpointID, URL: url, Attempts: r.Attempt.N, FailedAt: now,
			LastCause: gateway.LastCauseOf(r.Attempt.Cause()),
		})
		if err != nil {
			return fmt.Errorf("write own event: %w", err)
		}
		own[i] = store.OwnEvent{ID: gateway.EventID(h.service.Clock.NewID()), Data: data}
	}
	return tx.EmitAll(ctx, h.lane.AccountID, gateway.TypeDeliveryFailed, own)
}

// causeKey is a cause as it is counted: the answer's status code, or why none
// came.
func causeKey(c gateway.Cause) string {
	if c.ErrorKind != "" || c.StatusCode == 0 {
		return string(c.ErrorKind)
	}
	return strconv.Itoa(c.StatusCode)
}
