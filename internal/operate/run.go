package operate

import (
	"context"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// lookAgain is how soon an operation is looked at again whose window is full
	// and empties.
	lookAgain = 200 * time.Millisecond
	// patience is how often that happens before the operation is left alone for
	// restTime: what waits goes out slowly, and lasts for longer than that. Others
	// want to be worked on meanwhile.
	patience = 10
	restTime = 3 * time.Second
	// leaveTimeout bounds giving an operation back when the process stops.
	leaveTimeout = 3 * time.Second
)

// errMoved tells that somebody else made the step, or that the operation was
// stopped: what was read before is not true any more.
var errMoved = errors.New("the operation has moved")

// Run works on an operation for a while, if nobody else does. What is left is
// for the job that it makes, or for the alarm that it sets.
func (s *Service) Run(ctx context.Context, account gateway.AccountID, id gateway.OperationID) error {
	run, mine, err := s.Store.ClaimOperation(ctx, account, id, lease)
	if err != nil || !mine {
		return err
	}
	r := &runner{Service: s, run: run}
	rest, err := r.work(ctx)
	if errors.Is(err, errMoved) {
		return nil // whoever moved it has set its alarm
	}
	return errors.Join(err, s.leave(ctx, account, id, rest))
}

// runner is one node's work on one operation.
type runner struct {
	*Service

	run store.OperationRun
	// fruitless is how often in a row the window was full.
	fruitless int
}

// pause is what is to come after a step.
type pause struct {
	// wait is how long to wait before the next step.
	wait time.Duration
	// full tells that nothing could be done, since enough waits already.
	full bool
}

// work makes steps until the operation has ended, the time is over or the
// window does not empty. It returns after what time to go on.
func (r *runner) work(ctx context.Context) (rest time.Duration, err error) {
	ends := r.Clock.Now().Add(runFor)
	for r.hasWork() {
		next, err := r.step(ctx)
		switch {
		case ctx.Err() != nil:
			return 0, nil
		case err != nil:
			return restTime, err
		case r.isStuck(next):
			return restTime, nil
		case !r.Clock.Now().Add(next.wait).Before(ends):
			return next.wait, nil
		}
		if clock.Sleep(ctx, next.wait) != nil {
			return 0, nil
		}
	}
	return 0, nil
}

// hasWork tells whether there is another step.
func (r *runner) hasWork() bool {
	return r.run.State.IsOpen() || r.run.State == gateway.OperationCancelled && r.run.SettledAt == nil
}

// isStuck tells whether the window was full for a while.
func (r *runner) isStuck(next pause) bool {
	if !next.full {
		r.fruitless = 0
		return false
	}
	r.fruitless++
	return r.fruitless > patience
}

// step makes one step of what the operation's state asks for.
func (r *runner) step(ctx context.Context) (pause, error) {
	switch r.run.State {
	case gateway.OperationCounting:
		return pause{}, r.countSome(ctx)
	case gateway.OperationRunning:
		return r.actOnSome(ctx)
	case gateway.OperationCancelled, gateway.OperationDone:
	}
	return pause{}, r.restoreSome(ctx)
}

// change is the transaction of a step: it holds the operation, acts, and moves
// it to where that got, all or nothing.
func (r *runner) change(ctx context.Context, act func(store.Tx, *store.OperationStep) error) error {
	step := store.OperationStep{Counted: r.run.Counted, Cursor: r.run.Cursor, State: r.run.State}
	var now store.OperationRun
	err := r.Store.InTx(ctx, func(tx store.Tx) error {
		mine, err := tx.HoldOperation(ctx, r.run, lease)
		if err != nil {
			return err
		}
		if !mine {
			return errMoved
		}
		if err := act(tx, &step); err != nil {
			return err
		}
		if now, err = tx.MoveOperation(ctx, r.run, step); err != nil {
			return err
		}
		if now.State == gateway.OperationDone {
			return r.tell(ctx, tx, now.Operation)
		}
		return nil
	})
	if err == nil {
		r.run = now
	}
	return err
}

// leave gives the operation back. One that is to go on at once gets a job.
func (s *Service) leave(ctx context.Context, account gateway.AccountID, id gateway.OperationID, after time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	return s.Store.InTx(ctx, func(tx store.Tx) error {
		more, err := tx.LeaveOperation(ctx, account, id, after)
		if err != nil || !more || after > 0 {
			return err
		}
		return tx.Enqueue(ctx, job.Operation{AccountID: account, OperationID: id})
	})
}
