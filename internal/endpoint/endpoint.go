// Package endpoint keeps where events go to: its address, what it asks for,
// how it is sent to, its state and its signing secrets. Every change, and
// every look at a secret, is written to the audit log.
package endpoint

import (
	"context"
	"errors"
	"net/netip"
	"strings"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Options are what a Service is made of.
type Options struct {
	Store *store.Store
	Clock *clock.Clock
	// CheckURL tells whether requests may be sent to a URL, by an account to which an
	// address is lent. Its error is for people and does not repeat the URL; see
	// egress.Client.CheckURLWith.
	CheckURL func(raw string, lent netip.AddrPort) error
	// MaxEndpoints is how many an account may have; zero is no limit.
	MaxEndpoints int
}

// Service makes and changes endpoints.
type Service struct {
	store    *store.Store
	clock    *clock.Clock
	checkURL func(raw string, lent netip.AddrPort) error
	most     int
}

// New makes a Service.
func New(o Options) *Service {
	return &Service{store: o.Store, clock: o.Clock, checkURL: o.CheckURL, most: o.MaxEndpoints}
}

// Create makes an active endpoint with its first signing secret, the one in
// the input or a new one; of an Ed25519 key it returns the public half alone.
// Errors: gateway.InvalidError, joined if there are
// several; gateway.ErrUIDTaken; gateway.ErrLimitReached.
func (s *Service) Create(ctx context.Context, account gateway.AccountID, actor gateway.Actor, in Input) (gateway.Endpoint, gateway.Secret, error) {
	e := gateway.Endpoint{
		ID: gateway.EndpointID(s.clock.NewID()), MaxInFlight: gateway.DefaultMaxInFlight, Signature: gateway.SignatureHMAC,
	}
	checkURL, err := s.urlCheck(ctx, account, in)
	if err != nil {
		return gateway.Endpoint{}, gateway.Secret{}, err
	}
	signing, err := s.prepare(&e, in, checkURL)
	if err != nil {
		return gateway.Endpoint{}, gateway.Secret{}, err
	}
	err = s.store.InTx(ctx, func(tx store.Tx) (err error) {
		if err := s.join(ctx, tx, account, e.ID, in.Failover); err != nil {
			return err
		}
		if e, err = tx.CreateEndpoint(ctx, account, e, s.most); err != nil {
			return err
		}
		if e, err = s.setAuth(ctx, tx, e, in.Auth); err != nil {
			return err
		}
		if signing, err = tx.AddEndpointSecret(ctx, account, e.ID, signing); err != nil {
			return err
		}
		if err := s.audit(ctx, tx, e, actor, "endpoint.create", ""); err != nil || !in.Paused {
			return err
		}
		e, err = s.pause(ctx, tx, account, actor, e.ID)
		return err
	})
	if err != nil {
		return gateway.Endpoint{}, gateway.Secret{}, err
	}
	return e, revealed(signing), nil
}

// prepare checks the input of a new endpoint and makes its secret.
func (s *Service) prepare(e *gateway.Endpoint, in Input, checkURL func(string) error) (gateway.Secret, error) {
	e.Kind = gateway.EndpointHTTP
	err := set(&e.Kind, in.Kind, checkKind)
	if e.Kind == gateway.EndpointHTTP && in.URL == nil {
		return gateway.Secret{}, errors.Join(err, gateway.Invalid("url", "is missing"))
	}
	err = errors.Join(err, in.applyTo(e, checkURL))
	signing, secretErr := s.newSecret(e.Signature, in.Secret)
	return signing, errors.Join(err, secretErr)
}

// urlCheck tells whether an account may have requests sent to a URL.
func (s *Service) urlCheck(ctx context.Context, account gateway.AccountID, in Input) (func(raw string) error, error) {
	if in.URL == nil {
		return func(string) error { return nil }, nil
	}
	lent, err := s.store.LentAddress(ctx, account)
	return func(raw string) error { return s.checkURL(raw, lent) }, err
}

// Check tells what is wrong with the input of a new endpoint, as Create would,
// without making one: for forms that have found a mistake of their own and
// tell all of them at once.
func (s *Service) Check(ctx context.Context, account gateway.AccountID, in Input) error {
	checkURL, err := s.urlCheck(ctx, account, in)
	if err != nil {
		return err
	}
	_, err = s.prepare(&gateway.Endpoint{Signature: gateway.SignatureHMAC}, in, checkURL)
	return err
}

// Most is how many endpoints an account may have; zero is no limit.
func (s *Service) Most() int { return s.most }

// Update changes what the input holds and leaves the rest. Another signature
// rotates: a new secret signs from now on, and those before it go on beside it
// for gateway.DefaultOverlap. Errors: as Create, gateway.ErrNotFound and, of
// another signature, gateway.ErrTooManySecrets.
func (s *Service) Update(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.EndpointID, in Input) (gateway.Endpoint, error) {
	var e gateway.Endpoint
	checkURL, err := s.urlCheck(ctx, account, in)
	if err != nil {
		return e, err
	}
	err = s.store.InTx(ctx, func(tx store.Tx) (err error) {
		if err := s.join(ctx, tx, account, id, in.Failover); err != nil {
			return err
		}
		if e, err = tx.LockEndpoint(ctx, account, id); err != nil {
			return err
		}
		signed := e.Signature
		if err := errors.Join(in.applyTo(&e, checkURL), in.refuseFixed()); err != nil {
			return err
		}
		if len(in.given()) == 0 {
			return nil
		}
		if e, err = s.write(ctx, tx, e, actor, in); err != nil || e.Signature == signed {
			return err
		}
		added, err := s.newSecret(e.Signature, nil)
		if err != nil {
			return err
		}
		_, err = s.rotate(ctx, tx, e, actor, gateway.DefaultOverlap, added)
		return err
	})
	if err != nil {
		return gateway.Endpoint{}, err
	}
	return e, nil
}

// write stores a changed endpoint, and says so in the audit log.
func (s *Service) write(ctx context.Context, tx store.Tx, e gateway.Endpoint, actor gateway.Actor, in Input) (gateway.Endpoint, error) {
	e, err := tx.UpdateEndpoint(ctx, e.AccountID, e)
	if err != nil {
		return e, err
	}
	if e, err = s.setAuth(ctx, tx, e, in.Auth); err != nil {
		return e, err
	}
	if err := handOn(ctx, tx, e, in.Failover); err != nil {
		return e, err
	}
	return e, s.audit(ctx, tx, e, actor, "endpoint.update", strings.Join(in.given(), ", "))
}

// setAuth stores what the endpoint asks for at its door; nil leaves it as it is.
func (s *Service) setAuth(ctx context.Context, tx store.Tx, e gateway.Endpoint, chosen *Auth) (gateway.Endpoint, error) {
	if chosen == nil {
		return e, nil
	}
	auth, err := chosen.sent()
	if err != nil {
		return e, err
	}
	return tx.SetEndpointAuth(ctx, e.AccountID, e.ID, auth)
}

func (s *Service) audit(ctx context.Context, tx store.Tx, e gateway.Endpoint, actor gateway.Actor, action, detail string) error {
	return tx.Audit(ctx, e.AccountID, actor, action, e.ID.String(), detail, s.clock.NewID())
}
