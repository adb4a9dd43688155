package deliver

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// Redeliver has a delivery sent again, or, if it is pending, sent now.
// ifAttempts is how many attempts the presser saw; nil is how many there are.
// The delivery's present state is returned in any case: gateway.
// ErrDeliveryChanged tells that it is not what the presser saw and nothing was
// done, ErrDeliveryInFlight that it is being sent, ErrPayloadGone that there is
// nothing left to send.
func (s *Service) Redeliver(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.DeliveryID, ifAttempts *int) (gateway.Delivery, error) {
	var now gateway.Delivery
	err := s.Store.InTx(ctx, func(tx store.Tx) error {
		var err error
		now, err = s.reopen(ctx, tx, account, actor, id, ifAttempts)
		return err
	})
	if err != nil && !isState(err) {
		return now, err
	}
	if err == nil {
		s.Wake([]store.LaneRef{{AccountID: account, EndpointID: now.EndpointID}})
	}
	return now, err
}

// isState tells errors with which the present state is returned.
func isState(err error) bool {
	return errors.Is(err, gateway.ErrDeliveryChanged) || errors.Is(err, gateway.ErrDeliveryInFlight)
}

// reopen is the transaction of one redelivery. The lane is woken first: every
// transaction locks a lane before its deliveries.
func (s *Service) reopen(ctx context.Context, tx store.Tx, account gateway.AccountID, actor gateway.Actor, id gateway.DeliveryID, ifAttempts *int) (gateway.Delivery, error) {
	before, err := tx.DeliveryInTx(ctx, account, id)
	if err != nil {
		return before, err
	}
	seen := before.Attempts
	if ifAttempts != nil {
		seen = *ifAttempts
	}
	if err := tx.WakeLane(ctx, account, before.EndpointID); err != nil {
		return before, err
	}
	reopened, err := tx.Reopen(ctx, account, id, seen, gateway.TriggerManual)
	if err != nil {
		return before, err
	}
	now, err := tx.DeliveryInTx(ctx, account, id)
	if err != nil {
		return now, err
	}
	if !reopened {
		return now, s.whyNotReopened(ctx, account, now, seen)
	}
	if err := tx.Audit(ctx, account, actor, "delivery.redeliver", id.String(), "", s.Clock.NewID()); err != nil {
		return now, err
	}
	return now, tx.Enqueue(ctx, job.Deliver{AccountID: account, EndpointID: now.EndpointID})
}

func (s *Service) whyNotReopened(ctx context.Context, account gateway.AccountID, now gateway.Delivery, seen int) error {
	if _, err := s.Store.Body(ctx, account, now.EventID); err != nil {
		return err
	}
	switch {
	case now.Attempts >= gateway.MaxAttempts:
		return gateway.ErrAttemptsUsedUp
	case now.Attempts != seen:
		return gateway.ErrDeliveryChanged
	case now.Status == gateway.DeliverySending, now.Status == gateway.DeliveryHeld:
		return gateway.ErrDeliveryInFlight
	}
	return gateway.ErrDeliveryChanged
}

// RedeliverEvent has an event sent again to every endpoint that it was for, or
// to one, whether that had it before or not. What is in the air is left alone.
// It returns the deliveries as they are now.
func (s *Service) RedeliverEvent(ctx context.Context, account gateway.AccountID, actor gateway.Actor, event gateway.EventID, endpoint *gateway.EndpointID) ([]gateway.Delivery, error) {
	if _, err := s.Store.Body(ctx, account, event); err != nil {
		return nil, err
	}
	if endpoint != nil {
		if _, err := s.Store.Endpoint(ctx, account, *endpoint); err != nil {
			return nil, err
		}
	}
	var deliveries []gateway.Delivery
	err := s.Store.InTx(ctx, func(tx store.Tx) (err error) {
		deliveries, err = s.reopenEvent(ctx, tx, account, actor, event, endpoint)
		return err
	})
	if err == nil {
		s.Wake(lanesOf(deliveries))
	}
	return deliveries, err
}

func (s *Service) reopenEvent(ctx context.Context, tx store.Tx, account gateway.AccountID, actor gateway.Actor, event gateway.EventID, endpoint *gateway.EndpointID) ([]gateway.Delivery, error) {
	made := int64(0)
	if endpoint != nil {
		var err error
		made, err = tx.InsertDeliveries(ctx, []store.NewDelivery{{AccountID: account, EventID: event, EndpointID: *endpoint}})
		if err != nil {
			return nil, err
		}
	}
	deliveries, err := tx.EventDeliveries(ctx, account, event, endpoint)
	if err != nil {
		return nil, err
	}
	if made > 0 {
		return deliveries, s.wakeLanes(ctx, tx, account, actor, event, deliveries)
	}
	for _, d := range deliveries {
		if _, err := tx.Reopen(ctx, account, d.ID, d.Attempts, gateway.TriggerManual); err != nil {
			return nil, err
		}
	}
	if err := s.wakeLanes(ctx, tx, account, actor, event, deliveries); err != nil {
		return nil, err
	}
	return tx.EventDeliveries(ctx, account, event, endpoint)
}

func (s *Service) wakeLanes(ctx context.Context, tx store.Tx, account gateway.AccountID, actor gateway.Actor, event gateway.EventID, deliveries []gateway.Delivery) error {
	for _, d := range deliveries {
		if err := tx.Enqueue(ctx, job.Deliver{AccountID: account, EndpointID: d.EndpointID}); err != nil {
			return err
		}
	}
	return tx.Audit(ctx, account, actor, "event.redeliver", event.String(), "", s.Clock.NewID())
}

func lanesOf(deliveries []gateway.Delivery) []store.LaneRef {
	lanes := make([]store.LaneRef, len(deliveries))
	for i, d := range deliveries {
		lanes[i] = store.LaneRef{AccountID: d.AccountID, EndpointID: d.EndpointID}
	}
	return lanes
}

// Cancel closes an open delivery and returns it. One that is in the air is
// cancelled too; its attempt is kept when the answer comes. gateway.
// ErrStateChanged tells that it was closed already.
func (s *Service) Cancel(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.DeliveryID) (gateway.Delivery, error) {
	var now gateway.Delivery
	err := s.Store.InTx(ctx, func(tx store.Tx) error {
		cancelled, err := tx.CancelDelivery(ctx, account, id)
		if err != nil {
			return err
		}
		if now, err = tx.DeliveryInTx(ctx, account, id); err != nil {
			return err
		}
		if !cancelled {
			return gateway.ErrStateChanged
		}
		return tx.Audit(ctx, account, actor, "delivery.cancel", id.String(), "", s.Clock.NewID())
	})
	return now, err
}

// DeletePayload deletes an event's bytes for good; what is open of it is
// cancelled. Doing it again changes nothing.
func (s *Service) DeletePayload(ctx context.Context, account gateway.AccountID, actor gateway.Actor, event gateway.EventID) error {
	return s.Store.InTx(ctx, func(tx store.Tx) error {
		deleted, err := tx.DeletePayload(ctx, account, event)
		if err != nil {
			return err
		}
		if !deleted {
			_, err := s.Store.Event(ctx, account, event)
			return err
		}
		return tx.Audit(ctx, account, actor, "event.delete_payload", event.String(), "", s.Clock.NewID())
	})
}
