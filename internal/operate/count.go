package operate

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// countBudget bounds what is looked at to answer a question before it is
	// asked, as does Options.CountTime.
	countBudget = 100_000
	// defaultCountTime is that time where none is given.
	defaultCountTime = time.Second
)

// Count tells how many an operation would be about if it was started now. When
// exact is false there are more: it stops after a while. Errors: as Start;
// gateway.ErrRateLimited when the account counts too much at once.
func (s *Service) Count(ctx context.Context, account gateway.AccountID, r Request) (n int, exact bool, err error) {
	return s.countWithin(ctx, account, r, countBudget)
}

// CountSome is Count for a list that offers an operation: it looks no further
// than what takes no time.
func (s *Service) CountSome(ctx context.Context, account gateway.AccountID, r Request) (n int, exact bool, err error) {
	return s.countWithin(ctx, account, r, countedAtOnce)
}

func (s *Service) countWithin(ctx context.Context, account gateway.AccountID, r Request, budget int) (n int, exact bool, err error) {
	if err := s.check(ctx, account, &r); err != nil {
		return 0, false, err
	}
	if r.Kind == gateway.OperationRecoverMissing { // an endpoint's filter is asked
		done, err := s.turns.Take(ctx, account)
		if err != nil {
			return 0, false, err
		}
		defer done()
	}
	o := gateway.Operation{AccountID: account, Kind: r.Kind, Filter: r.Filter, CreatedAt: s.Clock.Now()}
	run := store.NewOperationRun(o, s.until(r.Filter))
	ends := s.Clock.Now().Add(s.CountTime)
	for looked := 0; looked < budget && s.Clock.Now().Before(ends); {
		found, err := s.look(ctx, run, run.Counted, countedAtOnce, countedAtOnce)
		if err != nil {
			return n, false, err
		}
		n += found.count()
		if found.end {
			return n, true, nil
		}
		looked += found.looked
		run.Counted = found.last
	}
	return n, false, nil
}

// countSome counts a part of what the operation is about; behind the last it
// begins to act, or is done.
func (r *runner) countSome(ctx context.Context) error {
	found, err := r.look(ctx, r.run, r.run.Counted, countedAtOnce, countedAtOnce)
	if err != nil {
		return err
	}
	return r.change(ctx, func(_ store.Tx, step *store.OperationStep) error {
		step.Total, step.Counted = found.count(), found.last
		switch {
		case found.end && r.run.DryRun:
			step.State, step.Settled = gateway.OperationDone, true
		case found.end:
			step.State = gateway.OperationRunning
		}
		return nil
	})
}
