package deliver

import (
	"context"
	"errors"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// errRefused ends a transaction whose guard let nothing happen. Why is asked
// afterwards: a transaction that waits for a second connection could wait for
// one that others hold who do the same.
var errRefused = errors.New("refused by the guard")

// Redeliver has a delivery sent again, or, if it is pending, sent now.
// ifAttempts is how many attempts the presser saw; nil is how many there are.
// The delivery's present state is returned in any case. Errors: gateway.
// ErrDeliveryChanged when it is not what the presser saw, ErrDeliveryInFlight
// while it is being sent, ErrPayloadGone, ErrNotActive when its endpoint was
// deleted, ErrAttemptsUsedUp; of a single-fire type ErrClaimDone when the
// receiver has confirmed the fact, and ErrClaimInProgress while it may be in the
// air. override is why a confirmed fact is to be sent all the same; empty for
// no.
func (s *Service) Redeliver(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.DeliveryID, ifAttempts *int, override string) (gateway.Delivery, error) {
	if override != "" {
		if err := gateway.CheckOverride(override); err != nil {
			return gateway.Delivery{}, err
		}
	}
	var now gateway.Delivery
	err := s.Store.InTx(ctx, func(tx store.Tx) (err error) {
		now, err = s.reopen(ctx, tx, account, actor, id, ifAttempts, override)
		return err
	})
	switch {
	case errors.Is(err, errRefused):
		return now, s.whyNotReopened(ctx, account, now, ifAttempts)
	case err == nil:
		s.Wake([]store.LaneRef{{AccountID: account, EndpointID: now.EndpointID}})
	}
	return now, err
}

// reopen is the transaction of one redelivery. The lane is woken first: every
// transaction locks a lane before its deliveries, and a deletion of the
// endpoint waits for it.
func (s *Service) reopen(ctx context.Context, tx store.Tx, account gateway.AccountID, actor gateway.Actor, id gateway.DeliveryID, ifAttempts *int, override string) (gateway.Delivery, error) {
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
	reopened, err := tx.Reopen(ctx, account, id, seen, gateway.TriggerManual, override != "")
	if err != nil {
		return before, err
	}
	now, err := tx.DeliveryInTx(ctx, account, id)
	switch {
	case err != nil:
		return now, err
	case !reopened:
		return now, errRefused
	}
	if err := tx.Audit(ctx, account, actor, "delivery.redeliver", id.String(), override, s.Clock.NewID()); err != nil {
		return now, err
	}
	return now, tx.Enqueue(ctx, job.Deliver{AccountID: account, EndpointID: now.EndpointID})
}

func (s *Service) whyNotReopened(ctx context.Context, account gateway.AccountID, now gateway.Delivery, ifAttempts *int) error {
	if _, err := s.Store.Body(ctx, account, now.EventID); err != nil {
		return err
	}
	var why error
	err := s.Store.InTx(ctx, func(tx store.Tx) (err error) {
		why, err = whyLeft(ctx, tx, account, now, ifAttempts)
		return err
	})
	if err != nil {
		return err
	}
	return why
}

// whyLeft tells why a delivery was not opened, whose payload is there.
func whyLeft(ctx context.Context, tx store.Tx, account gateway.AccountID, now gateway.Delivery, ifAttempts *int) (why, err error) {
	if _, err := tx.Endpoint(ctx, account, now.EndpointID); errors.Is(err, gateway.ErrNotFound) {
		return gateway.ErrNotActive, nil
	} else if err != nil {
		return nil, err
	}
	switch {
	case now.Attempts > gateway.MaxReopenedAttempts:
		return gateway.ErrAttemptsUsedUp, nil
	case ifAttempts != nil && now.Attempts != *ifAttempts:
		return gateway.ErrDeliveryChanged, nil
	case now.ClaimID == nil:
		return notReopened(now), nil
	}
	claim, err := tx.ClaimNow(ctx, account, *now.ClaimID)
	return whyNotClaimed(claim, now), err
}

// whyNotClaimed tells what a claim keeps a delivery from, if it does.
func whyNotClaimed(claim gateway.Claim, now gateway.Delivery) error {
	switch {
	case claim.State == gateway.ClaimDone:
		return gateway.ErrClaimDone
	case claim.State == gateway.ClaimInProgress && now.Status != gateway.DeliverySending:
		return gateway.ErrClaimInProgress
	}
	return notReopened(now)
}

func notReopened(now gateway.Delivery) error {
	if now.Status == gateway.DeliverySending || now.Status == gateway.DeliveryHeld {
		return gateway.ErrDeliveryInFlight
	}
	return gateway.ErrDeliveryChanged
}

// Redelivered is a delivery of an event that was to be sent again, as it is now.
type Redelivered struct {
	gateway.Delivery

	// Left tells why it was left alone, by the errors of Redeliver; nil for one
	// that goes again.
	Left error
}

// RedeliverEvent has an event sent again to every endpoint that it was for, or
// to one, whether that had it before or not. What is in the air is left alone,
// and so is what Redeliver would refuse. It returns what became of each delivery.
func (s *Service) RedeliverEvent(ctx context.Context, account gateway.AccountID, actor gateway.Actor, event gateway.EventID, endpoint *gateway.EndpointID) ([]Redelivered, error) {
	if _, err := s.Store.Body(ctx, account, event); err != nil {
		return nil, err
	}
	var deliveries []Redelivered
	err := s.Store.InTx(ctx, func(tx store.Tx) (err error) {
		deliveries, err = s.reopenEvent(ctx, tx, account, actor, event, endpoint)
		return err
	})
	if err == nil {
		s.Wake(lanesOf(deliveries))
	}
	return deliveries, err
}

// reopenEvent is the transaction of an event's redelivery: the lanes first, in
// the order of their ids, then the deliveries.
func (s *Service) reopenEvent(ctx context.Context, tx store.Tx, account gateway.AccountID, actor gateway.Actor, event gateway.EventID, endpoint *gateway.EndpointID) ([]Redelivered, error) {
	if err := wakeLanes(ctx, tx, account, event, endpoint); err != nil {
		return nil, err
	}
	if endpoint != nil {
		if err := addDelivery(ctx, tx, account, event, *endpoint); err != nil {
			return nil, err
		}
	}
	before, err := tx.EventDeliveries(ctx, account, event, endpoint)
	if err != nil {
		return nil, err
	}
	reopened := make(map[gateway.DeliveryID]bool, len(before))
	for _, d := range slices.Backward(before) {
		if reopened[d.ID], err = tx.Reopen(ctx, account, d.ID, d.Attempts, gateway.TriggerManual, false); err != nil {
			return nil, err
		}
	}
	if err := tx.Audit(ctx, account, actor, "event.redeliver", event.String(), "", s.Clock.NewID()); err != nil {
		return nil, err
	}
	now, err := tx.EventDeliveries(ctx, account, event, endpoint)
	if err != nil {
		return nil, err
	}
	deliveries, err := tellLeft(ctx, tx, account, now, reopened)
	if err != nil {
		return nil, err
	}
	return deliveries, tx.Enqueue(ctx, job.Delivers(lanesOf(deliveries))...)
}

// tellLeft says of each delivery that was not opened why.
func tellLeft(ctx context.Context, tx store.Tx, account gateway.AccountID, now []gateway.Delivery, reopened map[gateway.DeliveryID]bool) ([]Redelivered, error) {
	deliveries := make([]Redelivered, len(now))
	for i, d := range now {
		deliveries[i].Delivery = d
		if reopened[d.ID] {
			continue
		}
		why, err := whyLeft(ctx, tx, account, d, nil)
		if err != nil {
			return nil, err
		}
		deliveries[i].Left = why
	}
	return deliveries, nil
}

// wakeLanes wakes the lanes of the event's deliveries, or the one endpoint's.
func wakeLanes(ctx context.Context, tx store.Tx, account gateway.AccountID, event gateway.EventID, endpoint *gateway.EndpointID) error {
	if endpoint != nil {
		return tx.WakeLane(ctx, account, *endpoint)
	}
	deliveries, err := tx.EventDeliveries(ctx, account, event, nil)
	if err != nil {
		return err
	}
	slices.SortFunc(deliveries, func(a, b gateway.Delivery) int { return a.EndpointID.Compare(b.EndpointID) })
	for _, d := range deliveries {
		if err := tx.WakeLane(ctx, account, d.EndpointID); err != nil {
			return err
		}
	}
	return nil
}

// addDelivery makes the event's delivery to an endpoint, if it has none. The
// endpoint is read under its lane's lock: a deletion came before, or waits.
func addDelivery(ctx context.Context, tx store.Tx, account gateway.AccountID, event gateway.EventID, endpoint gateway.EndpointID) error {
	if _, err := tx.Endpoint(ctx, account, endpoint); err != nil {
		return err
	}
	_, err := tx.InsertDeliveries(ctx, []store.NewDelivery{{AccountID: account, EventID: event, EndpointID: endpoint}})
	return err
}

func lanesOf(deliveries []Redelivered) []store.LaneRef {
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
	deleted := false
	err := s.Store.InTx(ctx, func(tx store.Tx) (err error) {
		deleted, err = tx.DeletePayload(ctx, account, event)
		if err != nil || !deleted {
			return err
		}
		return tx.Audit(ctx, account, actor, "event.delete_payload", event.String(), "", s.Clock.NewID())
	})
	if err != nil || deleted {
		return err
	}
	_, err = s.Store.Event(ctx, account, event)
	return err
}
