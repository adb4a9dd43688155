package deliver

import (
	"context"
	"errors"
	"fmt"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// ErrUnsignable tells that an endpoint has no secret that can be used.
var ErrUnsignable = errors.New("the request cannot be signed")

// Sign makes the headers of a delivery's nth attempt as they would be sent now,
// in wire form: with the time and the signatures of this moment, which
// receivers take for some minutes, and the endpoint's own headers redacted.
// Whoever holds them can send as Rowlock as long as that, so the audit log tells
// who asked. Errors: gateway.ErrNotFound for an attempt that was not made,
// gateway.ErrPayloadGone, gateway.ErrNotActive when the endpoint was deleted,
// ErrUnsignable.
func (s *Service) Sign(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.DeliveryID, n int) ([]byte, error) {
	delivery, err := s.Store.Delivery(ctx, account, id)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > delivery.Attempts {
		return nil, fmt.Errorf("sign attempt %d of %d: %w", n, delivery.Attempts, gateway.ErrNotFound)
	}
	target, in, err := s.toSign(ctx, account, delivery, n)
	if err != nil {
		return nil, err
	}
	header, err := s.header(target, in, s.Clock.Now())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsignable, err)
	}
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		return tx.Audit(ctx, account, actor, "delivery.sign", id.String(), fmt.Sprintf("attempt %d", n), s.Clock.NewID())
	})
	if err != nil {
		return nil, err
	}
	return shownHeaders(header, target), nil
}

// toSign reads what a delivery's attempt is made of.
func (s *Service) toSign(ctx context.Context, account gateway.AccountID, d gateway.Delivery, n int) (store.Target, attemptInput, error) {
	target, err := s.Store.EndpointTarget(ctx, account, d.EndpointID)
	if errors.Is(err, gateway.ErrNotFound) {
		err = gateway.ErrNotActive
	}
	if err != nil {
		return target, attemptInput{}, err
	}
	event, err := s.Store.Event(ctx, account, d.EventID)
	if err != nil {
		return target, attemptInput{}, err
	}
	body, err := s.Store.Body(ctx, account, d.EventID)
	return target, attemptInput{
		delivery: d.ID, event: d.EventID, n: n, eventType: event.Type, headers: body.Headers, body: body.Data,
	}, err
}
