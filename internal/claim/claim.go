// Package claim is the ledger as a service: receivers whose side effect cannot
// share a transaction with a table of their own keep their keys here. Of all who
// claim a key one holds it, with a fence that only grows; whoever holds it
// completes, releases or extends it, and a person may step in.
//
// Single-fire claims, which deliveries make, stand in the same ledger: people
// reclaim and resolve them here too, but nobody else ends them.
package claim

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Options are what a Service is made of.
type Options struct {
	Store *store.Store
	Clock *clock.Clock
}

// Service keeps the ledger.
type Service struct{ Options }

// New makes a Service.
func New(o Options) *Service { return &Service{o} }

// Input is what a caller asks for.
type Input struct {
	Scope, Key string
	// Lease is how long it is held without a sign of life.
	Lease time.Duration
	// Holder is who asks, in its own words; often empty.
	Holder string
	// CallKey is the call's idempotency key: the same caller asking again gets
	// the same fence. Empty for none.
	CallKey string
}

func (in Input) check() error {
	errs := []error{
		gateway.CheckClaimScope(in.Scope), gateway.CheckClaimKey(in.Key), gateway.CheckLease(in.Lease), gateway.CheckHolder(in.Holder),
	}
	if in.CallKey != "" {
		errs = append(errs, gateway.CheckCallKey(in.CallKey))
	}
	return errors.Join(errs...)
}

// HeldError is a claim that somebody else holds. It is a
// gateway.ErrClaimInProgress.
type HeldError struct {
	// Claim is whose it is.
	Claim gateway.Claim
	// Left is how long its lease lasts; never negative.
	Left time.Duration
}

// Error tells until when it is held.
func (e *HeldError) Error() string {
	return fmt.Sprintf("%s until %s", gateway.ErrClaimInProgress, e.Claim.LeaseExpiresAt.UTC().Format(time.RFC3339))
}

// Unwrap makes it a gateway.ErrClaimInProgress.
func (e *HeldError) Unwrap() error { return gateway.ErrClaimInProgress }

// Claim claims a key. The claim that is returned is the caller's, in progress,
// or done. Errors: gateway.InvalidError, *HeldError.
func (s *Service) Claim(ctx context.Context, account gateway.AccountID, in Input) (c gateway.Claim, err error) {
	if err := in.check(); err != nil {
		return c, err
	}
	won := false
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		c, won, err = tx.Claim(ctx, account, store.NewClaim{
			ID: gateway.ClaimID(s.Clock.NewID()), Scope: in.Scope, Key: in.Key, Lease: in.Lease, Holder: in.Holder, CallHash: hashOf(in.CallKey),
		})
		return err
	})
	if err == nil && !won && c.State != gateway.ClaimDone {
		err = &HeldError{Claim: c, Left: max(c.LeaseExpiresAt.Sub(s.Clock.Now()), 0)}
	}
	return c, err
}

func hashOf(callKey string) []byte {
	if callKey == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(callKey))
	return sum[:]
}

// Complete ends a claim for good. result is any JSON value, or nil. Doing it
// again changes nothing and returns what was kept. Errors: gateway.ErrNotFound,
// gateway.ErrFenceStale, gateway.InvalidError.
func (s *Service) Complete(ctx context.Context, account gateway.AccountID, id gateway.ClaimID, fence int64, result []byte) (gateway.Claim, error) {
	if len(result) > gateway.MaxClaimResult {
		return gateway.Claim{}, gateway.Invalid("result", "want at most %d bytes", gateway.MaxClaimResult)
	}
	return s.end(ctx, account, id, fence, gateway.HoldCompleted, func(tx store.Tx) (gateway.Claim, bool, error) {
		return tx.CompleteClaim(ctx, account, id, fence, result)
	})
}

// Release gives a claim back. Doing it again changes nothing, as long as nobody
// else has claimed it. Errors: gateway.ErrNotFound, gateway.ErrFenceStale.
func (s *Service) Release(ctx context.Context, account gateway.AccountID, id gateway.ClaimID, fence int64) (gateway.Claim, error) {
	return s.end(ctx, account, id, fence, gateway.HoldReleased, func(tx store.Tx) (gateway.Claim, bool, error) {
		return tx.ReleaseClaim(ctx, account, id, fence)
	})
}

// end runs what ends a claim. A holder that does again what it did is told what
// came of it the first time.
func (s *Service) end(ctx context.Context, account gateway.AccountID, id gateway.ClaimID, fence int64, as gateway.HoldEnd, do func(store.Tx) (gateway.Claim, bool, error)) (c gateway.Claim, err error) {
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		var changed bool
		if c, changed, err = do(tx); err != nil || changed {
			return err
		}
		if c, err = tx.ClaimNow(ctx, account, id); err != nil {
			return err
		}
		ended, err := tx.HoldEnd(ctx, account, id, fence)
		if err != nil {
			return err
		}
		if c.Fence != fence || ended != as {
			return gateway.ErrFenceStale
		}
		return nil
	})
	return c, err
}

// Extend has a claim's lease end so long from now. Errors: as Release, and
// gateway.InvalidError.
func (s *Service) Extend(ctx context.Context, account gateway.AccountID, id gateway.ClaimID, fence int64, lease time.Duration) (c gateway.Claim, err error) {
	if err := gateway.CheckLease(lease); err != nil {
		return c, err
	}
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		var mine bool
		if c, mine, err = tx.ExtendClaim(ctx, account, id, fence, lease); err != nil || mine {
			return err
		}
		if c, err = tx.ClaimNow(ctx, account, id); err != nil {
			return err
		}
		return gateway.ErrFenceStale
	})
	return c, err
}
