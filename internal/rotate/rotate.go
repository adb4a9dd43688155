// Package rotate changes the keys of stored secrets while servers run.
//
// A rotation gives the keyset a fresh key, wraps it by the present master key,
// and seals all that is stored anew. It can be ended anywhere and begun again:
// each step is one statement or one transaction that finds what is left to do,
// and what an older key has sealed opens all the while, since older keys stay
// in the keyset.
package rotate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// forgetAfter is how long a key that seals nothing any more stays in the keyset
// at least. A node that was out of the world for a shorter time, and still
// seals with it, makes nothing unreadable.
const forgetAfter = 24 * time.Hour

// ErrRunning is returned while another process rotates.
var ErrRunning = errors.New("another rotation is running")

// Options are what a rotation works on.
type Options struct {
	Store *store.Store
	// Masters are the master keys, the new one first.
	Masters secret.MasterKeys
	// Renew makes the new master key, where Rowlock keeps it itself, and Settle
	// removes the former one. Both may be nil, and are called again after a
	// crash.
	Renew, Settle func() error

	// interrupt is called before each step, for tests: an error ends the
	// rotation there, as a crash would.
	interrupt func(step string) error
	// patience is waitForNodes, for tests.
	patience time.Duration
}

// rotation is one under way.
type rotation struct {
	Options

	report Report
}

// Run rotates the keys. When another process does, it returns ErrRunning; when a
// node that is alive has not got the new master key, a *NodesError: then nothing
// was changed. A *LateError tells that it has to be run again; the report says
// what was done until an error.
func Run(ctx context.Context, o Options) (Report, error) {
	release, ok, err := o.Store.LockRotation(ctx)
	switch {
	case err != nil:
		return Report{}, err
	case !ok:
		return Report{}, ErrRunning
	}
	defer release()
	if o.patience == 0 {
		o.patience = waitForNodes
	}
	r := &rotation{Options: o}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"check the nodes", r.checkNodes},
		{"renew the master key", func(context.Context) error { return call(r.Renew) }},
		{"replace the keyset", r.replaceKeyset},
		{"follow the keyset", r.Store.FollowKeyset},
		{"seal anew", r.reseal},
		{"wait for the nodes", r.waitForNodes},
		{"seal the rest anew", r.reseal},
		{"note the end", r.finish},
		{"settle the master key", func(context.Context) error { return call(r.Settle) }},
	} {
		if err := r.before(step.name); err != nil {
			return r.report, err
		}
		if err := step.do(ctx); err != nil {
			return r.report, fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return r.report, nil
}

func (r *rotation) before(step string) error {
	if r.interrupt == nil {
		return nil
	}
	return r.interrupt(step)
}

func call(do func() error) error {
	if do == nil {
		return nil
	}
	return do()
}

// replaceKeyset stores a keyset with a fresh key, or goes on with the one of a
// rotation that did not come to its end, in either case wrapped by the present
// master key. From its commit on, every node finds the key that it may meet.
func (r *rotation) replaceKeyset(ctx context.Context) error {
	idle, err := r.Store.AllResealed(ctx)
	if err != nil {
		return err
	}
	return r.Store.InTx(ctx, func(tx store.Tx) error {
		state, err := tx.LockKeyset(ctx)
		if err != nil {
			return err
		}
		before, err := secret.OpenWith(state.Wrapped, r.Masters)
		if err != nil {
			return err
		}
		r.report.Continued, r.report.MasterReplaced = state.Unfinished(), before.Outdated()
		after, err := r.renewed(before, state, idle)
		if err != nil {
			return err
		}
		wrapped, err := after.Rewrap()
		if err != nil {
			return err
		}
		r.report.Key, r.report.Older = after.KeyID(), len(after.KeyIDs())-1
		replaced, err := tx.ReplaceKeyset(ctx, state.Wrapped, wrapped, after.KeyID(), !state.Unfinished())
		if err == nil && !replaced {
			err = gateway.ErrStateChanged // cannot be: the row is locked
		}
		return err
	})
}

// renewed is the keyset to store. idle tells that the older keys have sealed
// nothing that is stored: then, after a while, they go.
func (r *rotation) renewed(before *secret.Sealer, state store.KeysetState, idle bool) (*secret.Sealer, error) {
	if state.Unfinished() {
		return before, nil
	}
	if idle && state.Age > forgetAfter {
		r.report.Forgotten = len(before.KeyIDs()) - 1
		var err error
		if before, err = before.Forget(); err != nil {
			return nil, err
		}
	}
	return before.Rotate()
}

// finish notes that all is sealed with the new key, and will be.
func (r *rotation) finish(ctx context.Context) error {
	if len(r.report.Late) > 0 {
		return &LateError{r.report.Late}
	}
	ours, err := r.Store.Resealed(ctx, r.report.Key)
	if err == nil && !ours {
		err = ErrRunning
	}
	return err
}
