package retain

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// EmptyEvery is how often accounts are looked for that are to be deleted.
	EmptyEvery = time.Minute
	// emptyFor bounds one round of deleting their rows: the next goes on.
	emptyFor = 30 * time.Second
	// emptyBatch bounds one deletion, each of which has several rows that hang on
	// it.
	emptyBatch = 1000
	// settled is how long an account is gone before its rows go: by then no node
	// remembers its sources, and nothing is in flight that would add one.
	settled = 2 * time.Minute
	// leavingAtOnce is how many accounts one round looks at.
	leavingAtOnce = 20
	// daysOfRows is how far ahead of now the days are that can have rows: clocks
	// agree to far less.
	daysOfRows = 2 * day
)

// EmptyAccounts deletes the rows of accounts whose time of grace is over, in
// small batches, as many as it can in emptyFor. What was begun in an account
// that is about to be deleted is stopped, too.
func (s *Service) EmptyAccounts(ctx context.Context) error {
	if err := s.Store.StopClosing(ctx); err != nil {
		return err
	}
	leaving, err := s.Store.LeavingAccounts(ctx, leavingAtOnce)
	if err != nil {
		return err
	}
	until := s.Clock.Now().Add(emptyFor)
	for _, a := range leaving {
		if a.GoneAt == nil {
			err = s.takeAway(ctx, a.ID)
		} else if s.Clock.Now().Sub(*a.GoneAt) >= settled {
			err = s.emptyAccount(ctx, a.ID, until)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeAway ends an account for everybody.
func (s *Service) takeAway(ctx context.Context, account gateway.AccountID) error {
	return s.Store.InTx(ctx, func(tx store.Tx) error {
		gone, err := tx.TakeAway(ctx, account)
		if err != nil || !gone {
			return err
		}
		return s.tell(ctx, tx, account, "account.delete", "its time of grace is over")
	})
}

// emptyAccount deletes what is left of an account, until a time.
func (s *Service) emptyAccount(ctx context.Context, account gateway.AccountID, until time.Time) error {
	days, err := s.Store.DaysBefore(ctx, s.Clock.Now().Add(daysOfRows))
	if err != nil {
		return err
	}
	for _, d := range days {
		if done, err := s.emptyDay(ctx, account, d, until); err != nil || !done {
			return err
		}
	}
	for table := range store.AccountTables {
		for n := int64(emptyBatch); n == emptyBatch; {
			if !s.Clock.Now().Before(until) {
				return nil
			}
			if n, err = s.Store.EmptyTable(ctx, account, table, emptyBatch); err != nil {
				return err
			}
		}
	}
	return s.closeEmptied(ctx, account)
}

// emptyDay deletes a day of the big tables, and tells whether it got to its end.
func (s *Service) emptyDay(ctx context.Context, account gateway.AccountID, d, until time.Time) (done bool, err error) {
	var last store.DayEnds
	for more := true; more; {
		if !s.Clock.Now().Before(until) {
			return false, nil
		}
		if last, more, err = s.Store.EmptyDay(ctx, account, d, last, emptyBatch); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (s *Service) closeEmptied(ctx context.Context, account gateway.AccountID) error {
	closed := false
	err := s.Store.InTx(ctx, func(tx store.Tx) (err error) {
		closed, err = tx.CloseEmptied(ctx, account)
		return err
	})
	if err == nil && closed {
		s.Log.Info("account deleted", "account", account)
	}
	return err
}
