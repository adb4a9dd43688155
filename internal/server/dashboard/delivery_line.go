package dashboard

import (
	"slices"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// deliveryLines are an event's deliveries, by what their endpoints are called.
func (v *visit) deliveryLines(s story) []page.DeliveryLine {
	took := map[gateway.DeliveryID]time.Duration{}
	for _, a := range s.attempts { // the newest stays
		took[a.DeliveryID] = a.Duration
	}
	lines, endpoints := make([]page.DeliveryLine, len(s.deliveries)), s.endpoints()
	for i, d := range s.deliveries {
		lines[i] = v.deliveryLine(d.Delivery, d.Endpoint, s.gone())
		lines[i].Took = took[d.ID]
		lines[i].Failovers = v.failoverLinks(d.Delivery, endpoints)
		if d.ClaimID == nil {
			continue
		}
		if tie, ok := v.claimTie(d.Delivery, s.claims[*d.ClaimID]); ok {
			lines[i].Failovers = append(lines[i].Failovers, tie)
		}
	}
	slices.SortStableFunc(lines, func(a, b page.DeliveryLine) int {
		return strings.Compare(strings.ToLower(a.Endpoint), strings.ToLower(b.Endpoint))
	})
	return lines
}

// deliveryLine is one of them; gone tells that there is nothing left to send.
func (v *visit) deliveryLine(d gateway.Delivery, endpoint store.EndpointLabel, gone bool) page.DeliveryLine {
	line := page.DeliveryLine{
		ID: d.ID.String(), Href: v.at("deliveries", d.ID.String()),
		Endpoint: called(endpoint), Deleted: endpoint.Deleted, Status: deliveryState(d),
		Code: d.LastCause.StatusCode, Attempts: d.Attempts,
	}
	if endpoint.Description != "" {
		line.Host = page.EndpointAddress(endpoint.URL)
	}
	switch {
	case d.LastOutcome != nil:
		line.Failure, line.Tone = failure(*d.LastOutcome, d.LastCause)
	case d.LastCause.ErrorKind != "":
		line.Failure, line.Tone = page.CauseName(d.LastCause), component.ToneBad
	}
	line.NextAt, line.Next = d.NextAttemptAt, ""
	if d.NextAttemptAt != nil && !d.NextAttemptAt.After(v.now()) {
		line.NextAt, line.Next = nil, "due now"
	}
	if d.Status == gateway.DeliveryHeld {
		line.NextAt, line.Next = nil, "goes on when resumed"
	}
	if d.WaitingOn != nil {
		line.NextAt, line.Next = nil, "waits for its turn"
	}
	if !gone && !endpoint.Deleted {
		line.Action, line.Ask = deliveryAct(d)
		line.Primary = line.Action == retryNow
	}
	return line
}

const (
	retryNow      = "Retry now"
	sendNow       = "Send now"
	redeliverVerb = "Redeliver"
)

// deliveryAct is what can be done with a delivery in a state, and whether that
// is asked first.
func deliveryAct(d gateway.Delivery) (verb string, ask bool) {
	if d.WaitingOn != nil { // the claim's page has what can be done
		return "", false
	}
	switch d.Status {
	case gateway.DeliveryPending:
		if deliveryState(d) == string(gateway.ProgressRetrying) {
			return retryNow, false
		}
		return sendNow, false
	case gateway.DeliveryDelivered, gateway.DeliverySuppressed:
		return redeliverVerb, true
	case gateway.DeliveryFailed, gateway.DeliveryCancelled, gateway.DeliveryExpired:
		return redeliverVerb, d.ClaimID != nil // the fact may be confirmed
	case gateway.DeliverySending, gateway.DeliveryHeld:
	}
	return "", false
}

// deliveryState is a delivery's status as it is shown: one that failed before
// and is tried again is retrying.
func deliveryState(d gateway.Delivery) string {
	if d.Status == gateway.DeliveryPending && d.LastOutcome != nil && *d.LastOutcome != gateway.OutcomeSucceeded {
		return string(gateway.ProgressRetrying)
	}
	return string(d.Status)
}
