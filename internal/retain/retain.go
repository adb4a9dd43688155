// Package retain keeps what is to be kept, for as long as it is to be kept: it
// makes days of the big tables ahead of time, warns of those whose time is over
// soon and drops those whose time is over, forgets event keys after the de-dupe
// window, and keeps requests and rollups within bounds.
package retain

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// Every is how often days are made, warned of and dropped, and rollups
	// pruned.
	Every = time.Hour
	// daysAhead is how many days are made ahead, so that weeks without this
	// task do no harm.
	daysAhead = 30
	// DaysNeeded is how many days ahead a process must have to be ready.
	DaysNeeded = 2
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
	// ClaimRetention is how long claims of the ledger are kept that have ended.
	ClaimRetention time.Duration
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
