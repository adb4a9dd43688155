package deliver

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// ListenTime is how long a listener's asking is left without an answer while
	// there is nothing to send: less than proxies wait.
	ListenTime = 20 * time.Second
	// seeEvery is how often it is noted meanwhile that the listener is there.
	seeEvery = 5 * time.Second
)

// Listening is a listener's asking for what it is to send.
type Listening struct {
	Listener gateway.Listener
	// Holding are the orders that it has and that are not known to have ended:
	// of those that it was given before, all others were lost on the way.
	Holding []gateway.AttemptID
	// Stop ends the waiting early; nil does not.
	Stop <-chan struct{}
}

// Order is an attempt for a listener to make: a POST of Body with Header.
type Order struct {
	ID        gateway.AttemptID
	Delivery  gateway.DeliveryID
	Event     gateway.EventID
	EventType string
	N         int
	Header    http.Header
	Body      []byte
	// Timeout is for the whole of it.
	Timeout time.Duration
}

// Listen answers a listener with what it is to send, as soon as there is
// something, and with nothing after ListenTime. While it asks again and again, the
// endpoint's deliveries are given to it; when it stops, they wait. Errors:
// gateway.ErrNotFound; ErrHasAddress; ErrListenerConnected, a ListenerHeldError.
func (s *Service) Listen(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID, l Listening) ([]Order, error) {
	e, err := s.Store.Endpoint(ctx, account, id)
	switch {
	case err != nil:
		return nil, err
	case e.Kind != gateway.EndpointListen:
		return nil, gateway.ErrHasAddress
	}
	heard, mine, err := s.Store.HearListener(ctx, account, id, l.Listener)
	switch {
	case err != nil:
		return nil, err
	case !mine:
		return nil, s.heldBy(ctx, account, id)
	case heard.Came:
		if err := s.listenerCame(ctx, e, actor, l.Listener); err != nil {
			return nil, err
		}
	}
	return s.awaitOrders(ctx, l.Stop, store.Asking{
		AccountID: account, EndpointID: id, Listener: l.Listener.ID, Poll: heard.Poll, Holding: l.Holding,
	})
}

// heldBy tells who listens already.
func (s *Service) heldBy(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) error {
	listeners, err := s.Store.Listeners(ctx, account, []gateway.EndpointID{id})
	if err != nil {
		return err
	}
	if other, ok := listeners[id]; ok {
		return &gateway.ListenerHeldError{Listener: other}
	}
	return gateway.ErrNotFound // deleted meanwhile
}

// listenerCame has the endpoint's lane looked at: what waited can be given out.
// Were it lost, the lane's alarm would ring.
func (s *Service) listenerCame(ctx context.Context, e gateway.Endpoint, actor gateway.Actor, l gateway.Listener) error {
	ref := store.LaneRef{AccountID: e.AccountID, EndpointID: e.ID}
	err := s.Store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.WakeLane(ctx, e.AccountID, e.ID); err != nil {
			return err
		}
		if err := tx.Enqueue(ctx, job.Deliver(ref)); err != nil {
			return err
		}
		return tx.Audit(ctx, e.AccountID, actor, "endpoint.listen", e.ID.String(), l.Host, s.Clock.NewID())
	})
	if err == nil {
		s.Wake([]store.LaneRef{ref})
	}
	return err
}

// awaitOrders looks for orders until there are some, it is told to stop, or the
// time is over.
func (s *Service) awaitOrders(ctx context.Context, stop <-chan struct{}, a store.Asking) ([]Order, error) {
	told, closing := s.ears.open(a.EndpointID)
	defer closing()
	over := time.NewTimer(ListenTime)
	defer over.Stop()
	look, see := time.NewTicker(lookForRelays), time.NewTicker(seeEvery)
	defer look.Stop()
	defer see.Stop()
	for {
		if some, err := s.Store.HasRelays(ctx, a); err != nil || some {
			if err != nil {
				return nil, err
			}
			if orders, err := s.takeOrders(ctx, a); err != nil || len(orders) > 0 {
				return orders, err
			}
		}
		select {
		case <-told:
		case <-look.C:
		case <-see.C:
			if here, err := s.Store.SeeListener(ctx, a.AccountID, a.EndpointID, a.Listener, a.Poll); err != nil || !here {
				return nil, err
			}
		case <-over.C:
			return nil, nil
		case <-stop:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// takeOrders gives out what there is, each signed now.
func (s *Service) takeOrders(ctx context.Context, a store.Asking) (orders []Order, err error) {
	target, err := s.Store.EndpointTarget(ctx, a.AccountID, a.EndpointID)
	if err != nil {
		return nil, err
	}
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		taken, err := tx.TakeRelays(ctx, a)
		if err != nil || len(taken) == 0 {
			return err
		}
		ids, shown := make([]gateway.AttemptID, len(taken)), make([][]byte, len(taken))
		orders = make([]Order, len(taken))
		for i := range taken {
			if orders[i], err = s.order(target, &taken[i]); err != nil {
				return err
			}
			ids[i], shown[i] = orders[i].ID, shownHeaders(orders[i].Header, target)
		}
		return tx.KeepRelayHeaders(ctx, a.AccountID, ids, shown)
	})
	if err != nil {
		return nil, err
	}
	return orders, nil
}

func (s *Service) order(target store.Target, r *store.Relay) (Order, error) {
	header, err := s.header(target, attemptInput{
		delivery: r.Delivery, event: r.Event, n: r.N, eventType: r.EventType, headers: r.Headers, body: r.Body, claim: r.Claim, span: r.Span,
	}, r.TakenAt)
	if err != nil {
		return Order{}, fmt.Errorf("%w: %w", ErrUnsignable, err)
	}
	return Order{
		ID: gateway.DeriveAttemptID(r.Delivery, r.N), Delivery: r.Delivery, Event: r.Event, EventType: r.EventType, N: r.N,
		Header: header, Body: r.Body, Timeout: r.Timeout,
	}, nil
}

// StopListening notes that a listener has gone. What it had and did not report is
// given to the next one.
func (s *Service) StopListening(ctx context.Context, account gateway.AccountID, id gateway.EndpointID, listener string) error {
	if _, err := s.Store.Endpoint(ctx, account, id); err != nil {
		return err
	}
	return s.Store.DropListener(ctx, account, id, listener)
}
