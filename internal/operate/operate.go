// Package operate runs bulk operations: one press that acts on many deliveries
// or events. An operation is a row that says what is meant and how far it got.
// It is run in steps, each a transaction that acts on a batch and moves the
// row's cursor, or does neither: whoever runs it, however often, and wherever
// it was interrupted, nothing is done twice. What it opens goes out behind what
// is live, and a bounded number waits at a time, so that a stop means something.
//
// It stands beside deciding and delivering, not in either, since it acts on the
// results of both.
package operate

import (
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// batchSize bounds what one transaction opens: tens of milliseconds, during
	// which the lanes wait.
	batchSize = 500
	// lookedAt bounds what is looked at for one batch, and for one count.
	lookedAt, countedAtOnce = 2000, 10_000
	// window is how much of an operation may wait without having been tried.
	window = 1000
	// leastRoom is how much of it must be free for the next batch.
	leastRoom = window / 10
	// windowShare is how much of it one endpoint can fill, when the operation is
	// about several: a slow one does not hold up the others.
	windowShare = window / 4
	// lease is how long an operation stays with a node that does not go on.
	lease = 10 * time.Second
	// runFor is how long a job works on one operation: others want to, too.
	runFor = 20 * time.Second
)

// Options are what a Service is made of.
type Options struct {
	Store *store.Store
	Clock *clock.Clock
	// Wake has lanes drained by this node; nil leaves that to their jobs.
	Wake func([]store.LaneRef)
	// CountTime is how long Count looks before it says that there are more; 0 is
	// one second.
	CountTime time.Duration
}

// Service starts, runs and stops bulk operations.
type Service struct {
	Options

	// filters are those of endpoints, compiled.
	filters *rule.Filters
	// turns are those of people who ask how many a filter lets through.
	turns *rule.Turns
}

// New makes a Service.
func New(o Options) *Service {
	if o.Wake == nil {
		o.Wake = func([]store.LaneRef) {}
	}
	if o.CountTime == 0 {
		o.CountTime = defaultCountTime
	}
	return &Service{Options: o, filters: rule.NewFilters(), turns: rule.NewTurns()}
}
