package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/search"
)

// check tells what is wrong with a request, and completes it: what a kind
// implies is part of its filter.
func (s *Service) check(ctx context.Context, account gateway.AccountID, r *Request) error {
	f := &r.Filter
	faults := []error{checkPace(r.PerSecond), checkTimes(*f), checkCause(*f)}
	switch r.Kind {
	case gateway.OperationRecoverFailed:
		f.Status = gateway.DeliveryFailed
		faults = append(faults, checkRecover(*f))
	case gateway.OperationRecoverMissing:
		faults = append(faults, checkRecover(*f))
	case gateway.OperationRedeliver:
		faults = append(faults, checkRedeliver(*f))
	case gateway.OperationReprocess:
		faults = append(faults, checkReprocess(*f))
	case gateway.OperationReconcile:
		faults = append(faults, s.completeReconcile(ctx, account, f))
	default:
		faults = append(faults, gateway.Invalid("kind", "want a kind of operation"))
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	if f.Endpoint != nil {
		_, err := s.Store.Endpoint(ctx, account, *f.Endpoint)
		return err
	}
	return nil
}

func checkCause(f gateway.OperationFilter) error {
	var faults []error
	if f.ErrorKind != "" && !f.ErrorKind.CanFailDelivery() {
		faults = append(faults, gateway.Invalid("error_kind", "want %s", choices(append(slices.Clone(gateway.ErrorKinds), gateway.ErrorDisabled))))
	}
	if f.StatusCode < 0 || f.StatusCode > 999 {
		faults = append(faults, gateway.Invalid("status_code", "want an HTTP status, such as 503"))
	}
	return errors.Join(faults...)
}

func checkPace(perSecond int) error {
	if perSecond < 0 || perSecond > gateway.MaxOperationPace {
		return gateway.Invalid("per_second", "want 1 to %d, or nothing for as fast as they go out", gateway.MaxOperationPace)
	}
	return nil
}

func checkTimes(f gateway.OperationFilter) error {
	if !f.Until.IsZero() && !f.Until.After(f.Since) {
		return gateway.Invalid("until", "want a time after since")
	}
	return nil
}

func checkRecover(f gateway.OperationFilter) error {
	var faults []error
	if f.Endpoint == nil {
		faults = append(faults, gateway.Invalid("endpoint", "name the endpoint"))
	}
	if f.Since.IsZero() {
		faults = append(faults, gateway.Invalid("since", "say from when on"))
	}
	return errors.Join(faults...)
}

func checkRedeliver(f gateway.OperationFilter) error {
	var faults []error
	if f.Status != "" && !f.Status.IsClosed() {
		faults = append(faults, gateway.Invalid("status", "want delivered, failed, suppressed, cancelled or expired: what is open goes out by itself"))
	}
	if f.Outcome != "" && !slices.Contains(gateway.Outcomes, f.Outcome) {
		faults = append(faults, gateway.Invalid("outcome", "want succeeded, rejected, unreachable or unknown"))
	}
	faults = append(faults, checkEvents(f))
	if len(f.Deliveries) > gateway.MaxOperationIDs {
		faults = append(faults, gateway.Invalid("ids", "want at most %d: leave them out and filter for more", gateway.MaxOperationIDs))
	}
	if f.Endpoint == nil && f.Event == nil && f.Status == "" && f.Outcome == "" && f.Cause() == nil && len(f.Deliveries) == 0 && f.Since.IsZero() && !f.OfEvents() {
		faults = append(faults, gateway.Invalid("status", "say what is to be delivered again: an endpoint, an event, a status, an outcome, a cause, a time or single ones"))
	}
	return errors.Join(faults...)
}

// checkEvents tells what is wrong with what the events of deliveries are to be.
func checkEvents(f gateway.OperationFilter) error {
	var faults []error
	if len(f.Events) > gateway.MaxOperationIDs {
		faults = append(faults, gateway.Invalid("events", "want at most %d: leave them out and filter for more", gateway.MaxOperationIDs))
	}
	if f.OfEvents() && (len(f.Deliveries) > 0 || f.Event != nil) {
		faults = append(faults, gateway.Invalid("ids", "single deliveries are of no other events: leave the others out"))
	}
	if _, err := search.Parse(f.Search); err != nil {
		faults = append(faults, gateway.Invalid("search", "%s", err))
	}
	if f.EventStatus != "" && !slices.Contains(gateway.EventStatuses, f.EventStatus) {
		faults = append(faults, gateway.Invalid("event_status", "want %s", choices(gateway.EventStatuses)))
	}
	return errors.Join(faults...)
}

func checkReprocess(f gateway.OperationFilter) error {
	var faults []error
	if !slices.Contains(gateway.ReprocessableStatuses, f.EventStatus) {
		faults = append(faults, gateway.Invalid("status", "want %s", choices(gateway.ReprocessableStatuses)))
	}
	if f.Type != "" && !gateway.ValidEventType(f.Type) {
		faults = append(faults, gateway.Invalid("type", "want an event type"))
	}
	return errors.Join(faults...)
}

// choices lists words as people do: a, b or c.
func choices[S ~string](words []S) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	last := len(all) - 1
	return fmt.Sprintf("%s or %s", strings.Join(all[:last], ", "), all[last])
}
