// Package retain keeps what is to be kept, for as long as it is to be kept: it
// makes days of the big tables ahead of time and drops those whose time is
// over, forgets event keys after the de-dupe window, and keeps each source's
// requests within bounds.
package retain

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// Every is how often days are made and dropped, and keys forgotten.
	Every = time.Hour
	// TrimEvery is how often surplus requests are deleted.
	TrimEvery = time.Minute
	// daysAhead is how many days are made ahead, so that weeks without this
	// task do no harm.
	daysAhead = 30
	// DaysNeeded is how many days ahead a process must have to be ready.
	DaysNeeded = 2
	// batch bounds one deletion, so that none holds its locks for long.
	batch = 5000
	// maxBatches bounds one round; the next goes on.
	maxBatches = 200
	day        = 24 * time.Hour
)

// Options are what a Service is made of.
type Options struct {
	Store *store.Store
	Clock *clock.Clock
	Log   *slog.Logger
	// Retention is how long events and what hangs on them are kept.
	Retention time.Duration
	// DedupeWindow is how long event keys are remembered.
	DedupeWindow time.Duration
}

// Service keeps and drops.
type Service struct{ Options }

// New makes a Service.
func New(o Options) *Service { return &Service{o} }

// MakeDays makes the days that are missing, from yesterday (for ids of a clock
// that is behind) to daysAhead.
func (s *Service) MakeDays(ctx context.Context) error {
	now := s.Clock.Now()
	_, err := s.Store.MakePartitions(ctx, now.Add(-day), now.Add(daysAhead*day))
	return err
}

// HasDays returns an error when the days that are needed are not there.
func (s *Service) HasDays(ctx context.Context) error {
	ahead, err := s.Store.HasPartitions(ctx, s.Clock.Now().Add(DaysNeeded*day))
	if err == nil && !ahead {
		err = fmt.Errorf("the big tables have no partition %d days ahead", DaysNeeded)
	}
	return err
}

// DropDays drops the days that are wholly older than the retention. What is
// still open in one is closed first, and told in the audit log.
func (s *Service) DropDays(ctx context.Context) error {
	days, err := s.Store.DaysBefore(ctx, s.Clock.Now().Add(-s.Retention))
	if err != nil {
		return err
	}
	for _, d := range days {
		if err := s.expire(ctx, d); err != nil {
			return err
		}
		if err := s.Store.DropDay(ctx, d); err != nil {
			return err
		}
		s.Log.Info("day dropped: its retention is over", "day", d.Format(time.DateOnly))
	}
	return nil
}

func (s *Service) expire(ctx context.Context, d time.Time) error {
	return s.Store.InTx(ctx, func(tx store.Tx) error {
		expired, err := tx.ExpireDay(ctx, d)
		if err != nil {
			return err
		}
		for account, n := range expired {
			detail := fmt.Sprintf("%d open deliveries of %s: their retention is over", n, d.Format(time.DateOnly))
			if err := tx.Audit(ctx, account, gateway.ActorRowlock, "delivery.expire", account.String(), detail, s.Clock.NewID()); err != nil {
				return err
			}
		}
		return nil
	})
}

// PruneKeys forgets event keys that are older than the de-dupe window.
func (s *Service) PruneKeys(ctx context.Context) error {
	before := s.Clock.Now().Add(-s.DedupeWindow)
	return inBatches(func() (int64, error) { return s.Store.PruneKeys(ctx, before, batch) })
}

// TrimRequests deletes all but the newest requests of each source.
func (s *Service) TrimRequests(ctx context.Context) error {
	return inBatches(func() (int64, error) { return s.Store.TrimRequests(ctx, gateway.MaxRequestsKept, batch) })
}

// inBatches goes on until a batch is not full.
func inBatches(do func() (int64, error)) error {
	for range maxBatches {
		if n, err := do(); err != nil || n < batch {
			return err
		}
	}
	return nil
}
