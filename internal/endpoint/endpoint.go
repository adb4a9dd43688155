// Package endpoint keeps where events go to: its address, what it asks for,
// how it is sent to, its state and its signing secrets. Every change, and
// every look at a secret, is written to the audit log.
package endpoint

import (
	"context"
	"errors"
	"strings"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Options are what a Service is made of.
type Options struct {
	Store *store.Store
	Clock *clock.Clock
	// CheckURL tells whether requests may be sent to a URL. Its error is for
	// people and does not repeat the URL; see egress.Client.CheckURL.
	CheckURL func(raw string) error
	// MaxEndpoints is how many an account may have; zero is no limit.
	MaxEndpoints int
}

// Service makes and changes endpoints.
type Service struct {
	store    *store.Store
	clock    *clock.Clock
	checkURL func(raw string) error
	most     int
}

// New makes a Service.
func New(o Options) *Service {
	return &Service{store: o.Store, clock: o.Clock, checkURL: o.CheckURL, most: o.MaxEndpoints}
}

// Create makes an active endpoint with its first signing secret, the one in
// the input or a new one. Errors: gateway.InvalidError, joined if there are
// several; gateway.ErrUIDTaken; gateway.ErrLimitReached.
func (s *Service) Create(ctx context.Context, account gateway.AccountID, actor gateway.Actor, in Input) (gateway.Endpoint, gateway.Secret, error) {
	e := gateway.Endpoint{ID: gateway.EndpointID(s.clock.NewID()), MaxInFlight: gateway.DefaultMaxInFlight}
	signing, err := s.prepare(&e, in)
	if err != nil {
		return gateway.Endpoint{}, gateway.Secret{}, err
	}
	err = s.store.InTx(ctx, func(tx store.Tx) (err error) {
		if e, err = tx.CreateEndpoint(ctx, account, e, s.most); err != nil {
			return err
		}
		if signing, err = tx.AddEndpointSecret(ctx, account, e.ID, signing); err != nil {
			return err
		}
		return s.audit(ctx, tx, e, actor, "endpoint.create", "")
	})
	if err != nil {
		return gateway.Endpoint{}, gateway.Secret{}, err
	}
	return e, signing, nil
}

// prepare checks the input of a new endpoint and makes its secret.
func (s *Service) prepare(e *gateway.Endpoint, in Input) (gateway.Secret, error) {
	if in.URL == nil {
		return gateway.Secret{}, gateway.Invalid("url", "is missing")
	}
	err := in.applyTo(e, s.checkURL)
	signing, secretErr := s.newSecret(in.Secret)
	return signing, errors.Join(err, secretErr)
}

// Check tells what is wrong with the input of a new endpoint, as Create would,
// without making one: for forms that have found a mistake of their own and
// tell all of them at once.
func (s *Service) Check(in Input) error {
	_, err := s.prepare(&gateway.Endpoint{}, in)
	return err
}

// Update changes what the input holds and leaves the rest. Errors: as Create,
// and gateway.ErrNotFound.
func (s *Service) Update(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID, in Input) (gateway.Endpoint, error) {
	var e gateway.Endpoint
	err := s.store.InTx(ctx, func(tx store.Tx) (err error) {
		if e, err = tx.LockEndpoint(ctx, account, id); err != nil {
			return err
		}
		if err := errors.Join(in.applyTo(&e, s.checkURL), in.refuseSecret()); err != nil {
			return err
		}
		given := in.given()
		if len(given) == 0 {
			return nil
		}
		if e, err = tx.UpdateEndpoint(ctx, account, e); err != nil {
			return err
		}
		return s.audit(ctx, tx, e, actor, "endpoint.update", strings.Join(given, ", "))
	})
	if err != nil {
		return gateway.Endpoint{}, err
	}
	return e, nil
}

func (s *Service) audit(ctx context.Context, tx store.Tx, e gateway.Endpoint, actor gateway.Actor, action, detail string) error {
	return tx.Audit(ctx, e.AccountID, actor, action, e.ID.String(), detail, s.clock.NewID())
}
